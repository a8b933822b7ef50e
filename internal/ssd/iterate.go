package ssd

import (
	"cmp"
	"slices"

	"github.com/firncache/firn/internal/ssd/format"
)

// All calls yield for every live record, segment after segment, until it returns
// false. The slices are lent until it returns; no lock is held meanwhile. What
// comes or goes meanwhile may be left out. Records move to the end of the log: so the oldest
// segment comes first, and at the end those that were made meanwhile; what was yielded before it
// moved is yielded again, and only what moves again by then is left out.
func (t *Tier) All(yield func(hash uint64, key, value []byte) bool) {
	var value []byte
	var last segmentAt // of which so many records have been seen
	seen := 0
	for range 2 {
		for _, s := range t.segmentsFrom(last.serial) {
			recs := t.listAny(s.slot, s.serial)
			if s != last {
				last, seen = s, 0
			}
			recs, seen = recs[min(seen, len(recs)):], max(seen, len(recs))
			for len(recs) > 0 {
				n := t.batchOf(recs)
				if !t.yieldRecords(s.slot, s.serial, recs[:n], &value, yield) {
					return
				}
				recs = recs[n:]
			}
		}
	}
}

// segmentAt is a segment, and where in the file.
type segmentAt struct {
	serial uint64
	slot   int
}

// segmentsFrom are the segments from a serial on, the oldest first; none while the tier is off.
func (t *Tier) segmentsFrom(serial uint64) (all []segmentAt) {
	if t.state.Load() != on {
		return nil
	}
	for slot := range t.log.SlotWords {
		if s := t.log.SlotWords[slot].Serial.Load(); s != 0 && s >= serial {
			all = append(all, segmentAt{s, slot})
		}
	}
	slices.SortFunc(all, func(a, b segmentAt) int { return cmp.Compare(a.serial, b.serial) })
	return all
}

// yieldRecords reads some records of a segment and yields those that the index
// names.
func (t *Tier) yieldRecords(slot int, serial uint64, recs []format.Listed, value *[]byte, yield func(hash uint64, key, value []byte) bool) bool {
	refs, named := make([]recordRef, 0, len(recs)), make([]format.Listed, 0, len(recs))
	for _, r := range recs {
		if r.Kind == format.IsPart { // its head is yielded
			continue
		}
		s := t.index.ShardOf(r.ID)
		s.Mu.Lock()
		e, ok := s.Find(r.ID)
		s.Mu.Unlock()
		if ok && s.Location(e) == t.log.Location(slot, int(r.Offset)) {
			refs = append(refs, recordRef{id: r.ID, entry: e, loc: s.Location(e), slot: slot, off: int(r.Offset), lsn: t.log.LSN(serial, int(r.Offset))})
			named = append(named, r)
		}
	}
	bytes, done := t.readRecords(slot, serial, named)
	defer done()
	for i := range refs {
		r, err := format.ParseRecord(bytes[i], format.Origin{Log: t.log.Number(), LSN: refs[i].lsn})
		if err != nil || !t.isCurrent(&refs[i]) || t.expired(r.Deadline, false) {
			continue
		}
		v := r.Value
		switch {
		case r.Flags&format.FlagCompressed != 0:
			*value, err = expand((*value)[:0], r.Value)
			v = *value
		case r.Kind() == format.IsHead:
			*value, err = t.valueOf((*value)[:0], &refs[i], &r)
			v = *value
		}
		if err != nil {
			continue
		}
		if !yield(t.ids.Hash(r.Key), r.Key, v) {
			return false
		}
	}
	return true
}
