package firn

import (
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"sync/atomic"
	"time"

	"github.com/firncache/firn/internal/histogram"
	"github.com/firncache/firn/internal/load"
	"github.com/firncache/firn/internal/ram"
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/internal/ssd"
)

// Stats is a snapshot of a cache. Counters count since Open and never fall;
// gauges have the present state. [Metrics] describes every field.
//
// Each entry that leaves RAM is counted once, by its cause. Of an open cache that nobody
// writes to, with RAM alone and without tags, Sets is the sum of Entries, Evictions,
// Expirations, Replacements, Deletes and Cleared. A loaded value counts as set, and so does
// a remembered ErrNotFound. With an SSD tier, SSD.Promotions came to RAM, too, and
// SSD.Demotions left it; with tags, RAM.TagEvictions left; with a shared tier,
// Shared.CopiesDropped.
type Stats struct {
	Hits, Misses             uint64 // approximate; those of fronts are FrontHits
	Sets, Deletes            uint64
	Evictions, Expirations   uint64 // to make room, or as their time was over
	Replacements, Cleared    uint64 // gone by a Set of their key, or by Cache.Clear
	FrontHits                uint64
	Mismatches, DecodeErrors uint64 // typed reads of a value of another kind, or one that its codec refused
	TagMisses, TagOverflows  uint64 // misses for a tag that was invalidated, or shares its place; loaded values that had too many
	Entries                  int64  // expired ones not yet taken out included

	RAM    RAMStats
	SSD    SSDStats
	Shared SharedStats
	Loads  LoadStats
}

// RAMStats are the figures of the RAM tier.
type RAMStats struct {
	Bytes, UsedBytes, ResidentBytes        int64 // the budget; of it in use; of it backed by memory
	MostBytes                              int64 // that the budget may be: Bytes, but for an adaptive one
	RecordBytes, IndexBytes, OverheadBytes int64
	SmallBytes, MainBytes                  int64 // records on probation, and those that proved themselves
	HugePages                              bool
	PrefaultedBytes                        int64
	Reinsertions, ReinsertedBytes          uint64 // about to leave, and kept
	TagEvictions                           uint64 // gone for a tag that was invalidated
	PolicyChanges                          uint64
	// EvictionAges are those of the entries that left RAM to make room, to the SSD tier
	// too: how long they had stayed since they were stored, promoted or last moved, be it that
	// they were kept, or that room was made around them. A cache that is too small for its
	// work evicts young entries. An age is a little too high: by the time in which the
	// segment was filled where the entry lay.
	EvictionAges Histogram
}

// SSDStats are the figures of the SSD tier; all 0 without one.
type SSDStats struct {
	Hits          uint64
	Promotions    uint64
	Demotions     uint64 // left RAM and live on here
	Writes        uint64 // of these, those that had to be written
	WriteBytes    uint64
	Rejected      uint64 // by admission
	Limited       uint64 // for WriteBudget
	Dropped       uint64 // the disk was behind
	IndexFull     uint64 // no memory for the index, or not yet
	TooLarge      uint64
	Invalidated   uint64 // their keys were written or deleted
	Collisions    uint64 // gone for another key with the same 40 bits of hash
	Evictions     uint64 // to make room
	Expirations   uint64 // found to have expired when their segment was reclaimed
	Reinsertions  uint64
	WrittenBytes  uint64 // to all files
	Reads         uint64
	ReadBytes     uint64
	Corrupt       uint64
	ReadErrors    uint64
	ReadTimeouts  uint64
	ReadsRejected uint64
	WriteErrors   uint64
	SwitchedOff   uint64
	Entries       int64
	Bytes         int64
	Segments      int64
	FreeSegments  int64
	IndexBytes    int64
	MemoryBytes   int64
	Online        bool
	Direct        bool
	Kept          bool // the index outlives the process
	ReadEngine    ReadEngine
	ReadDurations Histogram

	// Of SSDOptions.MirrorEvery: what was last written longer ago than MirrorAge survives a
	// kill, if it was admitted; Unmirrored entries, of so many bytes, were in RAM alone when the
	// last pass ended.
	MirrorAge       time.Duration
	Unmirrored      int64
	UnmirroredBytes int64

	// Of its budget of writes; without one, figures that help to choose it.
	WriteBudgetBytes   int64
	WrittenDayBytes    int64
	WriteForecastBytes int64
	AdmittedPercent    int64
}

