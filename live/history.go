package live

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"strconv"
)

// kept is how many frames the history has: 15 minutes.
const kept = 900

// hostSeries are the figures of the process over time, by the names that a frame has for them.
var hostSeries = []struct {
	name string
	of   func(*process) float64
}{
	{"heap_bytes", func(p *process) float64 { return float64(p.HeapBytes) }},
	{"goroutines", func(p *process) float64 { return float64(p.Goroutines) }},
	{"gc_cycles", func(p *process) float64 { return float64(p.GCCycles) }},
	{"gc_pause_p50_ms", func(p *process) float64 { return p.GCPauseP50 }},
	{"gc_pause_max_ms", func(p *process) float64 { return p.GCPauseMax }},
	{"gc_cpu_share", func(p *process) float64 { return p.GCCPU }},
}

// ring has the figures of the last frames. Numbers of frames follow each other, so that it
// keeps that of the last alone.
type ring struct {
	caches int
	width  int       // figures of a frame: those of the process, then those of each cache
	rows   []float32 // kept times width, from the beginning again when it is full
	times  []int64   // Unix milliseconds
	seq    uint64    // of the last frame; the first is 1
}

func (r *ring) init(caches int) {
	r.caches, r.width = caches, len(hostSeries)+caches*len(series)
	r.rows, r.times = make([]float32, kept*r.width), make([]int64, kept)
}

// add takes the figures of the next frame.
func (r *ring) add(f *frame) {
	r.seq = f.Seq
	at := int(r.seq % kept)
	r.times[at] = f.Time.UnixMilli()
	row := r.rows[at*r.width : at*r.width]
	for _, s := range hostSeries {
		row = append(row, float32(s.of(&f.Host)))
	}
	for i := range f.Caches {
		for _, v := range f.Caches[i].Now {
			row = append(row, float32(v))
		}
	}
}

// frames are the places of the frames that the ring has, oldest first.
func (r *ring) frames(yield func(seq uint64, at int) bool) {
	for seq := r.seq - min(r.seq, kept) + 1; seq <= r.seq; seq++ {
		if !yield(seq, int(seq%kept)) {
			return
		}
	}
}

// clone is a copy that does not change.
func (r *ring) clone() ring {
	copied := *r
	copied.rows, copied.times = append([]float32(nil), r.rows...), append([]int64(nil), r.times...)
	return copied
}

// historyBody is history.json, compressed, as it is after a frame.
type historyBody struct {
	seq  uint64
	gzip []byte
}

// history is history.json for those who look at a cache, compressed. It is made once for each frame that
// there is.
func (c *collector) history(shown int) []byte {
	c.historyMu.Lock()
	defer c.historyMu.Unlock()
	c.mu.Lock()
	if of := &c.historyOf[shown]; of.seq == c.frame.Seq {
		c.mu.Unlock()
		return of.gzip
	}
	r, last := c.ring.clone(), c.frame
	c.mu.Unlock()
	c.historyOf[shown] = historyBody{last.Seq, compress(r.json(last.eventOf(shown)), gzip.BestSpeed)}
	return c.historyOf[shown].gzip
}

// json is what was before, so that a fresh page is not empty. Each list has a number for each
// frame, oldest first; caches are in the order of those of the frame. The one that is shown has all series,
// the others those of their headlines:
//
//	{"run": "…", "seq": […], "time": [Unix milliseconds], "process": {"heap_bytes": […], …},
//	 "caches": [{"reads": […], …}, …], "last": event with curves}
func (r *ring) json(last event) []byte {
	b := append(appendName([]byte{'{'}, "run"), strconv.Quote(last.Run)...)
	b = append(appendName(b, "seq"), '[')
	for seq := range r.frames {
		b = append(strconv.AppendUint(b, seq, 10), ',')
	}
	b = append(appendName(closeList(b), "time"), '[')
	for _, at := range r.frames {
		b = append(strconv.AppendInt(b, r.times[at], 10), ',')
	}
	b = append(appendName(closeList(b), "process"), '{')
	for i, s := range hostSeries {
		b = r.appendColumn(b, s.name, i)
	}
	b = append(appendName(append(b, '}'), "caches"), '[')
	for i := range r.caches {
		b = append(b, '{')
		for j, s := range series {
			if j < headlines || i == last.Shown {
				b = r.appendColumn(b, s.name, len(hostSeries)+i*len(series)+j)
			}
		}
		b = append(b, '}', ',')
	}
	b = appendName(closeList(b), "last")
	text, _ := json.Marshal(last) // see publish
	return append(append(b, text...), '}')
}

func (r *ring) appendColumn(b []byte, name string, column int) []byte {
	b = append(appendName(b, name), '[')
	for _, at := range r.frames {
		b = append(appendNumber(b, float64(r.rows[at*r.width+column]), 32), ',')
	}
	return closeList(b)
}

// closeList ends a list that has a comma behind each element.
func closeList(b []byte) []byte { return append(bytes.TrimSuffix(b, []byte{','}), ']') }
