// Package plan computes the contents of a cache of a given size, before there is
// one. The tiers say how they divide their budgets; what is added here was
// measured, and capacity_test.go compares all of it with real caches.
package plan

import (
	"fmt"
	"sort"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/ram"
	"github.com/firncache/firn/internal/record"
	"github.com/firncache/firn/internal/ssd"
)

// Question describes the data to be cached, and the cache. Sizes are in bytes.
type Question struct {
	Entries    int64
	Key, Value int64 // of each entry
	Expires    bool  // entries have deadlines
	RAM        int64
	SSD        int64 // 0: no SSD tier
	Segment    int64 // SSDOptions.SegmentBytes; 0: its default
	Admission  firn.Admission
	Popularity Popularity
}

// Answer is the part of the data that fits. Sizes are in bytes.
type Answer struct {
	Entries   int64     `json:"entries"`
	DataBytes int64     `json:"data_bytes"` // keys and values
	RAM       RAM       `json:"ram"`
	SSD       *SSD      `json:"ssd,omitempty"`
	Held      int64     `json:"held"` // records in at least one tier, at least
	HeldShare float64   `json:"held_share"`
	HitRatio  float64   `json:"hit_ratio"` // of both tiers
	Missing   []Missing `json:"missing"`   // empty: all fits
}

// RAM is the part in the RAM tier.
type RAM struct {
	Bytes      int64   `json:"bytes"`
	ForSSD     int64   `json:"for_ssd_bytes"` // of these, lent to the SSD tier: its index and buffers
	Capacity   int64   `json:"capacity"`      // records that would fit
	Records    int64   `json:"records"`
	RecordSize int64   `json:"record_bytes"`    // key, value, header, padding
	Beyond     float64 `json:"bytes_per_entry"` // of the budget for each record that fits, beyond key and value
	Share      float64 `json:"data_share"`
	HitRatio   float64 `json:"hit_ratio"`
}

// SSD is the part in the SSD tier.
type SSD struct {
	Bytes         int64   `json:"bytes"`
	Segments      int64   `json:"segments"`
	SegmentBytes  int64   `json:"segment_bytes"`
	Ahead         int64   `json:"segments_kept_free"`
	SnapshotBytes int64   `json:"snapshot_bytes"`
	Capacity      int64   `json:"capacity"` // records that would fit
	Records       int64   `json:"records"`  // copies of records in RAM included
	Mirror        *Mirror `json:"mirror,omitempty"`
	HeaderBytes   int64   `json:"record_header_bytes"`
	PaddingBytes  int64   `json:"record_padding_bytes"`
	ListedBytes   int64   `json:"record_list_bytes"`
	OnDisk        int64   `json:"record_bytes"`        // all of these, key and value
	Amplification float64 `json:"space_amplification"` // bytes of all files over keys and values, once full
	IndexBytes    int64   `json:"index_bytes"`
	IndexMost     int64   `json:"index_space_bytes"`
	IndexEach     float64 `json:"index_bytes_per_record"`
	BufferBytes   int64   `json:"buffer_bytes"` // of RAM, beside the index
	Share         float64 `json:"data_share"`
	HitRatio      float64 `json:"hit_ratio"` // reads that RAM missed and the SSD answered, of all reads
}

// Mirror is what SSDOptions.MirrorEvery costs once all that is in RAM has a copy. It is part of the
// SSD's index and records.
type Mirror struct {
	Copies     int64   `json:"copies"`
	IndexBytes int64   `json:"index_bytes"` // of RAM
	IndexShare float64 `json:"index_share"` // of the RAM budget
	LogBytes   int64   `json:"log_bytes"`
}

// Missing is a need that is not met.
type Missing struct {
	What  string `json:"what"`
	Need  int64  `json:"need_bytes"`
	Have  int64  `json:"have_bytes"`
	Flag  string `json:"flag"`        // the budget to raise: ram, ssd, or segment
	Least int64  `json:"least_bytes"` // to what; 0: no value is enough
}

