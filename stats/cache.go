package stats

import (
	"time"

	"github.com/firncache/firn/internal/enumtext"
)

// Cache is a snapshot of a cache. Counters count since Open and never fall;
// gauges have the present state. [Metrics] describes every field.
//
// Each entry that leaves RAM is counted once, by its cause. Of an open cache that nobody
// writes to, with RAM alone and without tags, Sets is the sum of Entries, Evictions,
// Expirations, Replacements, Deletes and Cleared. A loaded value counts as set, and so does
// a remembered ErrNotFound. With an SSD tier, SSD.Promotions came to RAM, too, and
// SSD.Demotions left it; with tags, RAM.TagEvictions left; with quotas, RAM.QuotaEvictions; with a shared tier,
// Shared.CopiesDropped.
type Cache struct {
	Hits, Misses             uint64 // approximate; those of fronts are FrontHits
	Sets, Deletes            uint64
	Evictions, Expirations   uint64 // to make room, or as their time was over
	Replacements, Cleared    uint64 // gone by a Set of their key, which may have expired, or by Cache.Clear
	FrontHits                uint64
	Mismatches, DecodeErrors uint64 // typed reads of a value of another kind, or one that its codec refused
	TagMisses, TagOverflows  uint64 // misses for a tag that was invalidated or has expired, or shares its place; loaded values that had too many
	Entries                  int64  // expired ones not yet taken out included

	RAM    RAM
	SSD    SSD
	Shared Shared
	Loads  Loads
}

// RAM are the figures of the RAM tier.
type RAM struct {
	Bytes, UsedBytes, ResidentBytes        int64 // the budget; of it in use; of it backed by memory
	MostBytes                              int64 // that the budget may be: Bytes, but for an adaptive one
	RecordBytes, IndexBytes, OverheadBytes int64
	SmallBytes, MainBytes                  int64 // records on probation, and those that proved themselves
	HugePages                              bool
	PrefaultedBytes                        int64
	Reinsertions, ReinsertedBytes          uint64 // about to leave, and kept
	TagEvictions                           uint64 // gone for a tag that was invalidated
	QuotaEvictions                         uint64 // gone for TypedOptions.MaxBytes; not among the Evictions
	PolicyChanges                          uint64
	// EvictionAges are those of the entries that left RAM to make room, to the SSD tier
	// too: how long they had stayed since they were stored, promoted or last moved, be it that
	// they were kept, or that room was made around them. A cache that is too small for its
	// work evicts young entries. An age is a little too high: by the time in which the
	// segment was filled where the entry lay.
	EvictionAges Histogram
}

// SSD are the figures of the SSD tier; all 0 without one.
type SSD struct {
	Hits          uint64
	Promotions    uint64
	Demotions     uint64 // left RAM and live on here
	Writes        uint64 // of these, those that had to be written
	WriteBytes    uint64
	Rejected      uint64 // by admission
	Limited       uint64 // for WriteBudget
	QuotaRejected uint64 // not written, for the share of a namespace with TypedOptions.MaxBytes
	Dropped       uint64 // the disk was behind
	IndexFull     uint64 // no memory for the index, or not yet
	TooLarge      uint64
	Invalidated   uint64 // their keys were written or deleted
	Collisions    uint64 // gone for another key with the same 40 bits of hash
	Evictions     uint64 // to make room, those for shares included
	QuotaEvicted  uint64 // of these, those for the share of their namespace
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

// Shared are the figures of the shared tier, as this process sees it, and of the copies
// of its entries that RAM and SSD have; all 0 without one. Counters count since Open.
type Shared struct {
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

// Loads are the figures of GetOrLoad, GetOrLoadMulti and Refresh.
type Loads struct {
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
func (s Cache) HitRatio() float64 {
	if s.Hits+s.FrontHits+s.Misses == 0 {
		return 0
	}
	return float64(s.Hits+s.FrontHits) / float64(s.Hits+s.FrontHits+s.Misses)
}

// Namespace has the counts of the calls of all typed caches of a namespace, since it came into use
// in this process. Where many goroutines call at once, Hits, Misses, FrontHits, Sets
// and Deletes may be a little low.
type Namespace struct {
	Hits, Misses uint64 // lookups past the hot values, those before a load or of a Compute included
	FrontHits    uint64
	Sets         uint64 // values stored by calls, not by loads
	Deletes      uint64 // keys deleted by calls, whether or not they were there
	Loads        uint64 // calls of loaders that have returned; one that loads many counts once
	LoadErrors   uint64 // of these, with an error other than ErrNotFound
	Mismatches   uint64 // values of another codec, version or type
	DecodeErrors uint64

	// With TypedOptions.MaxBytes; otherwise 0.
	Bytes, MaxBytes int64  // of its records in RAM, and the most that these may be
	QuotaEvictions  uint64 // records that left for it, other than to the SSD tier

	SSDBytes, MaxSSDBytes int64 // of its records on the SSD, and the most that these may be: its share
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

// String is the engine's name: none, pread, libaio or io_uring.
func (e ReadEngine) String() string { return enumtext.Name(e, "none", "pread", "libaio", "io_uring") }

// MarshalText is the engine's name.
func (e ReadEngine) MarshalText() ([]byte, error) { return []byte(e.String()), nil }
