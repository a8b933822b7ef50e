package firn

import (
	"runtime"

	"github.com/firncache/firn/internal/ram"
)

// Stats is a snapshot of a cache. Counters count since Open and never fall;
// gauges tell what is. Metrics describes every field.
type Stats struct {
	Hits, Misses                             uint64
	Sets, Deletes                            uint64
	Evictions, Expirations                   uint64
	Reinsertions, ReinsertedBytes            uint64
	PolicyChanges                            uint64
	Mismatches, DecodeErrors                 uint64
	Entries                                  int64
	RAMBytes, RAMUsedBytes, RAMResidentBytes int64
	RecordBytes, IndexBytes, OverheadBytes   int64
	SmallBytes, MainBytes                    int64
	HugePages                                bool
	PrefaultedBytes                          int64
}

// HitRatio is the share of reads that found a value, 0 before the first.
func (s Stats) HitRatio() float64 {
	if s.Hits+s.Misses == 0 {
		return 0
	}
	return float64(s.Hits) / float64(s.Hits+s.Misses)
}

// Metric describes one field of Stats.
type Metric struct {
	Name    string // in snake case, as exporters and JSON use it
	Unit    string // "1" for a plain number, "bytes", or "bool": 0 or 1
	Counter bool   // it only grows; otherwise it is a gauge
	Help    string
	Value   func(*Stats) float64
}

// Metrics lists what Stats holds. Everything that shows statistics is made
// from this list.
var Metrics = []Metric{
	{"hits", "1", true, "Reads that found a value. Approximate: concurrent reads may be counted once.", func(s *Stats) float64 { return float64(s.Hits) }},
	{"misses", "1", true, "Reads that found none. Approximate, as hits.", func(s *Stats) float64 { return float64(s.Misses) }},
	{"sets", "1", true, "Values stored.", func(s *Stats) float64 { return float64(s.Sets) }},
	{"deletes", "1", true, "Values deleted.", func(s *Stats) float64 { return float64(s.Deletes) }},
	{"evictions", "1", true, "Values that left for want of room.", func(s *Stats) float64 { return float64(s.Evictions) }},
	{"expirations", "1", true, "Values taken out because their time was over.", func(s *Stats) float64 { return float64(s.Expirations) }},
	{"reinsertions", "1", true, "Values that were about to leave and were kept.", func(s *Stats) float64 { return float64(s.Reinsertions) }},
	{"reinserted_bytes", "bytes", true, "Record bytes copied to keep those values.", func(s *Stats) float64 { return float64(s.ReinsertedBytes) }},
	{"policy_changes", "1", true, "How often the eviction policy chose other parameters.", func(s *Stats) float64 { return float64(s.PolicyChanges) }},
	{"mismatches", "1", true, "Typed reads that found a value of another codec, version or type.", func(s *Stats) float64 { return float64(s.Mismatches) }},
	{"decode_errors", "1", true, "Typed reads whose codec did not accept the stored bytes.", func(s *Stats) float64 { return float64(s.DecodeErrors) }},
	{"entries", "1", false, "Values in the cache, expired ones not yet taken out included.", func(s *Stats) float64 { return float64(s.Entries) }},
	{"ram_bytes", "bytes", false, "The RAM budget.", func(s *Stats) float64 { return float64(s.RAMBytes) }},
	{"ram_used_bytes", "bytes", false, "What of the budget is in use: records, index, bookkeeping.", func(s *Stats) float64 { return float64(s.RAMUsedBytes) }},
	{"ram_resident_bytes", "bytes", false, "What of the budget is backed by memory, free segments included.", func(s *Stats) float64 { return float64(s.RAMResidentBytes) }},
	{"record_bytes", "bytes", false, "Live records with their headers.", func(s *Stats) float64 { return float64(s.RecordBytes) }},
	{"index_bytes", "bytes", false, "The index.", func(s *Stats) float64 { return float64(s.IndexBytes) }},
	{"overhead_bytes", "bytes", false, "Bookkeeping other than the index.", func(s *Stats) float64 { return float64(s.OverheadBytes) }},
	{"small_bytes", "bytes", false, "Records on probation: the policy's Small lane.", func(s *Stats) float64 { return float64(s.SmallBytes) }},
	{"main_bytes", "bytes", false, "Records that proved themselves: the policy's Main lane.", func(s *Stats) float64 { return float64(s.MainBytes) }},
	{"huge_pages", "bool", false, "Whether the system took the wish for huge pages.", func(s *Stats) float64 {
		if s.HugePages {
			return 1
		}
		return 0
	}},
	{"prefaulted_bytes", "bytes", false, "Memory made ready ahead of its first use.", func(s *Stats) float64 { return float64(s.PrefaultedBytes) }},
}

// Stats takes a snapshot, one shard after the other: figures that belong
// together may differ by what happens meanwhile.
func (c *Cache) Stats() Stats {
	s := c.ram.Stats()
	runtime.KeepAlive(c)
	st := statsOf(s)
	c.typed.addTo(&st)
	return st
}

func statsOf(s ram.Stats) Stats {
	return Stats{
		Hits: s.Hits, Misses: s.Misses,
		Sets: s.Sets, Deletes: s.Deletes,
		Evictions: s.Evicted, Expirations: s.Expired,
		Reinsertions: s.Reinserted, ReinsertedBytes: s.ReinsertedBytes,
		PolicyChanges: s.PolicyChanges,
		Entries:       s.Entries,
		RAMBytes:      s.Budget, RAMUsedBytes: s.Used, RAMResidentBytes: s.Resident,
		RecordBytes: s.SmallBytes + s.MainBytes, IndexBytes: s.IndexBytes, OverheadBytes: s.Overhead,
		SmallBytes: s.SmallBytes, MainBytes: s.MainBytes,
		HugePages: s.HugePages, PrefaultedBytes: s.Prefaulted,
	}
}
