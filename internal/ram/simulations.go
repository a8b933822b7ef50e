package ram

import (
	"math"
	"sync/atomic"

	"github.com/firncache/firn/internal/policy/whatif"
)

// simulations get the requests for some keys, and say what the cache would do at other sizes. The
// goroutine of a request passes it on when it has had its effect and no lock is held. What a
// shard does by itself is not passed on: they evict and expire for themselves.
type simulations struct {
	own      *whatif.Simulation // of this tier; nil: none
	both     *whatif.Simulation // of this tier and the lower one as one cache; nil: none
	apart    bool               // from the budget
	requests atomic.Uint32
}

// SimulatedLower is a LowerTier that has the figures which a simulation of both tiers needs.
type SimulatedLower interface {
	LowerTier

	// Room is how many bytes of records it has room for, whether it has begun to evict to
	// make it, and how many reads it has answered. It is called with no lock held.
	Room() (bytes int64, evicting bool, hits uint64)
}

// Simulation is what all simulations of a tier may take together.
type Simulation struct {
	Bytes     int64   // of memory, about; 0: there are none
	Replay    bool    // the memory is no part of the budget, and no request is lost: callers wait
	Processor float64 // share of one
}

const (
	simulationShare = 100     // simulations of a service take 1/simulationShare of the budget
	maxSimulations  = 1 << 20 // bytes, at most
	processorShare  = .01
	indexedBytes    = 11      // of the index and what belongs to it, for each record: see package plan
	syncEvery       = 1 << 10 // requests
)

// ServiceSimulation is that of a service with a budget of so many bytes: none in a small one.
func ServiceSimulation(budget int64) Simulation {
	if n := min(budget/simulationShare, maxSimulations); n >= whatif.MinBytes {
		return Simulation{Bytes: n, Processor: processorShare}
	}
	return Simulation{}
}

// ReplaySimulation is that of a replay, which has memory and time to spare, and is short.
func ReplaySimulation() Simulation {
	return Simulation{Bytes: 4 << 20, Replay: true, Processor: .1}
}

// init makes the simulations. With too few bytes for two, there is one of this tier alone.
func (s *simulations) init(cfg Simulation, lower LowerTier) {
	n, share := cfg.Bytes, cfg.Processor
	_, two := lower.(SimulatedLower)
	if two = two && n/2 >= whatif.MinBytes; two {
		n, share = n/2, share/2
	}
	if n < whatif.MinBytes {
		return
	}
	s.own, s.apart = whatif.New(int(n), share), cfg.Replay
	s.own.Waits = cfg.Replay
	if two {
		s.both = whatif.New(int(n), share)
		s.both.Waits = cfg.Replay
	}
}

// bytes is what they take of the budget.
func (s *simulations) bytes() (n int64) {
	if s.apart {
		return 0
	}
	for _, sim := range s.each() {
		if sim != nil {
			n += sim.Bytes()
		}
	}
	return n
}

// each are the simulations, nil where there is none.
func (s *simulations) each() [2]*whatif.Simulation { return [...]*whatif.Simulation{s.own, s.both} }

// mask has the bits of hash ^ hash>>32 that are 0 in all keys that a simulation wants.
func (s *simulations) mask() uint64 {
	mask := uint64(math.MaxUint64)
	for _, sim := range s.each() {
		if sim != nil {
			mask &= sim.Mask()
		}
	}
	return mask
}
