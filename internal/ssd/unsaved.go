package ssd

import "github.com/firncache/firn/internal/ssd/format"

// Lost counts, after a Close that failed, the records that the next Open may not find, and
// about how many bytes they take on the disk: all, unless the index was saved. A later
// process may find them in memory that outlives the process; none does after the machine
// went down, or in another container.
func (t *Tier) Lost() (records, bytes int64) {
	t.lost.once.Do(func() { t.lost.records, t.lost.bytes = t.countLost() })
	return t.lost.records, t.lost.bytes
}

func (t *Tier) countLost() (records, bytes int64) {
	if t.saved.Load() || t.health.IsOffline() {
		return 0, 0
	}
	for i := range t.log.Slots {
		bytes += t.log.Slots[i].Alive.Load()
	}
	return int64(t.records()), max(bytes, 0)
}

// BytesToSave is about how many bytes Close writes beside the records that come from RAM,
// if those are so many. A short write counts as a segment: on a slow disk it takes as long.
func (t *Tier) BytesToSave(records int) int64 {
	index := format.SnapshotBytes(len(t.log.Slots), len(t.index.Shards), int(t.index.Places), int64(t.index.Len()+records))
	return index + (segmentBuffers+closingWrites)*int64(t.log.SegmentBytes())
}

// closingWrites are the short writes of Close: both ends of the snapshot, and both superblocks.
const closingWrites = 4

// WrittenBytes is how many bytes have been written to all files.
func (t *Tier) WrittenBytes() uint64 { return t.count.written.Load() }
