package firn

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/firncache/firn/internal/load"
	"github.com/firncache/firn/internal/ram"
	"github.com/firncache/firn/internal/ssd"
)

// Stats is a snapshot of a cache. Counters count since Open and never fall;
// gauges tell the present state. [Metrics] describes every field.
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
	Evictions, Expirations   uint64 // for want of room, or of time
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
	RecordBytes, IndexBytes, OverheadBytes int64
	SmallBytes, MainBytes                  int64 // records on probation, and those that proved themselves
	HugePages                              bool
	PrefaultedBytes                        int64
	Reinsertions, ReinsertedBytes          uint64 // about to leave, and kept
	TagEvictions                           uint64 // gone for a tag that was invalidated
	PolicyChanges                          uint64
	// EvictionAges are those of the entries that left RAM for want of room, to the SSD tier
	// too: how long they had stayed since they were stored, promoted or last moved, be it that
	// they were kept, or that room was made around them. A cache that is too small for its
	// work evicts young entries. An age is told a little too high: by the time in which the
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
	Evictions     uint64 // for want of room
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

	// Of its budget of writes; without one, figures that help to choose it.
	WriteBudgetBytes   int64
	WrittenDayBytes    int64
	WriteForecastBytes int64
	AdmittedPercent    int64
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

// Metric describes one field of Stats.
type Metric struct {
	Name    string // in snake case, as exporters and JSON use it
	Unit    string // "1" for a plain number, "bytes", "ns", or "bool": 0 or 1
	Counter bool   // it only grows; otherwise it is a gauge
	Help    string
	Value   func(*Stats) float64 // of a distribution, the sum of its durations

	// Histogram is the field if it is a distribution, nil for a number.
	Histogram func(*Stats) *Histogram
}

// Metrics lists the fields of Stats. Everything that shows statistics is made
// from this list. The slice is the caller's.
func Metrics() []Metric {
	plain := slices.Concat(numbers, sharedNumbers)
	list := make([]Metric, 0, len(plain)+len(distributions))
	for _, m := range plain {
		list = append(list, Metric{Name: m.name, Unit: m.unit, Counter: m.counter, Help: m.help, Value: m.value})
	}
	for _, m := range distributions {
		list = append(list, Metric{Name: m.name, Unit: "ns", Counter: true, Help: m.help, Histogram: m.histogram,
			Value: func(s *Stats) float64 { return m.histogram(s).h.Nanoseconds() }})
	}
	return list
}

var distributions = []struct {
	name, help string
	histogram  func(*Stats) *Histogram
}{
	{"ssd_read_duration", "How long reads of the disk took, their time in the queue included.", func(s *Stats) *Histogram { return &s.SSD.ReadDurations }},
	{"shared_read_duration", "How long the shared tier took to answer requests for values, of one key or of many, those of loads included.", func(s *Stats) *Histogram { return &s.Shared.ReadDurations }},
	{"eviction_age", "How long entries that left RAM for want of room, to the SSD tier too, had stayed since they were stored, promoted or last moved there.", func(s *Stats) *Histogram { return &s.RAM.EvictionAges }},
	{"load_duration", "How long loaders took, of one key or of many.", func(s *Stats) *Histogram { return &s.Loads.Durations }},
}

// numberMetric is a Metric of one number.
type numberMetric struct {
	name, unit string
	counter    bool
	help       string
	value      func(*Stats) float64
}

