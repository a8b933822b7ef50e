package firn

import (
	"errors"
	"log/slog"
	"sync/atomic"
)

// loadCounters are what Stats tells of loads.
type loadCounters struct {
	loads, errors, timeouts, panics      atomic.Uint64
	unstored                             atomic.Uint64
	refreshes, refreshesPutOff           atomic.Uint64
	negativeHits                         atomic.Uint64
	staleServed, failSafes, softTimeouts atomic.Uint64
}

// ended counts how a load ended that somebody wanted.
func (n *loadCounters) ended(res result) {
	switch {
	case res.closed:
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
	s.LoadStoreErrors = n.unstored.Load()
	s.Refreshes, s.RefreshesPutOff = n.refreshes.Load(), n.refreshesPutOff.Load()
	s.NegativeHits = n.negativeHits.Load()
	s.StaleServed, s.FailSafes, s.SoftTimeouts = n.staleServed.Load(), n.failSafes.Load(), n.softTimeouts.Load()
	s.LoadsActive = l.active.Load()
}

// unstoredLog tells once that loaded values are returned and not stored, for being
// too large, which no caller of GetOrLoad is told.
type unstoredLog struct {
	logger *slog.Logger // nil: slog.Default
	told   atomic.Bool
}

// tell is called with no lock held: it calls the user's handler.
func (l *unstoredLog) tell(err error) {
	if !errors.Is(err, ErrTooLarge) || l.told.Swap(true) { // otherwise there is nothing, or no room just now
		return
	}
	logger := l.logger
	if logger == nil {
		logger = slog.Default()
	}
	logger.Warn("firn: a loaded value is too large to be stored, and is loaded anew whenever it is asked for; load_store_errors counts such values, and this is logged once", "error", err)
}
