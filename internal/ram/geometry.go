package ram

import (
	"runtime"

	"github.com/firncache/firn/internal/offheap"
	"github.com/firncache/firn/internal/ram/segments"
)

// Layout is how a new tier of so many bytes is cut up, for planning: the number of its
// shards, the size of a segment in bytes and its cost, which includes its place in the
// tables, and the unit in bytes to which the room of a record is rounded up.
func Layout(bytes int64) (shards, segmentBytes, segmentCost, unit int64) {
	g := geometryFor(bytes, 0)
	return int64(g.shards), 1 << g.segShift, g.segmentCost(), 1 << g.unitShift
}

// MinBytes is the smallest tier in bytes.
const MinBytes = 64 << 10

// MaxBytes is the largest tier in bytes: 64 TiB.
const MaxBytes = 1 << 46

// fineUnits is the largest budget in bytes whose records are placed in units of
// eight bytes. Each doubling doubles the unit, and with it the bytes that are lost at
// the end of each record.
const fineUnits = 32 << 30

// hugeFrom is the budget in bytes from which huge pages are used: a huge
// page more than the budget is then lost in it.
const hugeFrom = 32 << 20

// geometry is how a budget is cut up.
type geometry struct {
	shards      int  // a power of two
	segShift    uint // log2 of the segment size in bytes
	unitShift   uint // log2 of the unit of a location in bytes
	maxSegments int
}

// segmentCost is the part of the budget that one segment takes, its place in the
// tables included.
func (g geometry) segmentCost() int64 { return 1<<g.segShift + sizeOf[segments.Segment]() + 4 }

// geometryFor cuts a budget: one shard a MiB, up to 64 or four for each processor;
// about 256 segments for each shard, of 1 to 128 KiB.
func geometryFor(bytes, maxBytes int64) geometry {
	if maxBytes == 0 {
		maxBytes = bytes
		if offheap.Growable {
			maxBytes = max(1<<30, min(4*bytes, fineUnits))
		}
	}
	maxBytes = max(maxBytes, bytes)
	g := geometry{shards: 1, segShift: 10, unitShift: 3}
	for most := max(64, 4*runtime.GOMAXPROCS(0)); g.shards*2 <= most && int64(g.shards*2)<<20 <= bytes; {
		g.shards *= 2
	}
	for g.segShift < 17 && int64(g.shards)<<(g.segShift+1+8) <= bytes {
		g.segShift++
	}
	g.maxSegments = int((maxBytes + g.segmentCost() - 1) / g.segmentCost())
	for uint64(g.maxSegments+1)<<g.segShift>>g.unitShift > 1<<32 {
		g.unitShift++
	}
	return g
}
