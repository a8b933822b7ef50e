package stats

import "slices"

// Metric describes one field of Cache.
type Metric struct {
	Name    string // in snake case, as exporters and JSON use it
	Unit    string // "1" for a plain number, "bytes", "ns", or "bool": 0 or 1
	Counter bool   // it only grows; otherwise it is a gauge
	Help    string
	Value   func(*Cache) float64 // of a distribution, the sum of its durations

	// Histogram is the field if it is a distribution, nil for a number.
	Histogram func(*Cache) *Histogram
}

// Metrics lists the fields of Cache. Everything that shows statistics is made
// from this list. The slice is the caller's.
func Metrics() []Metric {
	plain := slices.Concat(numbers, sharedNumbers)
	list := make([]Metric, 0, len(plain)+len(distributions))
	for _, m := range plain {
		list = append(list, Metric{Name: m.name, Unit: m.unit, Counter: m.counter, Help: m.help, Value: m.value})
	}
	for _, m := range distributions {
		list = append(list, Metric{Name: m.name, Unit: "ns", Counter: true, Help: m.help, Histogram: m.histogram,
			Value: func(s *Cache) float64 { return m.histogram(s).in().Nanoseconds() }})
	}
	return list
}

var distributions = []struct {
	name, help string
	histogram  func(*Cache) *Histogram
}{
	{"ssd_read_duration", "How long reads of the disk took, their time in the queue included.", func(s *Cache) *Histogram { return &s.SSD.ReadDurations }},
	{"shared_read_duration", "How long the shared tier took to answer requests for values, of one key or of many, those of loads included.", func(s *Cache) *Histogram { return &s.Shared.ReadDurations }},
	{"eviction_age", "How long entries that left RAM for want of room, to the SSD tier too, had stayed since they were stored, promoted or last moved there.", func(s *Cache) *Histogram { return &s.RAM.EvictionAges }},
	{"load_duration", "How long loaders took, of one key or of many.", func(s *Cache) *Histogram { return &s.Loads.Durations }},
}

// numberMetric is a Metric of one number.
type numberMetric struct {
	name, unit string
	counter    bool
	help       string
	value      func(*Cache) float64
}

