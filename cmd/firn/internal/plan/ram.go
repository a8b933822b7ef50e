package plan

import (
	"math"

	"github.com/firncache/firn/internal/policy"
	"github.com/firncache/firn/internal/ram"
)

// Measured sizes of the RAM tier: see capacity_test.go.
const (
	bookkeeping  = 20500   // bytes a shard, beside the tables
	bucketBytes  = 64. / 6 // of the index for each record: ten in 64 bytes, at 60 % load
	overflowSome = 1.45    // and for its overflow buckets
)

// roomInRAM is the size in a RAM tier of a record of so many bytes.
func roomInRAM(budget, recordBytes int64) int64 {
	_, _, _, unit := ram.Layout(budget)
	return (recordBytes + unit - 1) / unit * unit
}

// capacityRAM is how many records of so many bytes a full RAM tier holds of
// whose budget the tier below has lent bytes.
func capacityRAM(budget, lent, recordBytes int64) int64 {
	shards, segment, cost, _ := ram.Layout(budget)
	own := (budget - lent - shards*bookkeeping - ram.ServiceSimulation(budget).Bytes) / cost // segments
	own -= max(2, own/256)                                                                   // kept for reclaiming
	own -= shards                                                                            // two lanes, whose last segments are half full
	perSegment := float64(segment) / float64(recordBytes)
	if recordBytes < segment/16 {
		perSegment = math.Floor(perSegment) // such a record is not split: the rest of a segment is lost
	}
	records := 0.
	for range 8 { // the index takes segments as well: this converges from below and above
		each := records / float64(shards) / float64(segment)
		index := float64(int64(each*bucketBytes)+1) + max(1, each*overflowSome)
		ghosts := float64(8*shards*int64(policy.GhostWords(int64(records)/shards, (budget-lent)/shards))) / float64(cost)
		records = max(0, (float64(own)-ghosts-index*float64(shards))*perSegment+records) / 2
	}
	return int64(records)
}