var numbers = []numberMetric{
	{"hits", "1", true, "Reads that found a value. Approximate: concurrent reads may be counted once.", func(s *Stats) float64 { return float64(s.Hits) }},
	{"misses", "1", true, "Reads that found none. Approximate, as hits.", func(s *Stats) float64 { return float64(s.Misses) }},
	{"sets", "1", true, "Values stored.", func(s *Stats) float64 { return float64(s.Sets) }},
	{"deletes", "1", true, "Values deleted.", func(s *Stats) float64 { return float64(s.Deletes) }},
	{"evictions", "1", true, "Values that left for want of room.", func(s *Stats) float64 { return float64(s.Evictions) }},
	{"expirations", "1", true, "Values taken out because their time was over.", func(s *Stats) float64 { return float64(s.Expirations) }},
	{"replacements", "1", true, "Values that gave way to a Set of their key, expired ones that had not been taken out included.", func(s *Stats) float64 { return float64(s.Replacements) }},
	{"cleared", "1", true, "Values that Cache.Clear took out of RAM. Those of a namespace that is cleared leave later, for other causes.", func(s *Stats) float64 { return float64(s.Cleared) }},
	{"reinsertions", "1", true, "Values that were about to leave and were kept.", func(s *Stats) float64 { return float64(s.RAM.Reinsertions) }},
	{"reinserted_bytes", "bytes", true, "Record bytes copied to keep those values.", func(s *Stats) float64 { return float64(s.RAM.ReinsertedBytes) }},
	{"policy_changes", "1", true, "How often the eviction policy chose other parameters.", func(s *Stats) float64 { return float64(s.RAM.PolicyChanges) }},
	{"front_hits", "1", true, "Typed reads that found a decoded value in a front. They are not among the hits. Approximate, as those.", func(s *Stats) float64 { return float64(s.FrontHits) }},
	{"mismatches", "1", true, "Typed reads that found a value of another codec, version or type.", func(s *Stats) float64 { return float64(s.Mismatches) }},
	{"decode_errors", "1", true, "Typed reads whose codec did not accept the stored bytes.", func(s *Stats) float64 { return float64(s.DecodeErrors) }},
	{"tag_misses", "1", true, "Typed reads that found a value of which a tag was invalidated, or one that shares its place. They are among the misses.", func(s *Stats) float64 { return float64(s.TagMisses) }},
	{"tag_overflows", "1", true, "Loaded values that were not kept because they had more than 16 tags.", func(s *Stats) float64 { return float64(s.TagOverflows) }},
	{"tag_evictions", "1", true, "Such values that left RAM where they would have been kept, moved or demoted. They are not among the evictions.", func(s *Stats) float64 { return float64(s.RAM.TagEvictions) }},
	{"entries", "1", false, "Values in the cache, expired ones not yet taken out included.", func(s *Stats) float64 { return float64(s.Entries) }},
	{"ram_bytes", "bytes", false, "The RAM budget.", func(s *Stats) float64 { return float64(s.RAM.Bytes) }},
	{"ram_used_bytes", "bytes", false, "What of the budget is in use: records, index, bookkeeping.", func(s *Stats) float64 { return float64(s.RAM.UsedBytes) }},
	{"ram_resident_bytes", "bytes", false, "What of the budget is backed by memory, free segments included.", func(s *Stats) float64 { return float64(s.RAM.ResidentBytes) }},
	{"record_bytes", "bytes", false, "Live records with their headers.", func(s *Stats) float64 { return float64(s.RAM.RecordBytes) }},
	{"index_bytes", "bytes", false, "The index.", func(s *Stats) float64 { return float64(s.RAM.IndexBytes) }},
	{"overhead_bytes", "bytes", false, "Bookkeeping other than the index.", func(s *Stats) float64 { return float64(s.RAM.OverheadBytes) }},
	{"small_bytes", "bytes", false, "Records on probation: the policy's Small lane.", func(s *Stats) float64 { return float64(s.RAM.SmallBytes) }},
	{"main_bytes", "bytes", false, "Records that proved themselves: the policy's Main lane.", func(s *Stats) float64 { return float64(s.RAM.MainBytes) }},
	{"huge_pages", "bool", false, "Whether the system took the wish for huge pages.", func(s *Stats) float64 { return number(s.RAM.HugePages) }},
	{"prefaulted_bytes", "bytes", false, "Memory made ready ahead of its first use.", func(s *Stats) float64 { return float64(s.RAM.PrefaultedBytes) }},
	{"ssd_hits", "1", true, "Reads that the SSD tier answered.", func(s *Stats) float64 { return float64(s.SSD.Hits) }},
	{"promotions", "1", true, "Values that came back to RAM from the SSD tier.", func(s *Stats) float64 { return float64(s.SSD.Promotions) }},
	{"demotions", "1", true, "Values that left RAM and live on in the SSD tier.", func(s *Stats) float64 { return float64(s.SSD.Demotions) }},
	{"ssd_writes", "1", true, "Of these, values that had to be written: the others were there still.", func(s *Stats) float64 { return float64(s.SSD.Writes) }},
	{"ssd_write_bytes", "bytes", true, "Keys and values of those.", func(s *Stats) float64 { return float64(s.SSD.WriteBytes) }},
	{"ssd_rejected", "1", true, "Values that admission did not let into the SSD tier.", func(s *Stats) float64 { return float64(s.SSD.Rejected) }},
	{"ssd_limited", "1", true, "Values that did not get there for WriteBudget.", func(s *Stats) float64 { return float64(s.SSD.Limited) }},
	{"ssd_dropped", "1", true, "Values that did not get there because the disk was behind.", func(s *Stats) float64 { return float64(s.SSD.Dropped) }},
	{"ssd_index_full", "1", true, "Values that did not get there because its index had no memory for them, or not yet.", func(s *Stats) float64 { return float64(s.SSD.IndexFull) }},
	{"ssd_too_large", "1", true, "Values that did not get there because they are larger than an eighth of it.", func(s *Stats) float64 { return float64(s.SSD.TooLarge) }},
	{"ssd_invalidated", "1", true, "Values that died in the SSD tier because their keys were written or deleted.", func(s *Stats) float64 { return float64(s.SSD.Invalidated) }},
	{"ssd_collisions", "1", true, "Values that left the SSD tier because another key has the same 40 bits of hash: of n keys, n²/2⁴¹ on average.", func(s *Stats) float64 { return float64(s.SSD.Collisions) }},
	{"ssd_evictions", "1", true, "Values that left the SSD tier for want of room, or with a segment that could not be read or written. What is not read for it may have expired.", func(s *Stats) float64 { return float64(s.SSD.Evictions) }},
	{"ssd_expirations", "1", true, "Values that were found to have expired when their segment was reclaimed.", func(s *Stats) float64 { return float64(s.SSD.Expirations) }},
	{"ssd_reinsertions", "1", true, "Values that were about to and were kept, having been read.", func(s *Stats) float64 { return float64(s.SSD.Reinsertions) }},
	{"ssd_written_bytes", "bytes", true, "What was written to all files of the SSD tier, headers, lists and moves included.", func(s *Stats) float64 { return float64(s.SSD.WrittenBytes) }},
	{"ssd_reads", "1", true, "Reads of the log file.", func(s *Stats) float64 { return float64(s.SSD.Reads) }},
	{"ssd_read_bytes", "bytes", true, "What they read.", func(s *Stats) float64 { return float64(s.SSD.ReadBytes) }},
	{"ssd_corrupt", "1", true, "Records and segments whose checksum was wrong.", func(s *Stats) float64 { return float64(s.SSD.Corrupt) }},
	{"ssd_read_errors", "1", true, "Reads of the disk that failed.", func(s *Stats) float64 { return float64(s.SSD.ReadErrors) }},
	{"ssd_read_timeouts", "1", true, "Reads of the disk that took longer than ReadTimeout. They were misses.", func(s *Stats) float64 { return float64(s.SSD.ReadTimeouts) }},
	{"ssd_reads_rejected", "1", true, "Reads of the disk that were not begun, too many waiting already, or the disk giving nothing back. They were misses.", func(s *Stats) float64 { return float64(s.SSD.ReadsRejected) }},
	{"ssd_write_errors", "1", true, "Segments that could not be written.", func(s *Stats) float64 { return float64(s.SSD.WriteErrors) }},
	{"ssd_switched_off", "1", true, "How often the SSD tier was switched off because its disk failed.", func(s *Stats) float64 { return float64(s.SSD.SwitchedOff) }},
	{"ssd_entries", "1", false, "Values in the SSD tier, those that are in RAM too included.", func(s *Stats) float64 { return float64(s.SSD.Entries) }},
	{"ssd_bytes", "bytes", false, "What the files of the SSD tier take.", func(s *Stats) float64 { return float64(s.SSD.Bytes) }},
	{"ssd_segments", "1", false, "Segments of the log.", func(s *Stats) float64 { return float64(s.SSD.Segments) }},
	{"ssd_free_segments", "1", false, "Of these, free ones.", func(s *Stats) float64 { return float64(s.SSD.FreeSegments) }},
	{"ssd_index_bytes", "bytes", false, "Memory of the SSD tier's index, part of ram_used_bytes.", func(s *Stats) float64 { return float64(s.SSD.IndexBytes) }},
	{"ssd_memory_bytes", "bytes", false, "All memory of the SSD tier, part of ram_used_bytes.", func(s *Stats) float64 { return float64(s.SSD.MemoryBytes) }},
	{"ssd_online", "bool", false, "Whether there is an SSD tier, and it is in use.", func(s *Stats) float64 { return number(s.SSD.Online) }},
	{"ssd_direct", "bool", false, "Whether it passes the page cache by.", func(s *Stats) float64 { return number(s.SSD.Direct) }},
	{"ssd_kept", "bool", false, "Whether the index of the SSD tier lies in memory that outlives the process. Otherwise the tier starts empty after a crash.", func(s *Stats) float64 { return number(s.SSD.Kept) }},
	{"ssd_read_engine", "1", false, "How it reads: 1 by pread, where each read under way takes a thread, 2 through libaio, 3 through io_uring; 0 without an SSD tier.", func(s *Stats) float64 { return float64(s.SSD.ReadEngine) }},
	{"ssd_write_budget_bytes", "bytes", false, "What may be written to the files of the SSD tier in a day: WriteBudget; 0: no limit.", func(s *Stats) float64 { return float64(s.SSD.WriteBudgetBytes) }},
	{"ssd_written_day_bytes", "bytes", false, "What was written to them in this hour and the 23 before, by earlier processes too.", func(s *Stats) float64 { return float64(s.SSD.WrittenDayBytes) }},
	{"ssd_write_forecast_bytes", "bytes", false, "What will have been written in a day if it goes on as in the last hour.", func(s *Stats) float64 { return float64(s.SSD.WriteForecastBytes) }},
	{"ssd_admitted_percent", "1", false, "Percent, rounded up, of the bytes that admission would let in for which WriteBudget had room in the last hour.", func(s *Stats) float64 { return float64(s.SSD.AdmittedPercent) }},
	{"loads", "1", true, "Values that a loader was asked for.", func(s *Stats) float64 { return float64(s.Loads.Count) }},
	{"load_errors", "1", true, "Values whose loader returned an error other than ErrNotFound, while somebody wanted them.", func(s *Stats) float64 { return float64(s.Loads.Errors) }},
	{"load_timeouts", "1", true, "Values whose loader took longer than HardTimeout.", func(s *Stats) float64 { return float64(s.Loads.Timeouts) }},
	{"load_panics", "1", true, "Values whose loader panicked, in the background too, where no caller notices.", func(s *Stats) float64 { return float64(s.Loads.Panics) }},
	{"load_store_errors", "1", true, "Loaded values that were returned and not stored, being too large, or of which an older one on the SSD could not be invalidated.", func(s *Stats) float64 { return float64(s.Loads.StoreErrors) }},
	{"refreshes", "1", true, "Values loaded anew by Refresh, or in the background.", func(s *Stats) float64 { return float64(s.Loads.Refreshes) }},
	{"refreshes_deferred", "1", true, "Background refreshes left to a later caller: MaxLoads were running.", func(s *Stats) float64 { return float64(s.Loads.RefreshesDeferred) }},
	{"negative_hits", "1", true, "Loads spared because ErrNotFound was remembered.", func(s *Stats) float64 { return float64(s.Loads.NegativeHits) }},
	{"stale_served", "1", true, "Expired values returned: under StaleWhileRevalidate, or in place of a load that failed or was late.", func(s *Stats) float64 { return float64(s.Loads.StaleServed) }},
	{"stale_on_error", "1", true, "Callers that got a value from the cache though its load failed.", func(s *Stats) float64 { return float64(s.Loads.StaleOnError) }},
	{"soft_timeouts", "1", true, "Callers that got a value from the cache because its load took longer than SoftTimeout.", func(s *Stats) float64 { return float64(s.Loads.SoftTimeouts) }},
	{"loads_paused", "1", true, "Loads and refreshes that did not begin, of a key with a value, because one had failed less than RetryAfter ago.", func(s *Stats) float64 { return float64(s.Loads.Paused) }},
	{"error_hits", "1", true, "Callers that got the remembered error of a load: see ErrorTTL.", func(s *Stats) float64 { return float64(s.Loads.ErrorHits) }},
	{"loads_not_modified", "1", true, "Values whose loader returned ErrNotModified, and that were kept.", func(s *Stats) float64 { return float64(s.Loads.NotModified) }},
	{"loads_active", "1", false, "Values being loaded.", func(s *Stats) float64 { return float64(s.Loads.Active) }},
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Stats takes a snapshot, one shard after the other: figures that belong
// together may differ by events between them.
func (c *Cache) Stats() Stats {
	inRAM, onSSD := c.store.Stats()
	st := statsOf(inRAM)
	st.addSSD(onSSD)
	st.addShared(c.store.SharedStats(), c.store.SharedReadDurations(), inRAM.Invalidated)
	c.typed.addTo(&st)
	st.addLoads(c.loads.Stats())
	c.told.keep(&st)
	return st
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
			Bytes: s.Budget, UsedBytes: s.Used, ResidentBytes: s.Resident,
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
