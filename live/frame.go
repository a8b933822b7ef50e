package live

import (
	"encoding/json"
	"time"
)

// head is what a frame says of all caches together.
type head struct {
	Seq  uint64    `json:"seq"`  // grows by one; a process that was restarted begins anew
	Run  string    `json:"run"`  // another one for each process, so that a page notices a restart
	Time time.Time `json:"time"` // the server's
	Host process   `json:"process"`
}

// frame is what is known after a second.
type frame struct {
	head
	Caches []cache `json:"caches"`
}

// event is a frame as a viewer gets it: of the cache that it looks at, all; of others, the headline.
type event struct {
	head
	Shown  int   `json:"shown"`  // the cache that it looks at
	Caches []any `json:"caches"` // a cache, and headlines
}

// eventOf is a frame for those who look at a cache.
func (f *frame) eventOf(shown int) event {
	e := event{head: f.head, Shown: shown, Caches: make([]any, len(f.Caches))}
	for i := range f.Caches {
		if i == shown {
			e.Caches[i] = &f.Caches[i]
			continue
		}
		line := f.Caches[i].headline
		line.Now = line.Now[:headlines]
		e.Caches[i] = line
	}
	return e
}

// process is the state of the Go program.
type process struct {
	Go         string  `json:"go"`
	HeapBytes  uint64  `json:"heap_bytes"`
	Goroutines uint64  `json:"goroutines"`
	GCCycles   uint64  `json:"gc_cycles"`
	GCPauseP50 float64 `json:"gc_pause_p50_ms"` // of the pauses in this second, 0 without
	GCPauseMax float64 `json:"gc_pause_max_ms"`
	GCCPU      float64 `json:"gc_cpu_share"`       // of the processors, 0 to 1, up to the last collection
	HotKeys    bool    `json:"hot_keys,omitempty"` // they may be asked for
	Statsviz   string  `json:"statsviz,omitempty"` // where Go's own panels are
}

// headline is what each viewer gets of each cache.
type headline struct {
	Name   string  `json:"name"`
	Closed bool    `json:"closed,omitempty"` // or collected: Stats are those of the last second before
	Now    figures `json:"now"`              // by the names of series: over the last five seconds
	Twice  string  `json:"twice,omitempty"`  // what twice the RAM would bring, in two words
	Health health  `json:"health"`
}

// cache is one cache in a frame.
type cache struct {
	headline
	Stats      json.RawMessage      `json:"stats"`           // every stats.Metric by its name; of a distribution, count, sum_ns, p50_ns, p99_ns, p999_ns
	Above      json.RawMessage      `json:"above,omitempty"` // counters of what stands above it
	Policy     policy               `json:"policy"`
	Marks      marks                `json:"marks,omitempty"`
	Namespaces map[string]namespace `json:"namespaces,omitempty"` // those with the most misses, by their names
	// Segments is the map of the log in base64, at most 1,024 cells: see inside.Inside.
	// Each cell stands for SegmentsPerCell segments, and has their mean.
	Segments        []byte          `json:"segments,omitempty"`
	SegmentsPerCell int             `json:"segments_per_cell,omitempty"`
	Curve           json.RawMessage `json:"curve,omitempty"` // a stats.Curve, anew every 5 s, absent in between
}

type policy struct {
	Settings []setting `json:"settings"`
	Current  int       `json:"current"`
	Filling  bool      `json:"filling"`
}

type setting struct {
	Name  string  `json:"name"`
	Score float64 `json:"score"` // share of the best one's, 0 to 1
}

type health struct {
	SSD        string    `json:"ssd"` // none, online, recovering, offline, stalled
	SSDReason  string    `json:"ssd_reason,omitempty"`
	Shared     string    `json:"shared"`
	SharedNote string    `json:"shared_note,omitempty"`
	Since      time.Time `json:"since,omitzero"`
}

// figures are those of a cache, in the order of series.
type figures []float64

// MarshalJSON is an object of the names of series.
func (f figures) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, v := range f {
		b = appendNumber(appendName(b, series[i].name), v, 32)
	}
	return append(b, '}'), nil
}

// fill says what a cache did in an interval, and how it is at its end.
func (out *cache) fill(i *interval) {
	to := i.to
	out.Closed = to.inside.Closed
	out.Now = make(figures, len(series))
	for k := range series {
		out.Now[k] = series[k].of(i)
	}
	out.Stats, out.Namespaces = appendStats(nil, &to.stats), i.namespaces()
	out.Segments, out.SegmentsPerCell = cells(to.inside.Segments)
	p, h := &to.inside.Policy, &to.inside.Health
	out.Policy = policy{Settings: []setting{}, Current: p.Current, Filling: p.Filling}
	for _, s := range p.Settings {
		out.Policy.Settings = append(out.Policy.Settings, setting{s.Name, finite(s.Score)})
	}
	out.Health = health{
		SSD: string(h.SSD), SSDReason: h.SSDReason, Shared: string(h.Shared), SharedNote: h.SharedNote,
		Since: h.Since,
	}
}
