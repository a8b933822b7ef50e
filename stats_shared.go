package firn

import (
	"time"

	"github.com/firncache/firn/internal/histogram"
	"github.com/firncache/firn/internal/shared"
)

// SharedStats are the figures of the shared tier, as this process sees it, and of the copies
// of its entries that RAM and SSD have; all 0 without one. Counters count since Open.
type SharedStats struct {
	Hits, Misses     uint64 // reads that it answered, and those that found nothing there
	Copies           uint64 // kept in RAM after a read, a load or a Set
	CopiesRefused    uint64 // their key was written, or invalidated, while they were on their way
	Checks           uint64 // of suspect copies
	ChecksUnchanged  uint64 // of these: the copy was the latest still, and no value was sent
	StaleServed      uint64 // suspect copies returned while the tier could not be asked
	Errors           uint64 // reads and writes that failed
	CopiesDropped    uint64 // from RAM, for a push or a write of their key
	Invalidations    uint64 // pushed by the servers: another client's writes, expiry, the servers' eviction
	Epochs           uint64 // interruptions of a feed, after each of which copies are suspect
	Reconnects       uint64
	LeasesWon        uint64 // loads that this process was the one to do
	LeaseWaits       uint64 // waits for another process's load
	LeasesExpired    uint64 // of these, those that ended without a value
	LeasesLost       uint64 // loaded values that were returned and not stored, as their lease was gone
	Conflicts        uint64 // writes that found another version than they wanted to replace
	ForeignValues    uint64 // found under the cache's keys, and not written by one: misses
	TooLarge         uint64 // values that were not sent
	Compressed       uint64 // values that were sent compressed
	Reads, Writes    uint64 // requests
	ReadBytes        uint64
	WrittenBytes     uint64
	Moved            uint64 // answers of a cluster that another server has the key
	BreakerOpened    uint64 // how often a server was given up for a while
	BreakersOpen     int64  // servers that are given up now
	Servers          int64  // that the keys are on
	ServersUp        int64  // of these, those heard of within the bound
	FeedLag          time.Duration
	Online, Tracking bool
	ReadDurations    Histogram // of requests for values that were answered
}

// addShared adds the figures of the shared tier. The local ones have counted what it
// answered as misses.
func (st *Stats) addShared(s shared.Stats, reads histogram.Histogram, dropped uint64) {
	st.Hits, st.Misses = st.Hits+s.Hits, st.Misses-min(st.Misses, s.Hits)
	st.Shared = SharedStats{
		Hits: s.Hits, Misses: s.Misses,
		Copies: s.Copies, CopiesRefused: s.CopiesRefused, CopiesDropped: dropped,
		Checks: s.Checks, ChecksUnchanged: s.Unchanged,
		StaleServed: s.StaleServed, Errors: s.Errors,
		Invalidations: s.Invalidations, Epochs: s.Epochs, Reconnects: s.Reconnects,
		LeasesWon: s.LeasesWon, LeaseWaits: s.LeaseWaits, LeasesExpired: s.LeasesExpired, LeasesLost: s.LeasesLost,
		Conflicts: s.Conflicts, ForeignValues: s.Foreign, TooLarge: s.TooLarge, Compressed: s.Compressed,
		Reads: s.Reads, Writes: s.Writes, ReadBytes: s.BytesRead, WrittenBytes: s.BytesWritten,
		Moved: s.Moved, BreakerOpened: s.BreakerOpened, BreakersOpen: s.BreakersOpen,
		Servers: s.Servers, ServersUp: s.ServersUp,
		FeedLag: time.Duration(s.FeedLag), Online: s.Online, Tracking: s.Tracking,
		ReadDurations: Histogram{reads},
	}
}

