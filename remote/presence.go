package remote

import (
	"errors"
	"strings"
	"sync/atomic"

	"github.com/redis/rueidis"
)

// presence says whether a server answers. It is away when nothing has come from it for
// Options.Timeout while an answer was waited for, and when it refuses its heartbeat; then requests
// fail at once. The next heartbeat that is answered ends that, and a new connection does.
type presence struct {
	away    atomic.Bool
	times   atomic.Uint64 // that it went away
	changed func(away bool)
}

var errAway = errors.New("it does not answer, and is not asked")

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

// isBusy reports whether a server's error says that it serves no one at present.
func isBusy(err error) bool {
	e, ok := rueidis.IsRedisErr(err)
	return ok && (e.IsLoading() || e.IsClusterDown() || strings.HasPrefix(e.Error(), "BUSY ") || strings.HasPrefix(e.Error(), "MASTERDOWN "))
}
