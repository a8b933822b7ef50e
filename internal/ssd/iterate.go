package ssd

import (
	"slices"

	"github.com/firncache/firn/internal/aio"
	"github.com/firncache/firn/internal/ssd/format"
)

// All calls yield for every live record, segment after segment, until it returns
// false. The slices are lent until it returns; no lock is held meanwhile. What
// comes, goes or moves meanwhile may be left out or yielded twice.
func (t *Tier) All(yield func(hash uint64, key, value []byte) bool) {
	var value []byte
	for slot := range t.log.slots {
		serial := t.log.slotWords[slot].Serial.Load()
		if serial == 0 || t.state.Load() != on {
			continue
		}
		recs := t.listAny(slot, serial)
		for len(recs) > 0 {
			n := t.batchOf(recs)
			if !t.yieldRecords(slot, serial, recs[:n], &value, yield) {
				return
			}
			recs = recs[n:]
		}
	}
}

// yieldRecords reads some records of a segment and yields those that the index
// names.
func (t *Tier) yieldRecords(slot int, serial uint64, recs []format.Listed, value *[]byte, yield func(hash uint64, key, value []byte) bool) bool {
	refs := make([]recordRef, 0, len(recs))
	for _, r := range recs {
		if r.Kind == format.IsPart { // its head is yielded
			continue
		}
		s := t.index.shardOf(r.ID)
		s.mu.Lock()
		e, ok := s.find(r.ID)
		s.mu.Unlock()
		if ok && s.Location(e) == t.log.Location(slot, int(r.Offset)) {
			refs = append(refs, recordRef{id: r.ID, entry: e, loc: s.Location(e), slot: slot, off: int(r.Offset), lsn: t.log.LSN(serial, int(r.Offset))})
		}
	}
	copied := t.copyRecords(slot, serial, recs, refs)
	var reqs []aio.Request
	if copied == nil {
		reqs = make([]aio.Request, len(refs))
		for i := range refs {
			reqs[i].Off, reqs[i].N, _ = t.alignedRange(&refs[i], int(t.sizeOf(recs, &refs[i])))
		}
		t.reader.ReadMany(background, reqs)
		defer releaseAll(reqs)
	}
	for i := range refs {
		var b []byte
		switch {
		case copied != nil:
			b = copied[i]
		case reqs[i].Err == nil:
			_, _, skip := t.alignedRange(&refs[i], 1)
			b = reqs[i].Buf.Bytes()[skip:]
		}
		r, err := format.ParseRecord(b, format.Origin{Log: t.logNumber(), LSN: refs[i].lsn})
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

// copyRecords are the bytes of records in a segment that is in memory, nil if it is
// not. The segment itself must not be held while the user looks at them.
func (t *Tier) copyRecords(slot int, serial uint64, recs []format.Listed, refs []recordRef) [][]byte {
	seg := t.log.pin(slot, serial)
	if seg == nil {
		return nil
	}
	defer t.log.unpin(seg)
	b := make([][]byte, len(refs))
	for i := range refs {
		off := refs[i].off
		b[i] = slices.Clone(seg.buf[off : off+int(t.sizeOf(recs, &refs[i]))])
	}
	return b
}

// sizeOf is the length of a record, as its segment lists it.
func (t *Tier) sizeOf(recs []format.Listed, ref *recordRef) uint32 {
	for i := range recs {
		if int(recs[i].Offset) == ref.off {
			return recs[i].Bytes
		}
	}
	return 0
}
