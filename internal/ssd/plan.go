package ssd

import (
	"math"
	"math/bits"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/ssd/index"
	"github.com/firncache/firn/internal/ssd/log"
)

// Geometry is how a tier divides its memory and files, for planning: the
// arithmetic of Open without its files.
type Geometry struct {
	Segments     int64 // of the log while the index is empty
	SegmentBytes int64
	Ahead        int64 // how many of the segments are kept free
	SuperBytes   int64 // of the superblock's file
	FixedMemory  int64 // bytes of memory beside the index
	IndexMost    int64 // the most bytes of memory that the index may take
	IndexShards  int64
	Places       int64 // of the registry
	log          format.Geometry
	cfg          Config
}

// Plan is the geometry of a new tier. Of cfg it reads Bytes, SegmentBytes,
// Memory and Admission.
func Plan(cfg Config) (Geometry, error) {
	s := cfg.newSuperblock()
	g := Geometry{
		Segments: int64(s.Segments), SegmentBytes: int64(s.SegmentBytes), Ahead: int64(log.FreeTargetOf(int(s.Segments))),
		SuperBytes:  2 * format.SuperblockBytes,
		FixedMemory: cfg.fixedMemory(&s), IndexMost: cfg.maxIndex(), IndexShards: 1 << s.ShardBits, Places: int64(cfg.places()),
		log: s.Geometry(), cfg: cfg,
	}
	return g, cfg.enough(&s)
}

// Record is the size of a record in the log.
type Record struct {
	Header  int64 // bytes before the key
	Padding int64 // zeros behind the value
	Listed  int64 // bytes in the list of its segment
}

// RecordOf is the size of a record with a key and a value of so many bytes. It
// reports false if a segment cannot hold it.
func (g *Geometry) RecordOf(key, value int64, expires bool) (r Record, ok bool) {
	r.Header = int64(format.HeaderLen(int(key), int(value), expires))
	bytes := g.log.Pad(int(r.Header + key + value))
	r.Padding = int64(bytes) - r.Header - key - value
	r.Listed = int64(format.ListedLen(bytes >> g.log.UnitShift))
	return r, key+value+format.MaxRecordHeader <= int64(g.log.MaxRecord())
}

// PerSegment is how many records of so many bytes, with header and padding, fit
// into a segment.
func (g *Geometry) PerSegment(bytes, listed int64) int64 {
	room := g.SegmentBytes - format.SegmentHeaderLen - format.TrailerLen
	// The list of a segment is given room for the longest entry that may come.
	return max(room-format.MaxListed+listed, 0) / (bytes + listed)
}

// SegmentsFor is how many segments a log has once the index names so many records: the
// files have room for the snapshot, too.
func (g *Geometry) SegmentsFor(records int64) int64 {
	return g.cfg.segmentsFor(g.SegmentBytes, uint8(bits.TrailingZeros64(uint64(g.IndexShards))), records)
}

// IndexRecords is how many records the index can name with all the memory that
// it may take.
func (g *Geometry) IndexRecords() int64 {
	return int64(index.MaxEntries(g.maxCapacity())) * g.IndexShards
}

// maxCapacity is that of the largest table of a shard.
func (g *Geometry) maxCapacity() int { return index.MostCapacity(g.IndexMost / 8 / g.IndexShards) }

// IndexBytes is what the tables of an index take that names so many records. The
// shards' shares of them differ as those of random ids do.
func (g *Geometry) IndexBytes(records int64) int64 {
	mean := float64(records) / float64(g.IndexShards)
	const around = 24 // points of the distribution
	most, sum := g.maxCapacity(), 0.
	for i := range around {
		z := math.Sqrt2 * math.Erfinv(2*(float64(i)+.5)/around-1)
		sum += float64(index.BytesFor(int(mean+z*math.Sqrt(mean)), most))
	}
	return int64(sum / around * float64(g.IndexShards))
}

// IndexMemory is how much of the RAM budget an index is allowed, and charged
// for, that has grown to tables of so many bytes: it is some more than they take.
func (g *Geometry) IndexMemory(tables int64) int64 {
	return index.AllowedFor(tables, g.IndexMost, int(g.IndexShards))
}

// SnapshotBytes is the most that the snapshot of an index of so many records takes.
func (g *Geometry) SnapshotBytes(records int64) int64 {
	return format.SnapshotBytes(int(g.Segments), int(g.IndexShards), int(g.Places), records)
}
