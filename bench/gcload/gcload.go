package gcload

import (
	"bytes"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/firncache/firn/bench/keys"
	"github.com/firncache/firn/bench/turn"
)

// Options describe a measurement.
type Options struct {
	Store   string // one of Names
	Entries int
	Cycles  int           // forced collections
	Time    time.Duration // of the requests
}

// Result is the cost of a store.
type Result struct {
	Refused, Missing int64                   // Sets not taken, and entries not readable after filling
	Cycles           []time.Duration         // forced collections of the filled store
	Share            float64                 // of all processors, the collector's part beside the requests, in percent
	Collections      uint64                  // beside the requests
	PauseMax         time.Duration           // the longest stop of the world beside the requests
	Requests         *hdrhistogram.Histogram // latencies, in ns
	Gets, Misses     int64                   // of the requests
}

// A request makes this much garbage and reads some entries, as one that renders
// an answer would.
const (
	requestBlocks = 16
	blockBytes    = 1 << 10
	requestReads  = 4
	liveBlocks    = 32 << 10 // of each processor: blocks that a program keeps for a while
)

// Run fills a store, forces collections, and runs requests on every processor.
func Run(o Options) (Result, error) {
	s, err := open(o.Store, o.Entries)
	if err != nil {
		return Result{}, err
	}
	var r Result
	value := bytes.Repeat([]byte{7}, ValueSize)
	var key []byte
	for i := range o.Entries {
		if o.Store == Nothing {
			break
		}
		key = keys.Append(key[:0], uint64(i))
		if !s.Set(key, value) {
			r.Refused++
		}
	}
	if w, ok := s.(interface{ Wait() }); ok {
		w.Wait()
	}
	r.Missing = missing(s, o)
	runtime.GC()
	for range o.Cycles {
		began := time.Now()
		runtime.GC()
		r.Cycles = append(r.Cycles, time.Since(began))
	}
	r.serve(s, o)
	runtime.KeepAlive(s)
	return r, nil
}

// missing counts entries that cannot be read, of a sample of 100,000.
func missing(s Store, o Options) (n int64) {
	if o.Store == Nothing {
		return 0
	}
	count := min(o.Entries, 100_000)
	var key, buf []byte
	for i := range count {
		key = keys.Append(key[:0], uint64(i)*uint64(o.Entries)/uint64(count))
		if _, ok := s.Get(buf[:0], key); !ok {
			n++
		}
	}
	return n
}

// serve runs requests, one after the other on each processor.
func (r *Result) serve(s Store, o Options) {
	workers := runtime.GOMAXPROCS(0)
	type part struct {
		times        *hdrhistogram.Histogram
		gets, misses int64
	}
	parts := make([]part, workers)
	before := ReadRuntime()
	began := time.Now()
	var done sync.WaitGroup
	for w := range workers {
		p := &parts[w]
		p.times = turn.Histogram()
		done.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(w), 1))
			live := make([][]byte, liveBlocks)
			for i := 0; i == 0 || time.Since(began) < o.Time; i++ {
				t := time.Now()
				p.misses += request(s, o, rng, live, i)
				p.gets += requestReads
				turn.Record(p.times, time.Since(t))
			}
		})
	}
	done.Wait()
	elapsed := time.Since(began)
	after := ReadRuntime()
	r.Requests = turn.Histogram()
	for _, p := range parts {
		r.Requests.Merge(p.times)
		r.Gets += p.gets
		r.Misses += p.misses
	}
	r.Share = 100 * (after.GCSeconds - before.GCSeconds) / (elapsed.Seconds() * float64(workers))
	r.Collections = after.Cycles - before.Cycles
	r.PauseMax = LongestPause(before, after)
}

func request(s Store, o Options, rng *rand.Rand, live [][]byte, i int) (misses int64) {
	for k := range requestBlocks {
		block := make([]byte, blockBytes)
		block[0] = byte(k)
		live[(i*requestBlocks+k)%len(live)] = block
	}
	var key [keys.Size]byte
	buf := make([]byte, 0, ValueSize)
	for range requestReads {
		if _, ok := s.Get(buf, keys.Append(key[:0], rng.Uint64N(uint64(o.Entries)))); !ok {
			misses++
		}
	}
	return misses
}

// Runtime are the collector's counters since the program began.
type Runtime struct {
	GCSeconds float64 // of all processors
	Cycles    uint64
	pauses    *metrics.Float64Histogram
}

// ReadRuntime reads them.
func ReadRuntime() Runtime {
	s := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/gc/cycles/total:gc-cycles"}, {Name: "/sched/pauses/total/gc:seconds"}}
	metrics.Read(s)
	p := *s[2].Value.Float64Histogram()
	p.Counts = append([]uint64(nil), p.Counts...) // Read may reuse them
	return Runtime{s[0].Value.Float64(), s[1].Value.Uint64(), &p}
}

// LongestPause is the upper bound of the longest stop of the world between two
// readings; 0: none.
func LongestPause(before, after Runtime) time.Duration { return longest(before.pauses, after.pauses) }

func longest(before, after *metrics.Float64Histogram) time.Duration {
	for i := len(after.Counts) - 1; i >= 0; i-- {
		if after.Counts[i] > before.Counts[i] {
			bound := after.Buckets[i+1]
			if math.IsInf(bound, 0) {
				bound = after.Buckets[i]
			}
			return time.Duration(bound * float64(time.Second))
		}
	}
	return 0
}
