package fleet

import (
	"testing"
	"time"

	"github.com/firncache/firn/internal/inside"
	"github.com/firncache/firn/internal/shared"
)

func TestSharedHealth(t *testing.T) {
	for _, c := range []struct {
		stats   shared.Stats
		closing bool
		want    inside.State
		note    string
	}{
		{shared.Stats{Servers: 1, ServersUp: 1, Online: true, Tracking: true, FeedLag: int64(1200400 * time.Microsecond)}, false,
			inside.Online, "trusted copies are at most 1.2s behind"},
		{shared.Stats{Servers: 1, ServersUp: 1, Online: true}, false,
			inside.Online, "no feed of changes: copies live by their TTL alone"},
		{shared.Stats{Servers: 3, ServersUp: 2, BreakersOpen: 1, Tracking: true, FeedLag: int64(time.Second)}, false,
			inside.Online, "2 of 3 servers are up; breaker open: 1 did not answer, and are not asked until a heartbeat comes back; trusted copies are at most 1s behind"},
		{shared.Stats{Servers: 1, Tracking: true}, false, inside.Offline, "0 of 1 servers are up"},
		{shared.Stats{}, false, inside.Offline, "no server has been reached"},
		{shared.Stats{Servers: 1, ServersUp: 1, Online: true}, true, inside.Offline, "the cache is closed"},
	} {
		if s, note := healthOf(&c.stats, c.closing); s != c.want || note != c.note {
			t.Errorf("%+v: %s, %q; want %s, %q", c.stats, s, note, c.want, c.note)
		}
	}
}
