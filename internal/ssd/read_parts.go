package ssd

import (
	"context"
	"errors"
	"slices"

	"github.com/firncache/firn/bufpool"
	"github.com/firncache/firn/internal/aio"
	"github.com/firncache/firn/internal/ssd/files"
	"github.com/firncache/firn/internal/ssd/format"
)

// errIncomplete says that a part of a value is there no more.
var errIncomplete = errors.New("ssd: a part of the value is gone")

// readParts appends the value to dst whose head was read. Its results are those
// of Get.
func (t *Tier) readParts(ctx context.Context, dst []byte, ref *recordRef, f Found) (Found, error) {
	h := f.head
	value := slices.Grow(dst, h.Bytes)
	var err error
	for i := 0; i < h.Parts && err == nil; {
		var refs []recordRef
		if refs, err = t.locateParts(ref, i, h.Parts); err == nil {
			value, err = t.appendParts(ctx, value, ref, h, i, refs)
			i += len(refs)
		}
	}
	if err == nil && len(value)-len(dst) != h.Bytes {
		err = errIncomplete
	}
	switch {
	case err == nil && t.isCurrent(ref):
		f.Value = value
		return f, nil
	case err == nil || err == ErrChanged || !t.isCurrent(ref):
		return Found{}, ErrChanged
	case err == errIncomplete || err == format.ErrCorrupt:
		t.dropRef(ref)
		t.count.evicted.Add(1)
	}
	if err == errIncomplete {
		err = ErrNotFound
	}
	return Found{}, err
}

// valueOf appends the value of a head, for All.
func (t *Tier) valueOf(dst []byte, ref *recordRef, r *format.Record) ([]byte, error) {
	h, ok := format.ParseHead(r.Value)
	if !ok {
		return dst, format.ErrCorrupt
	}
	ref.waits = true
	f, err := t.readParts(background, dst, ref, Found{head: h})
	if err != nil {
		return dst, err
	}
	return f.Value, nil
}

// locateParts finds the next parts of a value, as many as may be read at once.
func (t *Tier) locateParts(ref *recordRef, from, to int) (refs []recordRef, err error) {
	n := min(to-from, max(int(t.cfg.readMemory())/(t.log.MaxPart()+2*files.BlockBytes), 1))
	refs = make([]recordRef, n)
	s := t.index.ShardOf(ref.id)
	s.Mu.Lock()
	defer s.Mu.Unlock()
	for i := range refs {
		p := &refs[i]
		p.id, p.waits = t.ids.Part(ref.id, from+i), ref.waits
		at, e, ok := s.Search(s.FingerprintOf(p.id))
		if !ok {
			return nil, errIncomplete
		}
		if ref.touch && !e.Read() {
			s.Set(at, e|format.ReadBit)
		}
		t.resolve(s, p, e)
	}
	return refs, nil
}

// appendParts reads some parts, the first of which has a number, and
// appends their bytes.
func (t *Tier) appendParts(ctx context.Context, value []byte, ref *recordRef, h format.Head, first int, refs []recordRef) (_ []byte, err error) {
	reqs := make([]aio.Request, 0, len(refs))
	at := make([]int, len(refs)) // the request of each, -1: its segment is in memory
	for i := range refs {
		if at[i] = -1; !t.log.InMemory(refs[i].slot, t.log.Serial(refs[i].lsn)) {
			at[i] = len(reqs)
			off, length, _ := t.alignedRange(&refs[i], t.maxPartRecord())
			reqs = append(reqs, aio.Request{Off: off, N: length})
		}
	}
	end := t.startRead(ctx, len(reqs))
	if ref.waits {
		t.reader.ReadMany(ctx, reqs)
	} else {
		t.reader.TryMany(ctx, t.reader.Deadline(), reqs)
	}
	end(firstError(reqs))
	for i := range refs {
		switch p, want := &refs[i], (format.PartKey{Write: h.Write, Owner: ref.id, Part: first + i}); {
		case err != nil: // the buffers are still to be released
		case at[i] < 0:
			value, err = t.appendPart(ctx, value, p, want)
		default:
			value, err = t.verifyPartRead(ctx, value, p, want, reqs[at[i]].Buf, reqs[at[i]].Err)
		}
	}
	releaseAll(reqs)
	return value, err
}

// appendPart reads one part, from memory if its segment is there.
func (t *Tier) appendPart(ctx context.Context, value []byte, p *recordRef, want format.PartKey) ([]byte, error) {
	if seg := t.log.Pin(p.slot, t.log.Serial(p.lsn)); seg != nil {
		defer t.log.Unpin(seg)
		return t.verifyPart(value, p, want, seg.Buf[p.off:seg.Limit()])
	}
	off, length, _ := t.alignedRange(p, t.maxPartRecord())
	buf, err := t.readFor(ctx, p, t.reader.Deadline(), off, length)
	if buf != nil {
		defer buf.Release()
	}
	return t.verifyPartRead(ctx, value, p, want, buf, err)
}

// verifyPartRead is verifyPart of bytes read from the file.
func (t *Tier) verifyPartRead(ctx context.Context, value []byte, p *recordRef, want format.PartKey, buf *bufpool.Buffer, err error) ([]byte, error) {
	if err != nil {
		return value, t.readFailed(ctx, p, err)
	}
	t.health.BadReads.OK()
	_, _, skip := t.alignedRange(p, t.maxPartRecord())
	return t.verifyPart(value, p, want, view(buf, skip))
}

// verifyPart checks the bytes of a part, and appends its piece of the value.
func (t *Tier) verifyPart(value []byte, p *recordRef, want format.PartKey, b []byte) ([]byte, error) {
	r, err := format.ParseRecord(b, format.Origin{Log: t.log.Number(), LSN: p.lsn})
	if err == nil && r.Flags&format.FlagCompressed != 0 {
		value, err = expand(value, r.Value)
	}
	switch key, ok := format.ParsePartKey(r.Key); {
	case !t.isCurrent(p):
		return value, ErrChanged
	case err != nil:
		t.dropCorrupt(p)
		return value, format.ErrCorrupt
	case r.Kind() != format.IsPart || !ok || key != want: // of another write, or another key's
		return value, errIncomplete
	case r.Flags&format.FlagCompressed == 0:
		value = append(value, r.Value...)
	}
	return value, nil
}
