package users

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/maypok86/otter/v2"

	"github.com/firncache/firn/bench/gcload"
	"github.com/firncache/firn/bench/samples"
	"github.com/firncache/firn/bench/turn"
)

// A client makes the calls of one goroutine.
type client interface {
	// do is one operation on the entries. The first one's mark says whether it
	// writes.
	do(entries []uint32, c *counts)
}

// counts are what operations came to.
type counts struct {
	ops     int64
	reads   int64 // entries read
	hits    int64 // of these, the ones found
	refused int64 // values that the store did not take
	wrong   int64 // values of another entry, or torn
}

func (c *counts) add(d counts) {
	c.ops += d.ops
	c.reads += d.reads
	c.hits += d.hits
	c.refused += d.refused
	c.wrong += d.wrong
}

// read counts a read of an entry.
func (c *counts) read(found, right bool) {
	c.reads++
	if found {
		c.hits++
		if !right {
			c.wrong++
		}
	}
}

// wrote counts a value that was given to the store.
func (c *counts) wrote(taken bool) {
	if !taken {
		c.refused++
	}
}

// A store is an open cache in the service of a workload.
type store interface {
	client(seed uint32) client
	wait()           // returns when all earlier writes have been applied
	counted() uint64 // the sum of all counters, where there are counters
	close()
}

// env is what the clients of a store share.
type env struct {
	w      Workload
	keys   keyTable
	heap   int64              // bytes before the store was opened
	limit  int64              // likewise, that Go's memory may grow to
	rounds int                // of a loader's work
	loads  atomic.Int64       // that loaders did
	clock  *otter.CoarseClock // that of a program that keeps deadlines
	filled bool               // the workers may be at work
}

// A Run is a workload at work on a store.
type Run struct {
	env     *env
	store   store
	workers []*worker
	empty   state                   // before the store was opened
	times   *hdrhistogram.Histogram // of the last turn
	counted uint64                  // the sum of the counters before the first turn
	ops     uint64                  // of all turns
	since   collector               // Begin
}

// collector is its work in the turns.
type collector struct {
	elapsed  time.Duration // of the turns
	seconds  float64
	cycles   uint64
	pauseMax time.Duration
}

func (c *collector) add(elapsed time.Duration, before, after gcload.Runtime) {
	c.elapsed += elapsed
	c.seconds += after.GCSeconds - before.GCSeconds
	c.cycles += after.Cycles - before.Cycles
	c.pauseMax = max(c.pauseMax, gcload.LongestPause(before, after))
}

// A worker is one goroutine's part, which goes on from turn to turn.
type worker struct {
	client   client
	sequence []uint32
	at       int
	times    *hdrhistogram.Histogram
}

// state is the memory of this process.
type state struct{ heap, resident int64 }

func memory() state {
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return state{int64(m.HeapAlloc), samples.RSS()}
}

// Start opens the store called name and fills it.
func Start(w Workload, t Table, name string) (*Run, error) {
	r := &Run{env: &env{w: w, keys: newKeys(w.Entries, w.Key), clock: otter.NewCoarseClock(10 * time.Millisecond)}, times: turn.Histogram()}
	for i := range w.PerProc * runtime.GOMAXPROCS(0) {
		s, err := w.newSequence(min(sequenceLength, 16*w.Entries*w.Batch), uint64(i))
		if err != nil {
			return nil, err
		}
		r.workers = append(r.workers, &worker{sequence: s, times: turn.Histogram()})
	}
	r.empty = memory()
	r.env.heap, r.env.limit = r.empty.heap, r.empty.resident+r.empty.heap
	var err error
	if r.store, err = open(r.env, t, name); err != nil {
		return nil, fmt.Errorf("open %s for %s: %w", name, w.Name, err)
	}
	for i, k := range r.workers {
		k.client = r.store.client(uint32(i))
	}
	if c := r.fill(); c.wrong > 0 || c.refused > 0 {
		return nil, fmt.Errorf("fill %s for %s: %d values wrong, %d refused for good", name, w.Name, c.wrong, c.refused)
	}
	r.counted = r.store.counted()
	r.env.rounds, r.env.filled = renderRounds, true
	r.Begin()
	return r, nil
}

