package firn

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/firncache/firn/internal/histogram"
	"github.com/firncache/firn/internal/load"
	"github.com/firncache/firn/internal/ram"
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/internal/ssd"
	"github.com/firncache/firn/internal/store"
	"github.com/firncache/firn/stats"
)

// told is the most that Stats told of the counters that could fall otherwise.
// Some are counted without synchronization: a goroutine that the system stops
// between reading and writing one undoes the counts of others since. Others are
// differences of two snapshots, one taken after the other.
type told struct{ hits, misses, frontHits, refused highest }

func (t *told) keep(s *stats.Cache) {
	s.Hits = t.hits.of(s.Hits)
	s.Misses = t.misses.of(s.Misses)
	s.FrontHits = t.frontHits.of(s.FrontHits)
	s.SSD.Rejected = t.refused.of(s.SSD.Rejected)
}

// highest is the highest number that there was.
type highest struct{ n atomic.Uint64 }

// of is the highest number, n included.
func (h *highest) of(n uint64) uint64 {
	for {
		old := h.n.Load()
		if n <= old || h.n.CompareAndSwap(old, n) {
			return max(n, old)
		}
	}
}

func statsOf(s ram.Stats) stats.Cache {
	return stats.Cache{
		Hits: s.Hits, Misses: s.Misses,
		Sets: s.Sets(), Deletes: s.Deletes,
		Evictions: s.Evicted, Expirations: s.Expired,
		Replacements: s.Replaced, Cleared: s.Cleared,
		Entries: s.Entries,
		RAM: stats.RAM{
			Bytes: s.Budget, MostBytes: s.Budget, UsedBytes: s.Used, ResidentBytes: s.Resident,
			RecordBytes: s.SmallBytes + s.MainBytes, IndexBytes: s.IndexBytes, OverheadBytes: s.Overhead,
			SmallBytes: s.SmallBytes, MainBytes: s.MainBytes,
			HugePages: s.HugePages, PrefaultedBytes: s.Prefaulted,
			Reinsertions: s.Reinserted, ReinsertedBytes: s.ReinsertedBytes,
			TagEvictions:   s.Obsolete,
			QuotaEvictions: s.OverQuota,
			EvictionAges:   stats.Histogram(s.EvictionAges),
			PolicyChanges:  s.PolicyChanges,
		},
		SSD: stats.SSD{Promotions: s.Promoted, Demotions: s.Demoted},
	}
}

// addSSD adds the figures of the SSD tier. RAM has counted its answers as
// misses.
func addSSD(st *stats.Cache, s ssd.Stats) {
	st.Hits, st.Misses = st.Hits+s.Hits, st.Misses-min(st.Misses, s.Hits)
	st.SSD.Hits = s.Hits
	st.SSD.Writes = s.Demoted
	st.SSD.WriteBytes = s.DemotedBytes
	st.SSD.Rejected = s.Rejected
	st.SSD.QuotaRejected, st.SSD.QuotaEvicted = s.OverShare, s.ShareEvicted
	st.SSD.Limited = s.Limited
	st.SSD.Dropped = s.Dropped
	st.SSD.IndexFull = s.IndexFull
	st.SSD.TooLarge = s.TooLarge
	st.SSD.Invalidated = s.Invalidated
	st.SSD.Collisions = s.Collided
	st.SSD.Evictions = s.Evicted
	st.SSD.Expirations = s.Expired
	st.SSD.Reinsertions = s.Reinserted
	st.SSD.WrittenBytes = s.WrittenBytes
	st.SSD.Reads = s.Reads.Reads
	st.SSD.ReadBytes = s.Reads.Bytes
	st.SSD.Corrupt = s.Corrupt
	st.SSD.ReadErrors = s.ReadErrors
	st.SSD.ReadTimeouts = s.Reads.Timeouts
	st.SSD.ReadsRejected = s.Reads.Refused
	st.SSD.WriteErrors = s.WriteErrors
	st.SSD.SwitchedOff = s.SwitchedOff
	st.SSD.Entries = s.Records
	st.SSD.Bytes = s.FileBytes
	st.SSD.Segments = s.Segments
	st.SSD.FreeSegments = s.FreeSegments
	st.SSD.IndexBytes = s.IndexBytes
	st.SSD.MemoryBytes = s.MemoryBytes
	st.SSD.ReadDurations = stats.Histogram(s.Reads.Latency)
	st.SSD.Online = s.Online
	st.SSD.Direct = s.Direct
	st.SSD.Kept = s.Kept
	st.SSD.ReadEngine = readEngine(s.Reads.Mode)
	st.SSD.WriteBudgetBytes = s.WriteBudget
	st.SSD.WrittenDayBytes = s.WrittenDay
	st.SSD.WriteForecastBytes = s.WriteForecast
	st.SSD.AdmittedPercent = int64(math.Ceil(100 * s.AdmittedShare))
}

// addMirror adds how far the mirror of RAM on the SSD has come.
func addMirror(st *stats.Cache, store *store.Store) {
	age, left := store.Mirrored()
	st.SSD.MirrorAge, st.SSD.Unmirrored, st.SSD.UnmirroredBytes = age, left.Records, left.Bytes
}

// addShared adds the figures of the shared tier. The local ones have counted what it
// answered as misses.
func addShared(st *stats.Cache, s shared.Stats, reads histogram.Histogram, dropped uint64) {
	st.Hits, st.Misses = st.Hits+s.Hits, st.Misses-min(st.Misses, s.Hits)
	st.Shared = stats.Shared{
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
		ReadDurations: stats.Histogram(reads),
	}
}

// addLoads adds the figures of loads.
func addLoads(st *stats.Cache, s load.Stats) {
	st.Loads.Count, st.Loads.Errors = s.Loads, s.Errors
	st.Loads.Timeouts, st.Loads.Panics = s.Timeouts, s.Panics
	st.Loads.StoreErrors = s.Unstored
	st.Loads.Refreshes, st.Loads.RefreshesDeferred = s.Refreshes, s.RefreshesDeferred
	st.Loads.NegativeHits = s.NegativeHits
	st.Loads.Paused, st.Loads.ErrorHits, st.Loads.NotModified = s.Paused, s.ErrorHits, s.NotModified
	st.Loads.StaleServed, st.Loads.StaleOnError, st.Loads.SoftTimeouts = s.StaleServed, s.StaleOnError, s.SoftTimeouts
	st.Loads.Active = s.Active
	st.Loads.Durations = stats.Histogram(s.Durations)
}

// readEngine is the engine of a name.
func readEngine(name string) stats.ReadEngine {
	for e := stats.ReadPread; e <= stats.ReadIOUring; e++ {
		if e.String() == name {
			return e
		}
	}
	return stats.NoReadEngine
}