// SharedStats are the figures of the shared tier, as this process sees it, and of the copies
// of its entries that RAM and SSD have; all 0 without one. Counters count since Open.
type SharedStats struct {
	Hits, Misses     uint64 // reads that it answered, and those that found nothing there
	Copies           uint64 // kept in RAM after a read, a load or a Set
	CopiesRefused    uint64 // their key was written, or invalidated, while they were on their way
	Checks           uint64 // of suspect copies
	ChecksUnchanged  uint64 // of these: the copy was the latest still, and no value was sent
	StaleServed      uint64 // suspect copies returned while the tier did not answer
	Errors           uint64 // reads and writes that failed
	CopiesDropped    uint64 // from RAM, for a push or a write of their key
	Invalidations    uint64 // pushed by the servers: another client's writes, expiry, the servers' eviction
	Epochs           uint64 // interruptions of a feed: copies are suspect after each
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

// LoadStats are the figures of GetOrLoad, GetOrLoadMulti and Refresh.
type LoadStats struct {
	Count, Errors, Timeouts                 uint64 // in values, not in calls of loaders
	Panics, StoreErrors                     uint64
	Refreshes, RefreshesDeferred            uint64
	NegativeHits                            uint64 // loads spared by a remembered ErrNotFound
	StaleServed, StaleOnError, SoftTimeouts uint64
	Paused, ErrorHits, NotModified          uint64 // see RetryAfter, ErrorTTL, ErrNotModified
	Active                                  int64
	Durations                               Histogram
}

// HitRatio is the share of reads that found a value, 0 before the first.
func (s Stats) HitRatio() float64 {
	if s.Hits+s.FrontHits+s.Misses == 0 {
		return 0
	}
	return float64(s.Hits+s.FrontHits) / float64(s.Hits+s.FrontHits+s.Misses)
}

// told is the most that Stats told of the counters that could fall otherwise.
// Some are counted without synchronization: a goroutine that the system stops
// between reading and writing one undoes the counts of others since. Others are
// differences of two snapshots, one taken after the other.
type told struct{ hits, misses, frontHits, refused highest }

func (t *told) keep(s *Stats) {
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

func statsOf(s ram.Stats) Stats {
	return Stats{
		Hits: s.Hits, Misses: s.Misses,
		Sets: s.Sets(), Deletes: s.Deletes,
		Evictions: s.Evicted, Expirations: s.Expired,
		Replacements: s.Replaced, Cleared: s.Cleared,
		Entries: s.Entries,
		RAM: RAMStats{
			Bytes: s.Budget, MostBytes: s.Budget, UsedBytes: s.Used, ResidentBytes: s.Resident,
			RecordBytes: s.SmallBytes + s.MainBytes, IndexBytes: s.IndexBytes, OverheadBytes: s.Overhead,
			SmallBytes: s.SmallBytes, MainBytes: s.MainBytes,
			HugePages: s.HugePages, PrefaultedBytes: s.Prefaulted,
			Reinsertions: s.Reinserted, ReinsertedBytes: s.ReinsertedBytes,
			TagEvictions:  s.Obsolete,
			EvictionAges:  Histogram{s.EvictionAges},
			PolicyChanges: s.PolicyChanges,
		},
		SSD: SSDStats{Promotions: s.Promoted, Demotions: s.Demoted},
	}
}

// addSSD adds the figures of the SSD tier. RAM has counted its answers as
// misses.
func (st *Stats) addSSD(s ssd.Stats) {
	st.Hits, st.Misses = st.Hits+s.Hits, st.Misses-min(st.Misses, s.Hits)
	st.SSD.Hits = s.Hits
	st.SSD.Writes = s.Demoted
	st.SSD.WriteBytes = s.DemotedBytes
	st.SSD.Rejected = s.Rejected
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
	st.SSD.ReadDurations = Histogram{s.Reads.Latency}
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
func (st *Stats) addMirror(age time.Duration, left ram.Unmirrored) {
	st.SSD.MirrorAge, st.SSD.Unmirrored, st.SSD.UnmirroredBytes = age, left.Records, left.Bytes
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

// addLoads adds the figures of loads.
func (st *Stats) addLoads(s load.Stats) {
	st.Loads.Count, st.Loads.Errors = s.Loads, s.Errors
	st.Loads.Timeouts, st.Loads.Panics = s.Timeouts, s.Panics
	st.Loads.StoreErrors = s.Unstored
	st.Loads.Refreshes, st.Loads.RefreshesDeferred = s.Refreshes, s.RefreshesDeferred
	st.Loads.NegativeHits = s.NegativeHits
	st.Loads.Paused, st.Loads.ErrorHits, st.Loads.NotModified = s.Paused, s.ErrorHits, s.NotModified
	st.Loads.StaleServed, st.Loads.StaleOnError, st.Loads.SoftTimeouts = s.StaleServed, s.StaleOnError, s.SoftTimeouts
	st.Loads.Active = s.Active
	st.Loads.Durations = Histogram{s.Durations}
}

// ReadEngine is how the SSD tier reads.
type ReadEngine uint8

// The engines.
const (
	NoReadEngine ReadEngine = iota // there is no SSD tier
	ReadPread                      // pread, each read under way in a thread
	ReadLibaio                     // Linux's older interface for asynchronous reads, as libaio has it
	ReadIOUring
)

var readEngines = [...]string{NoReadEngine: "none", ReadPread: "pread", ReadLibaio: "libaio", ReadIOUring: "io_uring"}

// String is the engine's name: none, pread, libaio or io_uring.
func (e ReadEngine) String() string {
	if int(e) < len(readEngines) {
		return readEngines[e]
	}
	return fmt.Sprintf("ReadEngine(%d)", uint8(e))
}

// MarshalText is the engine's name.
func (e ReadEngine) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// readEngine is the engine of a name.
func readEngine(name string) ReadEngine {
	for e, n := range readEngines {
		if n == name {
			return ReadEngine(e)
		}
	}
	return NoReadEngine
}

// Histogram is a distribution of durations since Open, in buckets that are the same in
// every Histogram of a field of Stats: differences of two are right bucket by bucket. The
// zero Histogram has none.
type Histogram struct{ h histogram.Histogram }

// Count is how many durations there are.
func (h *Histogram) Count() uint64 { return h.h.Count }

// Sum is all of them together, at most the largest time.Duration; Metric.Value has no such
// limit.
func (h *Histogram) Sum() time.Duration { return h.h.Sum() }

// Mean is their mean, 0 if there are none.
func (h *Histogram) Mean() time.Duration { return h.h.Mean() }

// Quantile is a duration that the share p of all, from 0 to 1, did not exceed:
// Quantile(.5) is the median. It is at most an eighth, or the first bound of Buckets, above
// the true one; 0 if there are none; and the largest time.Duration if it is above the last.
func (h *Histogram) Quantile(p float64) time.Duration { return h.h.Quantile(p) }

// Buckets yields 29 bounds, each twice the one before, and how many durations did not exceed
// the bound: from 1 µs to 268 s; of RAMStats.EvictionAges from 10 ms to 31 days. Count tells
// those above the last as well.
func (h *Histogram) Buckets() iter.Seq2[time.Duration, uint64] { return h.h.Powers }

// Sub is the distribution of the durations that h has and earlier, a snapshot of the same
// field taken before, has not: its quantiles are those of the time in between.
func (h *Histogram) Sub(earlier *Histogram) Histogram { return Histogram{h.h.Sub(&earlier.h)} }

// Add counts a duration, for tests of what shows a Histogram. It must not be called by two
// goroutines at once.
func (h *Histogram) Add(d time.Duration) { h.h.Add(d) }

// String is the count, the mean and some quantiles.
func (h Histogram) String() string {
	return fmt.Sprintf("n=%d mean=%v p50=%v p99=%v p999=%v", h.Count(), h.Mean(), h.Quantile(.5), h.Quantile(.99), h.Quantile(.999))
}

// MarshalJSON is an object of count, and in nanoseconds of sum, p50, p99 and p999.
func (h Histogram) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Count uint64        `json:"count"`
		Sum   time.Duration `json:"sum"`
		P50   time.Duration `json:"p50"`
		P99   time.Duration `json:"p99"`
		P999  time.Duration `json:"p999"`
	}{h.Count(), h.Sum(), h.Quantile(.5), h.Quantile(.99), h.Quantile(.999)})
}
