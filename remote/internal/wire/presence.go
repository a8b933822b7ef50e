package wire

import (
	"errors"
	"sync/atomic"
)

// presence says whether a server answers. It is away when nothing has come from it for
// Options.Timeout while an answer was waited for, and when it refuses its heartbeat; then requests
// fail at once. The next heartbeat that is answered ends that, and a new connection does.
type presence struct {
	away    atomic.Bool
	times   atomic.Uint64 // that it went away
	changed func(away bool)
}

// ErrAway is the error of requests that are not sent.
var ErrAway = errors.New("it does not answer, and is not asked")

// set is called with what was seen last.
func (p *presence) set(away bool) {
	if p.away.Load() == away || !p.away.CompareAndSwap(!away, away) {
		return
	}
	if away {
		p.times.Add(1)
	}
	p.changed(away)
}