var numbers = []numberMetric{
	{"hits", "1", true, "Reads that found a value. Approximate: concurrent reads may be counted once.", func(s *Cache) float64 { return float64(s.Hits) }},
	{"misses", "1", true, "Reads that found none. Approximate, as hits.", func(s *Cache) float64 { return float64(s.Misses) }},
	{"sets", "1", true, "Values stored.", func(s *Cache) float64 { return float64(s.Sets) }},
	{"deletes", "1", true, "Values deleted.", func(s *Cache) float64 { return float64(s.Deletes) }},
	{"evictions", "1", true, "Values that left for want of room.", func(s *Cache) float64 { return float64(s.Evictions) }},
	{"expirations", "1", true, "Values taken out because their time was over.", func(s *Cache) float64 { return float64(s.Expirations) }},
	{"replacements", "1", true, "Values that gave way to a Set of their key, expired ones that had not been taken out included.", func(s *Cache) float64 { return float64(s.Replacements) }},
	{"cleared", "1", true, "Values that Cache.Clear took out of RAM. Those of a namespace that is cleared leave later, for other causes.", func(s *Cache) float64 { return float64(s.Cleared) }},
	{"reinsertions", "1", true, "Values that were about to leave and were kept.", func(s *Cache) float64 { return float64(s.RAM.Reinsertions) }},
	{"reinserted_bytes", "bytes", true, "Record bytes copied to keep those values.", func(s *Cache) float64 { return float64(s.RAM.ReinsertedBytes) }},
	{"policy_changes", "1", true, "How often the eviction policy chose other parameters.", func(s *Cache) float64 { return float64(s.RAM.PolicyChanges) }},
	{"front_hits", "1", true, "Typed reads that found a decoded value in a front. They are not among the hits. Approximate, as those.", func(s *Cache) float64 { return float64(s.FrontHits) }},
	{"mismatches", "1", true, "Typed reads that found a value of another codec, version or type.", func(s *Cache) float64 { return float64(s.Mismatches) }},
	{"decode_errors", "1", true, "Typed reads whose codec did not accept the stored bytes.", func(s *Cache) float64 { return float64(s.DecodeErrors) }},
	{"tag_misses", "1", true, "Typed reads that found a value of which a tag was invalidated or has expired, or one that shares its place. They are among the misses.", func(s *Cache) float64 { return float64(s.TagMisses) }},
	{"tag_overflows", "1", true, "Loaded values that were not kept because they had more than 16 tags.", func(s *Cache) float64 { return float64(s.TagOverflows) }},
	{"tag_evictions", "1", true, "Such values that left RAM where they would have been kept, moved or demoted. They are not among the evictions.", func(s *Cache) float64 { return float64(s.RAM.TagEvictions) }},
	{"quota_evictions", "1", true, "Values that left RAM because their namespace was above its MaxBytes, other than to the SSD tier. They are not among the evictions.", func(s *Cache) float64 { return float64(s.RAM.QuotaEvictions) }},
	{"entries", "1", false, "Values in the cache, expired ones not yet taken out included.", func(s *Cache) float64 { return float64(s.Entries) }},
	{"ram_bytes", "bytes", false, "The RAM budget.", func(s *Cache) float64 { return float64(s.RAM.Bytes) }},
	{"ram_used_bytes", "bytes", false, "What of the budget is in use: records, index, bookkeeping.", func(s *Cache) float64 { return float64(s.RAM.UsedBytes) }},
	{"ram_most_bytes", "bytes", false, "The most that the RAM budget may be: ram_bytes, but for an adaptive one.", func(s *Cache) float64 { return float64(s.RAM.MostBytes) }},
	{"ram_resident_bytes", "bytes", false, "What of the budget is backed by memory, free segments included.", func(s *Cache) float64 { return float64(s.RAM.ResidentBytes) }},
	{"record_bytes", "bytes", false, "Live records with their headers.", func(s *Cache) float64 { return float64(s.RAM.RecordBytes) }},
	{"index_bytes", "bytes", false, "The index.", func(s *Cache) float64 { return float64(s.RAM.IndexBytes) }},
	{"overhead_bytes", "bytes", false, "Bookkeeping other than the index.", func(s *Cache) float64 { return float64(s.RAM.OverheadBytes) }},
	{"small_bytes", "bytes", false, "Records on probation: the policy's Small lane.", func(s *Cache) float64 { return float64(s.RAM.SmallBytes) }},
	{"main_bytes", "bytes", false, "Records that proved themselves: the policy's Main lane.", func(s *Cache) float64 { return float64(s.RAM.MainBytes) }},
	{"huge_pages", "bool", false, "Whether the system took the wish for huge pages.", func(s *Cache) float64 { return number(s.RAM.HugePages) }},
	{"prefaulted_bytes", "bytes", false, "Memory made ready ahead of its first use.", func(s *Cache) float64 { return float64(s.RAM.PrefaultedBytes) }},
	{"ssd_hits", "1", true, "Reads that the SSD tier answered.", func(s *Cache) float64 { return float64(s.SSD.Hits) }},
	{"promotions", "1", true, "Values that came back to RAM from the SSD tier.", func(s *Cache) float64 { return float64(s.SSD.Promotions) }},
	{"demotions", "1", true, "Values that left RAM and live on in the SSD tier.", func(s *Cache) float64 { return float64(s.SSD.Demotions) }},
	{"ssd_writes", "1", true, "Of these, values that had to be written: the others were there still.", func(s *Cache) float64 { return float64(s.SSD.Writes) }},
	{"ssd_write_bytes", "bytes", true, "Keys and values of those.", func(s *Cache) float64 { return float64(s.SSD.WriteBytes) }},
	{"ssd_rejected", "1", true, "Values that admission did not let into the SSD tier.", func(s *Cache) float64 { return float64(s.SSD.Rejected) }},
	{"ssd_limited", "1", true, "Values that did not get there for WriteBudget.", func(s *Cache) float64 { return float64(s.SSD.Limited) }},
	{"ssd_quota_rejected", "1", true, "Values that did not get there because their namespace has its share of it: see MaxBytes.", func(s *Cache) float64 { return float64(s.SSD.QuotaRejected) }},
	{"ssd_dropped", "1", true, "Values that did not get there because the disk was behind.", func(s *Cache) float64 { return float64(s.SSD.Dropped) }},
	{"ssd_index_full", "1", true, "Values that did not get there because its index had no memory for them, or not yet.", func(s *Cache) float64 { return float64(s.SSD.IndexFull) }},
	{"ssd_too_large", "1", true, "Values that did not get there because they are larger than an eighth of it.", func(s *Cache) float64 { return float64(s.SSD.TooLarge) }},
	{"ssd_invalidated", "1", true, "Values that died in the SSD tier because their keys were written or deleted.", func(s *Cache) float64 { return float64(s.SSD.Invalidated) }},
	{"ssd_collisions", "1", true, "Values that left the SSD tier because another key has the same 40 bits of hash: of n keys, n²/2⁴¹ on average.", func(s *Cache) float64 { return float64(s.SSD.Collisions) }},
	{"ssd_evictions", "1", true, "Values that left the SSD tier for want of room, or with a segment that could not be read or written. What is not read for it may have expired.", func(s *Cache) float64 { return float64(s.SSD.Evictions) }},
	{"ssd_quota_evicted", "1", true, "Of these, values that left so that their namespace keeps to its share.", func(s *Cache) float64 { return float64(s.SSD.QuotaEvicted) }},
	{"ssd_expirations", "1", true, "Values that were found to have expired when their segment was reclaimed.", func(s *Cache) float64 { return float64(s.SSD.Expirations) }},
	{"ssd_reinsertions", "1", true, "Values that were about to and were kept, having been read.", func(s *Cache) float64 { return float64(s.SSD.Reinsertions) }},
	{"ssd_written_bytes", "bytes", true, "What was written to all files of the SSD tier, headers, lists and moves included.", func(s *Cache) float64 { return float64(s.SSD.WrittenBytes) }},
	{"ssd_reads", "1", true, "Reads of the log file.", func(s *Cache) float64 { return float64(s.SSD.Reads) }},
	{"ssd_read_bytes", "bytes", true, "What they read.", func(s *Cache) float64 { return float64(s.SSD.ReadBytes) }},
	{"ssd_corrupt", "1", true, "Records and segments whose checksum was wrong.", func(s *Cache) float64 { return float64(s.SSD.Corrupt) }},
	{"ssd_read_errors", "1", true, "Reads of the disk that failed.", func(s *Cache) float64 { return float64(s.SSD.ReadErrors) }},
	{"ssd_read_timeouts", "1", true, "Reads of the disk that took longer than ReadTimeout. They were misses.", func(s *Cache) float64 { return float64(s.SSD.ReadTimeouts) }},
	{"ssd_reads_rejected", "1", true, "Reads of the disk that were not begun, too many waiting already, or the disk giving nothing back. They were misses.", func(s *Cache) float64 { return float64(s.SSD.ReadsRejected) }},
	{"ssd_write_errors", "1", true, "Segments that could not be written.", func(s *Cache) float64 { return float64(s.SSD.WriteErrors) }},
	{"ssd_switched_off", "1", true, "How often the SSD tier was switched off because its disk failed.", func(s *Cache) float64 { return float64(s.SSD.SwitchedOff) }},
	{"ssd_entries", "1", false, "Values in the SSD tier, those that are in RAM too included.", func(s *Cache) float64 { return float64(s.SSD.Entries) }},
	{"ssd_bytes", "bytes", false, "What the files of the SSD tier take.", func(s *Cache) float64 { return float64(s.SSD.Bytes) }},
	{"ssd_segments", "1", false, "Segments of the log.", func(s *Cache) float64 { return float64(s.SSD.Segments) }},
	{"ssd_free_segments", "1", false, "Of these, free ones.", func(s *Cache) float64 { return float64(s.SSD.FreeSegments) }},
	{"ssd_index_bytes", "bytes", false, "Memory of the SSD tier's index, part of ram_used_bytes.", func(s *Cache) float64 { return float64(s.SSD.IndexBytes) }},
	{"ssd_memory_bytes", "bytes", false, "All memory of the SSD tier, part of ram_used_bytes.", func(s *Cache) float64 { return float64(s.SSD.MemoryBytes) }},
	{"ssd_online", "bool", false, "Whether there is an SSD tier, and it is in use.", func(s *Cache) float64 { return number(s.SSD.Online) }},
	{"ssd_direct", "bool", false, "Whether it passes the page cache by.", func(s *Cache) float64 { return number(s.SSD.Direct) }},
	{"ssd_kept", "bool", false, "Whether the index of the SSD tier lies in memory that outlives the process. Otherwise the tier starts empty after a crash.", func(s *Cache) float64 { return number(s.SSD.Kept) }},
	{"ssd_read_engine", "1", false, "How it reads: 1 by pread, where each read under way takes a thread, 2 through libaio, 3 through io_uring; 0 without an SSD tier.", func(s *Cache) float64 { return float64(s.SSD.ReadEngine) }},
	{"ssd_write_budget_bytes", "bytes", false, "What may be written to the files of the SSD tier in a day: WriteBudget; 0: no limit.", func(s *Cache) float64 { return float64(s.SSD.WriteBudgetBytes) }},
	{"ssd_written_day_bytes", "bytes", false, "What was written to them in this hour and the 23 before, by earlier processes too.", func(s *Cache) float64 { return float64(s.SSD.WrittenDayBytes) }},
	{"ssd_write_forecast_bytes", "bytes", false, "What will have been written in a day if it goes on as in the last hour.", func(s *Cache) float64 { return float64(s.SSD.WriteForecastBytes) }},
	{"ssd_mirror_age", "ns", false, "What was last written longer ago than this survives a kill, if it was admitted: see SSDOptions.MirrorEvery; 0 without.", func(s *Cache) float64 { return float64(s.SSD.MirrorAge) }},
	{"ssd_unmirrored", "1", false, "Entries that were in RAM alone when the last pass of the mirror ended.", func(s *Cache) float64 { return float64(s.SSD.Unmirrored) }},
	{"ssd_unmirrored_bytes", "bytes", false, "Bytes of the keys and values of these.", func(s *Cache) float64 { return float64(s.SSD.UnmirroredBytes) }},
	{"ssd_admitted_percent", "1", false, "Percent, rounded up, of the bytes that admission would let in for which WriteBudget had room in the last hour.", func(s *Cache) float64 { return float64(s.SSD.AdmittedPercent) }},
	{"loads", "1", true, "Values that a loader was asked for.", func(s *Cache) float64 { return float64(s.Loads.Count) }},
	{"load_errors", "1", true, "Values whose loader returned an error other than ErrNotFound, while somebody wanted them.", func(s *Cache) float64 { return float64(s.Loads.Errors) }},
	{"load_timeouts", "1", true, "Values whose loader took longer than HardTimeout.", func(s *Cache) float64 { return float64(s.Loads.Timeouts) }},
	{"load_panics", "1", true, "Values whose loader panicked, in the background too, where no caller notices.", func(s *Cache) float64 { return float64(s.Loads.Panics) }},
	{"load_store_errors", "1", true, "Loaded values that were returned and not stored, being too large, or of which an older one on the SSD could not be invalidated.", func(s *Cache) float64 { return float64(s.Loads.StoreErrors) }},
	{"refreshes", "1", true, "Values loaded anew by Refresh, or in the background.", func(s *Cache) float64 { return float64(s.Loads.Refreshes) }},
	{"refreshes_deferred", "1", true, "Background refreshes left to a later caller: MaxLoads were running.", func(s *Cache) float64 { return float64(s.Loads.RefreshesDeferred) }},
	{"negative_hits", "1", true, "Loads spared because ErrNotFound was remembered.", func(s *Cache) float64 { return float64(s.Loads.NegativeHits) }},
	{"stale_served", "1", true, "Expired values returned: under StaleWhileRevalidate, or in place of a load that failed or was late.", func(s *Cache) float64 { return float64(s.Loads.StaleServed) }},
	{"stale_on_error", "1", true, "Callers that got a value from the cache though its load failed.", func(s *Cache) float64 { return float64(s.Loads.StaleOnError) }},
	{"soft_timeouts", "1", true, "Callers that got a value from the cache because its load took longer than SoftTimeout.", func(s *Cache) float64 { return float64(s.Loads.SoftTimeouts) }},
	{"loads_paused", "1", true, "Loads and refreshes that did not begin, of a key with a value, because one had failed less than RetryAfter ago.", func(s *Cache) float64 { return float64(s.Loads.Paused) }},
	{"error_hits", "1", true, "Callers that got the remembered error of a load: see ErrorTTL.", func(s *Cache) float64 { return float64(s.Loads.ErrorHits) }},
	{"loads_not_modified", "1", true, "Values whose loader returned ErrNotModified, and that were kept.", func(s *Cache) float64 { return float64(s.Loads.NotModified) }},
	{"loads_active", "1", false, "Values being loaded.", func(s *Cache) float64 { return float64(s.Loads.Active) }},
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// sharedNumbers are the metrics of Shared.
var sharedNumbers = []numberMetric{
	{"shared_hits", "1", true, "Reads that the shared tier answered. They are among the hits.", func(s *Cache) float64 { return float64(s.Shared.Hits) }},
	{"shared_misses", "1", true, "Reads that found nothing in the shared tier.", func(s *Cache) float64 { return float64(s.Shared.Misses) }},
	{"shared_copies", "1", true, "Copies of the shared tier's entries kept in RAM, after a read, a load or a Set.", func(s *Cache) float64 { return float64(s.Shared.Copies) }},
	{"shared_copies_refused", "1", true, "Copies that were not kept because their key was written, or invalidated, while they were on their way.", func(s *Cache) float64 { return float64(s.Shared.CopiesRefused) }},
	{"shared_copies_dropped", "1", true, "Copies that left RAM for an invalidation, or for a write of their key here.", func(s *Cache) float64 { return float64(s.Shared.CopiesDropped) }},
	{"shared_checks", "1", true, "Suspect copies whose version the shared tier was asked for.", func(s *Cache) float64 { return float64(s.Shared.Checks) }},
	{"shared_checks_unchanged", "1", true, "Of these, copies that were the latest still: no value was sent.", func(s *Cache) float64 { return float64(s.Shared.ChecksUnchanged) }},
	{"shared_stale_served", "1", true, "Suspect copies that were returned because the shared tier could not be asked.", func(s *Cache) float64 { return float64(s.Shared.StaleServed) }},
	{"shared_errors", "1", true, "Reads and writes of the shared tier that failed.", func(s *Cache) float64 { return float64(s.Shared.Errors) }},
	{"shared_invalidations", "1", true, "Invalidations that the servers pushed: of keys that another client wrote, that expired there or that they evicted.", func(s *Cache) float64 { return float64(s.Shared.Invalidations) }},
	{"shared_epochs", "1", true, "Interruptions of a server's feed. After each, the copies of its entries are suspect.", func(s *Cache) float64 { return float64(s.Shared.Epochs) }},
	{"shared_reconnects", "1", true, "Connections made to a server again.", func(s *Cache) float64 { return float64(s.Shared.Reconnects) }},
	{"shared_leases_won", "1", true, "Loads that this process did for all.", func(s *Cache) float64 { return float64(s.Shared.LeasesWon) }},
	{"shared_lease_waits", "1", true, "Waits for the load of another process.", func(s *Cache) float64 { return float64(s.Shared.LeaseWaits) }},
	{"shared_leases_expired", "1", true, "Of these, waits that ended without a value.", func(s *Cache) float64 { return float64(s.Shared.LeasesExpired) }},
	{"shared_leases_lost", "1", true, "Loaded values that were returned and not stored: their key was written or removed since, or the lease ran out.", func(s *Cache) float64 { return float64(s.Shared.LeasesLost) }},
	{"shared_conflicts", "1", true, "Writes that found another version than the one they wanted to replace.", func(s *Cache) float64 { return float64(s.Shared.Conflicts) }},
	{"shared_foreign_values", "1", true, "Values found under the cache's keys that no cache has written. They were misses.", func(s *Cache) float64 { return float64(s.Shared.ForeignValues) }},
	{"shared_too_large", "1", true, "Values that were not sent for their size.", func(s *Cache) float64 { return float64(s.Shared.TooLarge) }},
	{"shared_compressed", "1", true, "Values that were sent compressed.", func(s *Cache) float64 { return float64(s.Shared.Compressed) }},
	{"shared_reads", "1", true, "Requests that read from the shared tier.", func(s *Cache) float64 { return float64(s.Shared.Reads) }},
	{"shared_writes", "1", true, "Requests that wrote to the shared tier.", func(s *Cache) float64 { return float64(s.Shared.Writes) }},
	{"shared_read_bytes", "bytes", true, "Bytes of entries read from the shared tier, as they lie there.", func(s *Cache) float64 { return float64(s.Shared.ReadBytes) }},
	{"shared_written_bytes", "bytes", true, "Bytes of entries written to the shared tier, as they lie there.", func(s *Cache) float64 { return float64(s.Shared.WrittenBytes) }},
	{"shared_moved", "1", true, "Answers of a cluster that another server has the key.", func(s *Cache) float64 { return float64(s.Shared.Moved) }},
	{"shared_breaker_opened", "1", true, "How often a server was given up for a while, because it did not answer.", func(s *Cache) float64 { return float64(s.Shared.BreakerOpened) }},
	{"shared_breakers_open", "1", false, "Servers that are given up now: they are asked by a probe alone.", func(s *Cache) float64 { return float64(s.Shared.BreakersOpen) }},
	{"shared_servers", "1", false, "Servers that the keys are on.", func(s *Cache) float64 { return float64(s.Shared.Servers) }},
	{"shared_servers_up", "1", false, "Of these, servers heard of within the bound.", func(s *Cache) float64 { return float64(s.Shared.ServersUp) }},
	{"shared_feed_lag", "ns", false, "How old the last word is of the server that was heard of the longest ago: a trusted copy is behind by no more.", func(s *Cache) float64 { return float64(s.Shared.FeedLag) }},
	{"shared_online", "bool", false, "Whether there is a shared tier, and every server of it was heard of within the bound.", func(s *Cache) float64 { return number(s.Shared.Online) }},
	{"shared_tracking", "bool", false, "Whether the servers push invalidations. Otherwise copies live by their TTL alone.", func(s *Cache) float64 { return number(s.Shared.Tracking) }},
}
