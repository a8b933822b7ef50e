package load

import (
	"errors"
	"sync/atomic"

	"github.com/firncache/firn/internal/histogram"
)

// Stats are the counters of a Group: the figures of stats.Loads.
type Stats struct {
	Loads, Errors, Timeouts, Panics         uint64
	Unstored                                uint64
	Refreshes, RefreshesDeferred            uint64
	NegativeHits                            uint64
	StaleServed, StaleOnError, SoftTimeouts uint64
	Paused, ErrorHits, NotModified          uint64
	Durations                               histogram.Histogram // of calls of loaders
	Active                                  int64
}

// counters are those of Stats.
type counters struct {
	durations                               histogram.Recorder
	loads, errors, timeouts, panics         atomic.Uint64
	unstored                                atomic.Uint64
	refreshes, refreshesDeferred            atomic.Uint64
	negativeHits                            atomic.Uint64
	staleServed, staleOnError, softTimeouts atomic.Uint64
	paused, errorHits, notModified          atomic.Uint64
}

// ended counts how a load with callers ended.
func (n *counters) ended(res result) {
	switch {
	case res.closed, res.cached:
	case res.panicked != nil:
		n.panics.Add(1)
	case errors.Is(res.err, ErrTimeout):
		n.timeouts.Add(1)
	case isFailure(res.err):
		n.errors.Add(1)
	}
}

// Stats takes a snapshot.
func (g *engine) Stats() Stats {
	n, active := &g.count, int64(0)
	for i := range g.shards {
		active += g.shards[i].active.Load()
	}
	return Stats{
		Loads: n.loads.Load(), Errors: n.errors.Load(), Timeouts: n.timeouts.Load(), Panics: n.panics.Load(),
		Unstored:  n.unstored.Load(),
		Refreshes: n.refreshes.Load(), RefreshesDeferred: n.refreshesDeferred.Load(),
		NegativeHits: n.negativeHits.Load(),
		StaleServed:  n.staleServed.Load(), StaleOnError: n.staleOnError.Load(), SoftTimeouts: n.softTimeouts.Load(),
		Paused: n.paused.Load(), ErrorHits: n.errorHits.Load(), NotModified: n.notModified.Load(),
		Active: active, Durations: n.durations.Snapshot(),
	}
}
