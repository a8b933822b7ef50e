package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/firncache/firn/bench/keys"
	"github.com/firncache/firn/bench/rivals"
	"github.com/firncache/firn/bench/samples"
	"github.com/firncache/firn/bench/turn"
)

// A player is a cache that takes turns with another.
type player struct {
	name, against string
	cache         rivals.Cache
}

// sample is the result of one of p's turns.
func (p player) sample(suite, name string, repeat int, r turn.Result) samples.Sample {
	s := samples.Sample{
		Suite: suite, Name: name, Cache: p.name, Against: p.against,
		Repeat: repeat, Ops: r.Ops, Value: r.NsPerOp(), Unit: "ns/op", Misses: r.Gets - r.Hits, Refused: r.Refused,
	}
	if hit, ok := r.HitRatio(); ok {
		s.Hit = &hit
	}
	return s
}

// runPair fills firn and the rival with the same entries and lets them take
// turns, cell by cell: firn, rival, firn, rival. The ratio of two neighbours
// does not see how the machine's speed drifts.
func runPair(j job, out *emitter) error {
	players, err := openPair(j.Rival, j.config())
	if err != nil {
		return err
	}
	value := makeValue(j.ValueSize)
	for _, p := range players {
		out.emit(load(j, p, value))
	}
	gc := newCollector()
	streams := make(map[keys.Order]keys.Stream)
	for _, c := range j.cells() {
		if streams[c.Order] == nil {
			if streams[c.Order], err = keys.New(c.Order, j.Entries, j.streamLen(), 1); err != nil {
				return err
			}
		}
		out.emit(playCell(j, c, players, gc, streams[c.Order], value)...)
	}
	for _, c := range j.latencyCells() {
		out.emit(playLatency(j, c, players, gc, streams[c.Order], value)...)
	}
	for _, p := range players {
		out.emit(kept(j, p, value))
		p.cache.Close()
	}
	return nil
}

// openPair opens firn and the rival, empty, with the same configuration.
func openPair(rival string, cfg rivals.Config) ([]player, error) {
	var players []player
	for _, name := range []string{rivals.Firn, rival} {
		r, err := rivals.Find(name)
		if err != nil {
			return nil, err
		}
		c, err := r.Open(cfg)
		if err != nil {
			return nil, fmt.Errorf("open %s: %w", name, err)
		}
		players = append(players, player{name: name, cache: c})
	}
	players[0].against, players[1].against = rival, rivals.Firn
	return players, nil
}

// playCell warms both caches up and lets them take turns. Each repeat has its
// own window of the stream, the same for both.
func playCell(j job, c cell, players []player, gc *collector, stream keys.Stream, value []byte) []samples.Sample {
	var out []samples.Sample
	ops := j.ops(c.Goroutines)
	work := turn.Work{Op: c.Op, Value: value, Goroutines: c.Goroutines, Keys: stream.Slice(stream.Len()-ops/4, ops/4)}
	for _, p := range players {
		turn.Run(p.cache, work)
		gc.settle(p)
	}
	for repeat := range j.Repeats {
		work.Keys = stream.Slice(repeat*ops, ops)
		for _, p := range players {
			r := turn.Run(p.cache, work)
			gc.settle(p)
			out = append(out, p.sample(j.Suite, j.cellName(c), repeat, r))
		}
	}
	return out
}

// percentiles are the points of a distribution that are kept, by the names that
// they have in results.
var percentiles = []struct {
	name string
	at   float64
}{{"p50", 50}, {"p90", 90}, {"p99", 99}, {"p99.9", 99.9}, {"max", 100}}

