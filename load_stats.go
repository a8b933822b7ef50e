package firn

import (
	"errors"
	"sync/atomic"
)

// loadCounters are what Stats tells of loads.
type loadCounters struct {
	loads, errors, timeouts, panics      atomic.Uint64
	refreshes, refreshesPutOff           atomic.Uint64
	negativeHits                         atomic.Uint64
	staleServed, failSafes, softTimeouts atomic.Uint64
}

// ended counts how a load ended that somebody wanted.
func (n *loadCounters) ended(res result) {
	switch {
	case res.panicked != nil:
		n.panics.Add(1)
	case errors.Is(res.err, ErrLoadTimeout):
		n.timeouts.Add(1)
	case isFailure(res.err):
		n.errors.Add(1)
	}
}

func (l *loads) addTo(s *Stats) {
	n := &l.count
	s.Loads, s.LoadErrors = n.loads.Load(), n.errors.Load()
	s.LoadTimeouts, s.LoadPanics = n.timeouts.Load(), n.panics.Load()
	s.Refreshes, s.RefreshesPutOff = n.refreshes.Load(), n.refreshesPutOff.Load()
	s.NegativeHits = n.negativeHits.Load()
	s.StaleServed, s.FailSafes, s.SoftTimeouts = n.staleServed.Load(), n.failSafes.Load(), n.softTimeouts.Load()
	s.LoadsActive = l.active.Load()
}
