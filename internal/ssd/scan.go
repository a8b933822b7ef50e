package ssd

import "github.com/firncache/firn/internal/offheap"

// segmentRecords reads which records a segment has, and what its tombstones say
// by the offset of their list.
func (t *Tier) segmentRecords(f *found) (recs []listed, tombs map[uint32][]id, ok bool) {
	var err error
	if f.sealed {
		recs, err = t.readList(f.slot, f.serial)
	}
	if !f.sealed || err != nil {
		return t.scan(f)
	}
	for i := range recs {
		if r := &recs[i]; r.tombstones {
			if tombs == nil {
				tombs = map[uint32][]id{}
			}
			ids, err := t.readTombstones(f, r)
			if err != nil {
				return nil, nil, false
			}
			tombs[r.offset] = ids
		}
	}
	return recs, tombs, true
}

func (t *Tier) readTombstones(f *found, l *listed) ([]id, error) {
	sp := spot{slot: f.slot, off: int(l.offset)}
	off, n, skip := t.window(&sp, int(l.bytes))
	buf, err := t.reader.Read(background, off, n)
	if err != nil {
		return nil, err
	}
	defer buf.Release()
	r, err := parseRecord(buf.Bytes()[skip:], origin{t.logNumber(), t.log.lsn(f.serial, int(l.offset))})
	if err != nil {
		return nil, err
	}
	return tombstones(&r), nil
}

// tombstones are the ids that a record of tombstones lists.
func tombstones(r *rec) (ids []id) {
	if r.flags&flagTombstones == 0 {
		return nil
	}
	for b := r.value; len(b) >= idLen; b = b[idLen:] {
		ids = append(ids, idAt(b))
	}
	return ids
}

// scan finds the records of a segment without a list: one that was being written
// when the process died, or whose list is damaged. The records of the former end
// where the next is not whole; it is sealed there.
func (t *Tier) scan(f *found) (recs []listed, tombs map[uint32][]id, ok bool) {
	size := t.log.segBytes()
	mem, err := offheap.Alloc(size + blockBytes)
	if err != nil {
		return nil, nil, false
	}
	defer func() { _ = offheap.Free(mem) }()
	if t.charge(int64(len(mem))) == nil { // otherwise it is above the budget for a moment
		defer func() { _ = t.charge(-int64(len(mem))) }()
	}
	b := aligned(mem, size)
	if _, err := t.logFile.ReadAt(b, int64(f.slot)<<t.log.segShift); err != nil {
		t.count.readErrors.Add(1)
		return nil, nil, false
	}
	recs, tombs, end := t.walk(b, f.serial)
	if f.sealed {
		return recs, tombs, end == f.trailer.dataEnd && len(recs) == f.trailer.count
	}
	if t.log.lsn(f.serial, end) < t.plan.reach {
		return nil, nil, false // more was written behind this point
	}
	return recs, tombs, t.sealOnDisk(f, b, recs, tombs, end)
}

// walk parses the records of a segment as far as they are whole.
func (t *Tier) walk(b []byte, serial uint64) (recs []listed, tombs map[uint32][]id, end int) {
	tombs = map[uint32][]id{}
	for end = segmentHeaderLen; end < len(b)-trailerLen; {
		r, err := parseRecord(b[end:len(b)-trailerLen], origin{t.logNumber(), t.log.lsn(serial, end)})
		if err != nil {
			break
		}
		l := listed{offset: uint32(end), bytes: uint32(t.log.pad(r.size)), tombstones: r.flags&flagTombstones != 0}
		if l.tombstones {
			tombs[l.offset] = tombstones(&r)
		} else {
			l.id = t.id(t.hasher.Hash(r.key))
		}
		recs = append(recs, l)
		end += int(l.bytes)
	}
	return recs, tombs, end
}

// sealOnDisk writes the list and the trailer of a segment that lacks them.
func (t *Tier) sealOnDisk(f *found, b []byte, recs []listed, tombs map[uint32][]id, end int) bool {
	var list []byte
	for _, r := range recs {
		list = appendListed(list, r.id, r.bytes>>t.log.unitShift, r.tombstones)
	}
	f.trailer = trailer{count: len(recs), listLen: len(list), dataEnd: end, listCRC: checksum(0, list), serial: f.serial, sealedAt: t.Now(), tombs: len(tombs)}
	at := len(b) - trailerLen - len(list)
	if at < end {
		return false
	}
	clear(b[end:at])
	copy(b[at:], list)
	f.trailer.put(b[len(b)-trailerLen:], t.logNumber())
	from := at &^ (blockBytes - 1)
	if _, err := t.logFile.WriteAt(b[from:], int64(f.slot)<<t.log.segShift+int64(from)); err != nil {
		t.count.writeErrors.Add(1)
		return false
	}
	f.sealed = true
	t.log.mu.Lock()
	t.log.slots[f.slot].sealed = true
	t.log.mu.Unlock()
	return true
}