// playLatency measures the distribution of single calls in one cell.
func playLatency(j job, c cell, players []player, gc *collector, stream keys.Stream, value []byte) []samples.Sample {
	var out []samples.Sample
	ops := j.ops(c.Goroutines)
	work := turn.Work{Op: c.Op, Value: value, Goroutines: c.Goroutines}
	for repeat := range j.Repeats {
		work.Keys = stream.Slice(repeat*ops, ops)
		for _, p := range players {
			r, h := turn.Latency(p.cache, work)
			gc.settle(p)
			for _, q := range percentiles {
				s := p.sample(j.Suite, "latency/"+j.cellName(c)+"/"+q.name, repeat, r)
				s.Value, s.Unit = float64(h.ValueAtPercentile(q.at)), "ns"
				out = append(out, s)
			}
		}
	}
	return out
}

// A collector keeps the garbage collector out of the turns: it is switched off
// while they last, and run between two of them when garbage has piled up.
type collector struct {
	limit uint64 // bytes of garbage to put up with
	since uint64 // the result of allocated after the last collection
}

// newCollector switches the garbage collector off.
func newCollector() *collector {
	runtime.GC()
	debug.SetGCPercent(-1)
	limit := uint64(2 << 30)
	if free := samples.FreeMemory(); free > 0 {
		limit = min(limit, uint64(free)/4)
	}
	return &collector{limit: limit, since: allocated()}
}

// settle ends p's turn: its work in the background is done.
func (c *collector) settle(p player) {
	p.cache.Wait()
	if allocated()-c.since > c.limit {
		runtime.GC()
		c.since = allocated()
	}
}

// allocated returns the bytes that the process has allocated on the Go heap so
// far.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// load stores the job's entries, each once, from all processors at once.
func load(j job, p player, value []byte) samples.Sample {
	workers := runtime.GOMAXPROCS(0)
	refused := make([]int64, workers)
	began := time.Now()
	var done sync.WaitGroup
	for w := range workers {
		from, to := j.Entries*w/workers, j.Entries*(w+1)/workers
		done.Go(func() { refused[w] = fill(p.cache, from, to, value) })
	}
	done.Wait()
	p.cache.Wait()
	s := samples.Sample{
		Suite: j.Suite, Name: fmt.Sprintf("load/n=%d/value=%d", j.Entries, j.ValueSize), Cache: p.name, Against: p.against,
		Ops: int64(j.Entries), Value: float64(time.Since(began).Nanoseconds()) / float64(j.Entries), Unit: "ns/op",
	}
	for _, n := range refused {
		s.Refused += n
	}
	runtime.GC()
	return s
}

// fill stores the entries with numbers in [from, to) and returns how many the
// cache did not take. One that refuses because its queue is full gets time to
// work it off.
func fill(c rivals.Cache, from, to int, value []byte) (refused int64) {
	const tries = 100
	var key []byte
	for i := from; i < to; i++ {
		key = keys.Append(key[:0], uint64(i))
		try := 0
		for !c.Set(key, value) {
			if try++; try == tries {
				refused++
				break
			}
			c.Wait()
		}
	}
	return refused
}

// kept tells which share of the entries is still readable after all cells: an
// even sample of 100,000.
func kept(j job, p player, value []byte) samples.Sample {
	n := min(j.Entries, 100_000)
	buf := make([]byte, 0, len(value))
	var key []byte
	hits := 0
	for i := range n {
		key = keys.Append(key[:0], uint64(i)*uint64(j.Entries)/uint64(n))
		if _, ok := p.cache.Get(buf, key); ok {
			hits++
		}
	}
	return samples.Sample{
		Suite: j.Suite, Name: fmt.Sprintf("kept/n=%d/value=%d", j.Entries, j.ValueSize), Cache: p.name, Against: p.against,
		Ops: int64(n), Value: percent(hits, n), Unit: "%", Dropped: int64(n - hits),
	}
}

func percent(part, whole int) float64 { return 100 * float64(part) / float64(whole) }

// makeValue returns size bytes, none of them zero.
func makeValue(size int) []byte {
	v := make([]byte, size)
	for i := range v {
		v[i] = byte(1 + i%255)
	}
	return v
}
