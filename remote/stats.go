package remote

import (
	"time"

	"github.com/firncache/firn/internal/shared"
)

// Stats adds the tier's own figures.
func (t *sharedTier) Stats(s *shared.Stats) {
	c := &t.count
	s.Invalidations += c.invalidations.Load()
	s.Epochs += c.epochs.Load()
	s.Reconnects += c.reconnects.Load()
	s.Conflicts += c.conflicts.Load()
	s.Foreign += c.foreign.Load()
	s.TooLarge += c.tooLarge.Load()
	s.Compressed += c.compressed.Load()
	s.BytesRead += c.bytesRead.Load()
	s.BytesWritten += c.bytesWritten.Load()
	s.Reads += c.reads.Load()
	s.Writes += c.writes.Load()
	s.LeasesWon += c.leasesWon.Load()
	s.LeaseWaits += c.leaseWaits.Load()
	s.LeasesExpired += c.leasesExpired.Load()
	s.LeasesLost += c.leasesLost.Load()
	s.Moved += c.moved.Load()
	for _, w := range t.owners() {
		w.stats(s)
	}
	s.Online = s.Servers > 0 && s.ServersUp == s.Servers
}

// stats adds what a wire knows of its server.
func (w *wire) stats(s *shared.Stats) {
	s.Servers++
	s.BreakerOpened += w.presence.times.Load()
	if w.presence.away.Load() {
		s.BreakersOpen++
	}
	c := w.state.Load().conn
	if c == nil {
		return
	}
	s.Tracking = c.server.tracking
	heard := c.heard.Load()
	if heard == 0 {
		return
	}
	lag := bootNanos() - heard
	s.FeedLag = max(s.FeedLag, lag)
	if time.Duration(lag) <= w.t.o.Staleness {
		s.ServersUp++
	}
}
