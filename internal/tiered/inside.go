package tiered

import (
	"fmt"
	"strings"
	"time"

	"github.com/firncache/firn/internal/inside"
	"github.com/firncache/firn/internal/shared"
)

// Inside is what a page shows of the tiers beyond their figures. segments is room for the map
// of the log.
func (s *Store) Inside(segments []byte) (in inside.Inside) {
	in.Closed = s.ram.Closed()
	in.Policy = s.ram.Policy()
	in.RAMReads = s.ram.ReadTimes()
	in.Segments = segments[:0]
	in.Health = inside.Health{SSD: inside.None, Shared: inside.None}
	if s.ssd != nil {
		in.Segments, in.SSDBudget = s.ssd.tier.Segments(in.Segments), s.ssd.tier.Budget()
		in.Health.SSD, in.Health.SSDReason, in.Health.Since = s.ssd.tier.Health()
	}
	if s.shared != nil {
		n := s.shared.stats()
		in.Health.Shared, in.Health.SharedNote = sharedHealth(&n, s.shared.closing.Load())
	}
	s.keepAlive()
	return in
}

// ReadKeys is ram.Tier.ReadKeys.
func (s *Store) ReadKeys() [][]byte {
	defer s.keepAlive()
	return s.ram.ReadKeys()
}

// sharedHealth is the state of the shared tier, and what there is to say about it.
func sharedHealth(n *shared.Stats, closing bool) (inside.State, string) {
	switch {
	case closing:
		return inside.Offline, "the cache is closed"
	case n.Servers == 0 && !n.Online:
		return inside.Offline, "no server has been reached"
	}
	var notes []string
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if n.ServersUp < n.Servers {
		note("%d of %d servers are up", n.ServersUp, n.Servers)
	}
	if n.BreakersOpen > 0 {
		note("breaker open: %d did not answer, and are not asked until a heartbeat comes back", n.BreakersOpen)
	}
	up := n.Online || n.ServersUp > 0
	switch {
	case !up:
	case !n.Tracking:
		note("no feed of changes: copies live by their TTL alone")
	default:
		note("trusted copies are at most %v behind", time.Duration(n.FeedLag).Round(time.Millisecond))
	}
	if !up {
		return inside.Offline, strings.Join(notes, "; ")
	}
	return inside.Online, strings.Join(notes, "; ")
}
