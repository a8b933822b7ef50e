package remote

import "github.com/firncache/firn/internal/shared"

// Stats adds the tier's own figures.
func (t *sharedTier) Stats(s *shared.Stats) {
	c := &t.count
	s.Invalidations += c.invalidations.Load()
	s.Epochs += c.epochs.Load()
	s.Reconnects += t.common.Reconnects()
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
	s.Moved += t.cluster.Sent()
	for _, w := range t.cluster.Owners() {
		w.Stats(s)
	}
	s.Online = s.Servers > 0 && s.ServersUp == s.Servers
}