// fill stores every entry, or reads twice as many as there are, so that the
// policy knows them, where not all fit.
func (r *Run) fill() (c counts) {
	w := r.env.w
	if !w.Fits() {
		for i := range 2 * w.Entries {
			r.workers[i%len(r.workers)].step(w.Batch, &c)
		}
		r.store.wait()
		return c
	}
	entries := make([]uint32, w.Batch)
	for n := 0; n < w.Entries; n += w.Batch {
		for i := range entries {
			entries[i] = uint32(min(n+i, w.Entries-1))
		}
		if w.act == readOrWrite {
			entries[0] |= write
		}
		r.fillOne(entries, &c)
	}
	r.store.wait()
	return c
}

// fillOne gives a store that refuses because its queue is full time to work it
// off.
func (r *Run) fillOne(entries []uint32, c *counts) {
	const tries = 100
	for range tries {
		var one counts
		if r.workers[0].client.do(entries, &one); one.refused == 0 {
			return
		}
		r.store.wait()
	}
	c.refused++
}

// step is the worker's next operation.
func (k *worker) step(batch int, c *counts) {
	if k.at+batch > len(k.sequence) {
		k.at = 0
	}
	k.client.do(k.sequence[k.at:k.at+batch], c)
	k.at += batch
	c.ops++
}

// run does operations until the time is over, of which it times one in so many.
func (k *worker) run(w *Workload, until time.Time) (c counts) {
	for {
		began := time.Now()
		k.step(w.Batch, &c)
		ended := time.Now()
		turn.Record(k.times, ended.Sub(began))
		if ended.After(until) {
			return c
		}
		for range w.TimedEvery - 1 {
			k.step(w.Batch, &c)
		}
	}
}

// A Turn is the result of one turn.
type Turn struct {
	Ops            int64
	Elapsed        time.Duration
	CPU            time.Duration // of the process, its background work included
	Reads, Hits    int64         // entries
	Refused, Wrong int64
	Times          *hdrhistogram.Histogram // of the operations that were timed, until the next turn
}

// Begin ends the turns that only warm up.
func (r *Run) Begin() { r.since = collector{} }

// Turn lets the workers work for about the given time.
func (r *Run) Turn(length time.Duration) Turn {
	parts := make([]counts, len(r.workers))
	r.times.Reset()
	endCollection()
	before := gcload.ReadRuntime()
	loads, cpu := r.env.loads.Load(), samples.OwnSeconds()
	began := time.Now()
	until := began.Add(length)
	var done sync.WaitGroup
	for i, k := range r.workers {
		k.times.Reset()
		done.Go(func() { parts[i] = k.run(&r.env.w, until) })
	}
	done.Wait()
	elapsed := time.Since(began)
	endCollection()
	t := Turn{Elapsed: elapsed, CPU: time.Duration((samples.OwnSeconds() - cpu) * float64(time.Second)), Times: r.times}
	var c counts
	for i, p := range parts {
		c.add(p)
		t.Times.Merge(r.workers[i].times)
	}
	if !r.env.w.Fits() {
		c.hits = c.reads - (r.env.loads.Load() - loads)
	}
	t.Ops, t.Reads, t.Hits, t.Refused, t.Wrong = c.ops, c.reads, c.hits, c.refused, c.wrong
	r.ops += uint64(c.ops)
	r.since.add(elapsed, before, gcload.ReadRuntime())
	return t
}

// endCollection waits for a collection that has begun, if there is one. Those of a
// turn end in it: the collector takes the time that the process then stands still for
// its own.
func endCollection() { debug.SetGCPercent(debug.SetGCPercent(100)) }

// A Cost is what a store cost the process in the turns since Begin, and what it
// has lost in all.
type Cost struct {
	GCShare        float64 // of all processors' time, in percent
	GCPerSecond    float64
	PauseMax       time.Duration
	Heap, Resident int64 // bytes more than before it was opened
	Lost           int64 // operations that the counters do not know of
}

// End measures that and closes the store. There was a turn since Begin.
func (r *Run) End() Cost {
	seconds := r.since.elapsed.Seconds()
	c := Cost{
		GCShare:     100 * r.since.seconds / (seconds * float64(runtime.GOMAXPROCS(0))),
		GCPerSecond: float64(r.since.cycles) / seconds,
		PauseMax:    r.since.pauseMax,
		Resident:    samples.RSS() - r.empty.resident,
	}
	r.store.wait()
	if r.env.w.act == count {
		c.Lost = int64(r.ops - (r.store.counted() - r.counted))
	}
	c.Heap = memory().heap - r.empty.heap
	r.store.close()
	r.env.clock.Stop()
	return c
}
