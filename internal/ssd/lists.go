package ssd

import (
	"slices"

	"github.com/firncache/firn/internal/aio"
	"github.com/firncache/firn/internal/ssd/files"
	"github.com/firncache/firn/internal/ssd/format"
)

const (
	// bytesAtOnce and recordsAtOnce are how much of a segment is looked at, and read, at once;
	// of a short segment it is an eighth.
	bytesAtOnce   = 1 << 20
	recordsAtOnce = 4096

	// maxGap is how many bytes between two records are read with both: a read of its own
	// takes a fast disk as long.
	maxGap = 8 << 10
	// maxSpan is the most bytes of a read for several records.
	maxSpan = 128 << 10
)

// listSealed reads which records a segment has.
func (t *Tier) listSealed(slot int, serial uint64) ([]format.Listed, error) {
	if s := t.log.Pin(slot, serial); s != nil {
		defer t.log.Unpin(s)
		return t.log.ListedAtEnd(s)
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
	tr, ok := format.ParseTrailer(buf.Bytes()[files.BlockBytes-format.TrailerLen:], t.log.Number(), size)
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
	if seg := t.log.Pin(slot, serial); seg != nil {
		defer t.log.Unpin(seg)
		return t.log.Listed(seg)
	}
	recs, _ := t.readList(slot, serial)
	return recs
}

// batchOf is how many of the records are to be looked at next: no more than may be
// read at once.
func (t *Tier) batchOf(recs []format.Listed) (n int) {
	for room := min(t.cfg.readMemory(), bytesAtOnce, int64(t.log.SegmentBytes())/8); n < min(len(recs), recordsAtOnce); n++ {
		if room -= int64(recs[n].Bytes); room < 0 && n > 0 {
			break
		}
	}
	return n
}

// readRecords is the bytes of records of a segment, in their order there, nil for those that
// cannot be read. They are lent until done is called. A buffer of the log is not held
// meanwhile: it may be the one that the records are to be moved to.
func (t *Tier) readRecords(slot int, serial uint64, recs []format.Listed) (bytes [][]byte, done func()) {
	bytes = make([][]byte, len(recs))
	if seg := t.log.Pin(slot, serial); seg != nil {
		defer t.log.Unpin(seg)
		for i, r := range recs {
			bytes[i] = slices.Clone(seg.Buf[r.Offset : r.Offset+r.Bytes])
		}
		return bytes, func() {}
	}
	reqs, err := t.readSpans(slot, recs, bytes, maxGap)
	if err != nil { // a bad block costs the records that have bytes there, and no others
		var single []aio.Request
		single, err = t.readSpans(slot, recs, bytes, noGap)
		reqs = append(reqs, single...)
	}
	for i := range bytes {
		if bytes[i] == nil {
			t.count.readErrors.Add(1)
			t.health.Fault("a record could not be read", "segment", serial, "offset", recs[i].Offset, "error", err)
		}
	}
	return bytes, func() { releaseAll(reqs) }
}

// noGap has each record read by itself.
const noGap = -1 << 62

// readSpans reads the records that have no bytes yet, those with at most gap bytes between
// them by one read, and returns the reads and the first error.
func (t *Tier) readSpans(slot int, recs []format.Listed, bytes [][]byte, gap int64) (reqs []aio.Request, err error) {
	of := make([]int, len(recs)) // the read that brings a record
	for i, r := range recs {
		if bytes[i] != nil {
			continue
		}
		ref := recordRef{slot: slot, off: int(r.Offset)}
		off, n, _ := t.alignedRange(&ref, int(r.Bytes))
		if last := len(reqs) - 1; last >= 0 {
			span, to := &reqs[last], off+int64(n)
			if off-span.Off-int64(span.N) <= gap && to-span.Off <= maxSpan {
				span.N = max(span.N, int(to-span.Off))
				of[i] = last
				continue
			}
		}
		of[i] = len(reqs)
		reqs = append(reqs, aio.Request{Off: off, N: n})
	}
	t.reader.ReadMany(background, reqs)
	for i, r := range recs {
		if bytes[i] == nil && reqs[of[i]].Err == nil {
			at := t.log.FileOffset(slot, int(r.Offset)) - reqs[of[i]].Off
			bytes[i] = reqs[of[i]].Buf.Bytes()[at:][:r.Bytes]
		}
	}
	return reqs, firstError(reqs)
}
