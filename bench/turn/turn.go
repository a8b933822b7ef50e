// Package turn runs one cache for a fixed number of operations: the loops that
// every cache goes through, and nothing that differs between them but the call
// into the cache.
package turn

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/firncache/firn/bench/keys"
	"github.com/firncache/firn/bench/rivals"
)

// Op is a kind of operation.
type Op string

// The operations there are.
const (
	Get      Op = "get"
	Set      Op = "set"      // of a key that is there
	Mix      Op = "mix"      // 19 Gets, then a Set
	GetBatch Op = "getbatch" // Get of BatchSize keys at once, or one by one where the cache cannot
	SetBatch Op = "setbatch" // likewise
)

// BatchSize is the number of keys in one batch call.
const BatchSize = 32

// mixPeriod is the number of operations of Mix among which one is a Set.
const mixPeriod = 20

// Work describes one turn.
type Work struct {
	Op         Op
	Keys       keys.Stream // split evenly between the goroutines
	Value      []byte      // the value that Sets store
	Goroutines int
}

// Result is the outcome of a turn.
type Result struct {
	Ops     int64         // operations done; a batch call counts once for each key
	Elapsed time.Duration // from the start of the first to the end of the last goroutine
	Gets    int64         // Gets among Ops
	Hits    int64         // Gets that found a value
	Refused int64         // Sets that the cache did not take
}

// NsPerOp returns the time of one operation: elapsed time over operations, all
// goroutines together.
func (r Result) NsPerOp() float64 { return float64(r.Elapsed.Nanoseconds()) / float64(r.Ops) }

// HitRatio returns the share of Gets that hit, and false if there were none.
func (r Result) HitRatio() (float64, bool) {
	return float64(r.Hits) / float64(r.Gets), r.Gets > 0
}

// counts are the calls of one goroutine. sum keeps the reads of values from being
// optimised away.
type counts struct{ gets, hits, refused, sum int64 }

// sink takes the sums of all turns.
var sink atomic.Int64

// Run does w's operations on c. The goroutines start together.
func Run(c rivals.Cache, w Work) Result {
	loop := pick(c, w)
	parts := make([]counts, w.Goroutines)
	start := make(chan struct{})
	var ready, done sync.WaitGroup
	ready.Add(w.Goroutines)
	per := w.Keys.Len() / w.Goroutines
	for g := range w.Goroutines {
		part := w.Keys.Slice(g*per, per)
		done.Go(func() {
			ready.Done()
			<-start
			parts[g] = loop(part)
		})
	}
	ready.Wait()
	began := time.Now()
	close(start)
	done.Wait()
	r := Result{Elapsed: time.Since(began), Ops: int64(per * w.Goroutines)}
	for _, p := range parts {
		r.Gets += p.gets
		r.Hits += p.hits
		r.Refused += p.refused
		sink.Add(p.sum)
	}
	return r
}

// pick returns the loop for w's operation.
func pick(c rivals.Cache, w Work) func(keys.Stream) counts {
	batcher, batches := c.(rivals.Batcher)
	switch {
	case w.Op == GetBatch && batches:
		return func(s keys.Stream) counts { return getBatch(batcher.NewBatch(), s) }
	case w.Op == SetBatch && batches:
		return func(s keys.Stream) counts { return setBatch(batcher.NewBatch(), s, w.Value) }
	case w.Op == Get || w.Op == GetBatch:
		return func(s keys.Stream) counts { return get(c, s, len(w.Value)) }
	case w.Op == Set || w.Op == SetBatch:
		return func(s keys.Stream) counts { return set(c, s, w.Value) }
	case w.Op == Mix:
		return func(s keys.Stream) counts { return mix(c, s, w.Value) }
	}
	panic("turn: unknown operation " + string(w.Op))
}