// Compute answers. An error says that there is no such cache.
func Compute(q *Question) (Answer, error) {
	a := Answer{Entries: q.Entries, DataBytes: q.Entries * (q.Key + q.Value), Missing: []Missing{}}
	if q.SSD > 0 {
		s, missing, err := q.ssd()
		if err != nil {
			return a, err
		}
		a.SSD, a.Missing = s, append(a.Missing, missing...)
		a.RAM.ForSSD = s.BufferBytes + s.IndexBytes
	}
	if most := ram.MaxRecord(q.RAM, a.RAM.ForSSD); q.Key+q.Value > most {
		return a, fmt.Errorf("a key and a value of %d bytes: RAM takes at most %d", q.Key+q.Value, most)
	}
	q.ram(&a)
	a.mirror()
	a.Missing = append(a.Missing, q.hotMissing(&a)...)
	q.hits(&a)
	return a, nil
}

// ram fills in the RAM tier.
func (q *Question) ram(a *Answer) {
	r := &a.RAM
	r.Bytes = q.RAM
	r.RecordSize = roomInRAM(q.RAM, int64(record.Size(int(q.Key), int(q.Value), q.Expires)))
	r.Capacity = capacityRAM(q.RAM, a.RAM.ForSSD, r.RecordSize)
	r.Records = min(r.Capacity, q.Entries)
	if r.Capacity > 0 {
		r.Beyond = float64(q.RAM-r.ForSSD)/float64(r.Capacity) - float64(q.Key+q.Value)
	}
	r.Share = float64(r.Records) / float64(q.Entries)
}

// mirror fills in the mirror, if Open allows one.
func (a *Answer) mirror() {
	s := a.SSD
	if s == nil || s.Bytes/2 < a.RAM.Bytes {
		return
	}
	m := Mirror{Copies: min(a.RAM.Records, s.Records)}
	m.IndexBytes, m.LogBytes = int64(s.IndexEach*float64(m.Copies)), m.Copies*s.OnDisk
	m.IndexShare = float64(m.IndexBytes) / float64(a.RAM.Bytes)
	s.Mirror = &m
}

// ssd is the SSD tier, without its hits.
func (q *Question) ssd() (*SSD, []Missing, error) {
	g, err := ssd.Plan(q.config())
	if err != nil {
		return nil, nil, err
	}
	rec, fits := g.RecordOf(q.Key, q.Value, q.Expires)
	s := &SSD{
		Bytes: q.SSD, SegmentBytes: g.SegmentBytes, Ahead: g.Ahead,
		IndexMost:   g.IndexMost,
		HeaderBytes: rec.Header, PaddingBytes: rec.Padding, ListedBytes: rec.Listed,
		OnDisk:      rec.Header + q.Key + q.Value + rec.Padding + rec.Listed,
		BufferBytes: g.FixedMemory,
	}
	logRecords := q.logRecords(&g)
	if fits {
		s.Capacity = min(logRecords, g.IndexRecords())
	}
	s.Records = min(s.Capacity, q.Entries)
	tables := g.IndexBytes(s.Records)
	s.IndexBytes = g.IndexMemory(tables)
	if s.Records > 0 {
		s.IndexEach = float64(tables) / float64(s.Records)
		s.Amplification = float64(q.SSD-g.SnapshotBytes(s.Capacity)) / float64(s.Capacity*(q.Key+q.Value))
	}
	s.SnapshotBytes, s.Segments = g.SnapshotBytes(s.Records), g.SegmentsFor(s.Records)
	s.Share = float64(s.Records) / float64(q.Entries)
	return s, q.ssdMissing(&g, s, fits, logRecords), nil
}

func (q *Question) config() ssd.Config {
	return ssd.Config{Bytes: q.SSD, SegmentBytes: q.Segment, Memory: q.RAM, Admission: ssd.Admission(q.Admission)}
}

// logRecords is how many records the log holds when it is full: some of its
// segments are kept free, and one is half full.
func (q *Question) logRecords(g *ssd.Geometry) int64 {
	rec, ok := g.RecordOf(q.Key, q.Value, q.Expires)
	if !ok {
		return 0
	}
	each := g.PerSegment(rec.Header+q.Key+q.Value+rec.Padding, rec.Listed)
	in := func(segments int) int64 { return (int64(segments)-g.Ahead)*each - each/2 }
	return in(sort.Search(int(g.Segments), func(n int) bool { return int64(n+1) > g.SegmentsFor(in(n+1)) }))
}

