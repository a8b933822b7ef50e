package ssd

import (
	"github.com/firncache/firn/internal/ssd/files"
	"github.com/firncache/firn/internal/ssd/format"
)

// recordsAtOnce is how many records of a segment are looked at, and read, at once.
const recordsAtOnce = 64

// listSealed reads which records a segment has.
func (t *Tier) listSealed(slot int, serial uint64) ([]format.Listed, error) {
	if s := t.log.pin(slot, serial); s != nil {
		defer t.log.unpin(s)
		tr, ok := format.ParseTrailer(s.buf[len(s.buf)-format.TrailerLen:], t.logNumber(), len(s.buf))
		if !ok {
			return nil, format.ErrCorrupt
		}
		return format.ParseList(nil, s.buf[s.listAt:len(s.buf)-format.TrailerLen], tr, t.log.UnitShift)
	}
	return t.readList(slot, serial)
}

// readList is list for a segment that is not in memory.
func (t *Tier) readList(slot int, serial uint64) ([]format.Listed, error) {
	size := t.log.SegmentBytes()
	base := t.log.FileOffset(slot, 0)
	buf, err := t.reader.Read(background, base+int64(size-files.BlockBytes), files.BlockBytes)
	if err != nil {
		return nil, err
	}
	tr, ok := format.ParseTrailer(buf.Bytes()[files.BlockBytes-format.TrailerLen:], t.logNumber(), size)
	buf.Release()
	if !ok || tr.Serial != serial {
		return nil, format.ErrCorrupt
	}
	from := (size - format.TrailerLen - tr.ListLen) &^ (files.BlockBytes - 1)
	if buf, err = t.reader.Read(background, base+int64(from), size-from); err != nil {
		return nil, err
	}
	defer buf.Release()
	b := buf.Bytes()
	return format.ParseList(nil, b[len(b)-format.TrailerLen-tr.ListLen:len(b)-format.TrailerLen], tr, t.log.UnitShift)
}

// listAny is which records a segment has, also of one that is being filled.
func (t *Tier) listAny(slot int, serial uint64) []format.Listed {
	if seg := t.log.pin(slot, serial); seg != nil {
		defer t.log.unpin(seg)
		t.log.mu.Lock()
		list := append([]byte(nil), seg.list...)
		tr := format.Trailer{Count: seg.count, DataEnd: seg.end, ListChecksum: format.Checksum(0, list)}
		t.log.mu.Unlock()
		recs, _ := format.ParseList(nil, list, tr, t.log.UnitShift)
		return recs
	}
	recs, _ := t.readList(slot, serial)
	return recs
}

// batchOf is how many of the records are to be looked at next: no more than may be
// read at once.
func (t *Tier) batchOf(recs []format.Listed) (n int) {
	for room := t.cfg.readMemory(); n < min(len(recs), recordsAtOnce); n++ {
		if room -= int64(recs[n].Bytes); room < 0 && n > 0 {
			break
		}
	}
	return n
}
