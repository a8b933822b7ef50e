package ssd

import "github.com/firncache/firn/internal/ssd/format"

// Lost counts, after a Close that failed, the records that the next Open will not find,
// and about how many bytes they take on the disk. Where the index outlives the process
// they are those that were not written; otherwise all are, unless the index was saved. All
// are, too, where the index could not be written to its file: a later process on the machine
// may find them in memory, and none after the machine went down.
func (t *Tier) Lost() (records, bytes int64) {
	t.lost.once.Do(func() { t.lost.records, t.lost.bytes = t.countLost() })
	return t.lost.records, t.lost.bytes
}

func (t *Tier) countLost() (records, bytes int64) {
	switch {
	case t.saved.Load() || t.health.isOffline():
		return 0, 0
	case t.index.Kept == nil || t.index.Head.Valid.Load() == 0 || t.unsaved.Load():
		for i := range t.log.slots {
			bytes += t.log.slots[i].alive.Load()
		}
		return int64(t.records()), max(bytes, 0)
	}
	for _, s := range t.unwrittenSegments() {
		n, size := t.unwritten(s.slot, s.serial)
		records, bytes = records+n, bytes+size
	}
	return records, bytes
}

// BytesToSave is about how many bytes Close writes beside the records that come from RAM,
// if those are so many. A short write counts as a segment: on a slow disk it takes as long.
func (t *Tier) BytesToSave(records int) int64 {
	index := format.SnapshotBytes(len(t.log.slots), len(t.index.shards), int(t.index.Places), int64(t.index.len()+records))
	return index + (segmentBuffers+closingWrites)*int64(t.log.SegmentBytes())
}

// closingWrites are the short writes of Close: both ends of the snapshot, and both superblocks.
const closingWrites = 4

// WrittenBytes is how many bytes have been written to all files.
func (t *Tier) WrittenBytes() uint64 { return t.count.written.Load() }

// unwrittenSegments are those of which a part has not been written.
func (t *Tier) unwrittenSegments() (segments []*segment) {
	l := t.log
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.memory {
		if l.LSN(s.serial+1, 0) > l.flushed.Load() {
			segments = append(segments, s)
		}
	}
	return segments
}

// unwritten counts the live records of a segment that were not written. The parts of a
// long value count as bytes of it.
func (t *Tier) unwritten(slot int, serial uint64) (records, bytes int64) {
	for _, r := range t.listAny(slot, serial) {
		if t.log.LSN(serial, int(r.Offset)) < t.log.flushed.Load() || !t.names(r.ID, t.log.Location(slot, int(r.Offset))) {
			continue
		}
		if r.Kind != format.IsPart {
			records++
		}
		bytes += int64(r.Bytes)
	}
	return records, bytes
}

// names reports whether the index names a location for an id.
func (t *Tier) names(x format.ID, loc format.Location) bool {
	s := t.index.shardOf(x)
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.find(x)
	return ok && s.Location(e) == loc
}