// ssdMissing lists the budgets that the SSD tier lacks to hold every entry.
func (q *Question) ssdMissing(g *ssd.Geometry, s *SSD, fits bool, logRecords int64) (missing []Missing) {
	if !fits {
		return []Missing{{What: "a segment for the record", Need: s.OnDisk, Have: g.SegmentBytes, Flag: "segment", Least: q.leastSegment()}}
	}
	if logRecords < q.Entries {
		missing = append(missing, Missing{
			What: "SSD for all the data", Need: q.Entries * s.OnDisk, Have: logRecords * s.OnDisk, Flag: "ssd",
			Least: q.least(q.SSD, func(q *Question, g *ssd.Geometry) bool { return q.logRecords(g) >= q.Entries }, func(q *Question, n int64) { q.SSD = n }),
		})
	}
	if want := min(logRecords, q.Entries); g.IndexRecords() < want {
		missing = append(missing, Missing{
			What: "RAM for the index", Need: want * 64 / 7, Have: g.IndexMost, Flag: "ram",
			Least: q.least(q.RAM, func(q *Question, g *ssd.Geometry) bool {
				return g.IndexRecords() >= min(q.logRecords(g), q.Entries)
			}, func(q *Question, n int64) { q.RAM = n }),
		})
	}
	return missing
}

// leastSegment is the smallest segment that takes the record; 0 if none does.
func (q *Question) leastSegment() int64 {
	for n := int64(ssd.MinSegment); n <= min(ssd.MaxSegment, q.SSD/8, q.RAM/8); n *= 2 {
		c := q.config()
		c.SegmentBytes = n
		if g, err := ssd.Plan(c); err == nil {
			if _, ok := g.RecordOf(q.Key, q.Value, q.Expires); ok {
				return n
			}
		}
	}
	return 0
}

// least is the smallest budget above from, in steps of a 64th, with which ok
// holds; 0 if none has it.
func (q *Question) least(from int64, ok func(*Question, *ssd.Geometry) bool, set func(*Question, int64)) int64 {
	const perDoubling, doublings = 64, 20
	at := func(i int) int64 {
		n := from << (i / perDoubling)
		return n + n/perDoubling*int64(i%perDoubling)
	}
	enough := func(i int) bool {
		c := *q
		n := at(i)
		if n <= 0 || n > ssd.MaxBytes {
			return false
		}
		set(&c, n)
		g, err := ssd.Plan(c.config())
		return err == nil && ok(&c, &g)
	}
	for i := range perDoubling * doublings {
		if enough(i) {
			return at(i)
		}
	}
	return 0
}

// hotMissing is the RAM that the hot entries lack, if popularity says which
// are hot.
func (q *Question) hotMissing(a *Answer) []Missing {
	hot := q.Popularity.hotEntries(q.Entries)
	if hot <= a.RAM.Capacity {
		return nil
	}
	beyond := a.RAM.ForSSD
	n := sort.Search(1<<20, func(i int) bool {
		ram := q.RAM + q.RAM/64*int64(i)
		return capacityRAM(ram, beyond, roomInRAM(ram, a.RAM.RecordSize)) >= hot
	})
	return []Missing{{
		What: "RAM for the hot data", Need: hot * (a.RAM.RecordSize + 12), Have: q.RAM - a.RAM.ForSSD,
		Flag: "ram", Least: q.RAM + q.RAM/64*int64(n),
	}}
}

// hits fills in what reads will find, if each tier holds what is read most.
func (q *Question) hits(a *Answer) {
	a.Held = a.RAM.Records
	p := &q.Popularity
	a.RAM.HitRatio = p.mass(a.RAM.Records, q.Entries)
	if a.SSD != nil {
		// What came back from the SSD stays there as well: at worst, all that RAM
		// holds did.
		a.Held = max(a.Held, a.SSD.Records)
		a.SSD.HitRatio = p.mass(a.Held, q.Entries) - a.RAM.HitRatio
	}
	a.HeldShare = float64(a.Held) / float64(q.Entries)
	a.HitRatio = p.mass(a.Held, q.Entries)
}