// sharedNumbers are the metrics of SharedStats.
var sharedNumbers = []numberMetric{
	{"shared_hits", "1", true, "Reads that the shared tier answered. They are among the hits.", func(s *Stats) float64 { return float64(s.Shared.Hits) }},
	{"shared_misses", "1", true, "Reads that found nothing in the shared tier.", func(s *Stats) float64 { return float64(s.Shared.Misses) }},
	{"shared_copies", "1", true, "Copies of the shared tier's entries kept in RAM, after a read, a load or a Set.", func(s *Stats) float64 { return float64(s.Shared.Copies) }},
	{"shared_copies_refused", "1", true, "Copies that were not kept because their key was written, or invalidated, while they were on their way.", func(s *Stats) float64 { return float64(s.Shared.CopiesRefused) }},
	{"shared_copies_dropped", "1", true, "Copies that left RAM for an invalidation, or for a write of their key here.", func(s *Stats) float64 { return float64(s.Shared.CopiesDropped) }},
	{"shared_checks", "1", true, "Suspect copies whose version the shared tier was asked for.", func(s *Stats) float64 { return float64(s.Shared.Checks) }},
	{"shared_checks_unchanged", "1", true, "Of these, copies that were the latest still: no value was sent.", func(s *Stats) float64 { return float64(s.Shared.ChecksUnchanged) }},
	{"shared_stale_served", "1", true, "Suspect copies that were returned because the shared tier could not be asked.", func(s *Stats) float64 { return float64(s.Shared.StaleServed) }},
	{"shared_errors", "1", true, "Reads and writes of the shared tier that failed.", func(s *Stats) float64 { return float64(s.Shared.Errors) }},
	{"shared_invalidations", "1", true, "Invalidations that the servers pushed: of keys that another client wrote, that expired there or that they evicted.", func(s *Stats) float64 { return float64(s.Shared.Invalidations) }},
	{"shared_epochs", "1", true, "Interruptions of a server's feed. After each, the copies of its entries are suspect.", func(s *Stats) float64 { return float64(s.Shared.Epochs) }},
	{"shared_reconnects", "1", true, "Connections made to a server again.", func(s *Stats) float64 { return float64(s.Shared.Reconnects) }},
	{"shared_leases_won", "1", true, "Loads that this process did for all.", func(s *Stats) float64 { return float64(s.Shared.LeasesWon) }},
	{"shared_lease_waits", "1", true, "Waits for the load of another process.", func(s *Stats) float64 { return float64(s.Shared.LeaseWaits) }},
	{"shared_leases_expired", "1", true, "Of these, waits that ended without a value.", func(s *Stats) float64 { return float64(s.Shared.LeasesExpired) }},
	{"shared_leases_lost", "1", true, "Loaded values that were returned and not stored: their key was written or removed since, or the lease ran out.", func(s *Stats) float64 { return float64(s.Shared.LeasesLost) }},
	{"shared_conflicts", "1", true, "Writes that found another version than the one they wanted to replace.", func(s *Stats) float64 { return float64(s.Shared.Conflicts) }},
	{"shared_foreign_values", "1", true, "Values found under the cache's keys that no cache has written. They were misses.", func(s *Stats) float64 { return float64(s.Shared.ForeignValues) }},
	{"shared_too_large", "1", true, "Values that were not sent for their size.", func(s *Stats) float64 { return float64(s.Shared.TooLarge) }},
	{"shared_compressed", "1", true, "Values that were sent compressed.", func(s *Stats) float64 { return float64(s.Shared.Compressed) }},
	{"shared_reads", "1", true, "Requests that read from the shared tier.", func(s *Stats) float64 { return float64(s.Shared.Reads) }},
	{"shared_writes", "1", true, "Requests that wrote to the shared tier.", func(s *Stats) float64 { return float64(s.Shared.Writes) }},
	{"shared_read_bytes", "bytes", true, "Bytes of entries read from the shared tier, as they lie there.", func(s *Stats) float64 { return float64(s.Shared.ReadBytes) }},
	{"shared_written_bytes", "bytes", true, "Bytes of entries written to the shared tier, as they lie there.", func(s *Stats) float64 { return float64(s.Shared.WrittenBytes) }},
	{"shared_moved", "1", true, "Answers of a cluster that another server has the key.", func(s *Stats) float64 { return float64(s.Shared.Moved) }},
	{"shared_breaker_opened", "1", true, "How often a server was given up for a while, because it did not answer.", func(s *Stats) float64 { return float64(s.Shared.BreakerOpened) }},
	{"shared_breakers_open", "1", false, "Servers that are given up now: they are asked by a probe alone.", func(s *Stats) float64 { return float64(s.Shared.BreakersOpen) }},
	{"shared_servers", "1", false, "Servers that the keys are on.", func(s *Stats) float64 { return float64(s.Shared.Servers) }},
	{"shared_servers_up", "1", false, "Of these, servers heard of within the bound.", func(s *Stats) float64 { return float64(s.Shared.ServersUp) }},
	{"shared_feed_lag", "ns", false, "How old the last word is of the server that was heard of the longest ago: a trusted copy is behind by no more.", func(s *Stats) float64 { return float64(s.Shared.FeedLag) }},
	{"shared_online", "bool", false, "Whether there is a shared tier, and every server of it was heard of within the bound.", func(s *Stats) float64 { return number(s.Shared.Online) }},
	{"shared_tracking", "bool", false, "Whether the servers push invalidations. Otherwise copies live by their TTL alone.", func(s *Stats) float64 { return number(s.Shared.Tracking) }},
}
