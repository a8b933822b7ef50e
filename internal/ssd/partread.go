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

// readParts appends the value to dst whose head was read at a spot. It returns what
// Get does.
func (t *Tier) readParts(ctx context.Context, dst []byte, sp *spot, f Found) (Found, error) {
	h := f.head
	value := slices.Grow(dst, h.Bytes)
	var err error
	for i := 0; i < h.Parts && err == nil; {
		var spots []spot
		if spots, err = t.lookParts(sp, i, h.Parts); err == nil {
			value, err = t.appendParts(ctx, value, sp, h, i, spots)
			i += len(spots)
		}
	}
	if err == nil && len(value)-len(dst) != h.Bytes {
		err = errIncomplete
	}
	switch {
	case err == nil && t.still(sp):
		f.Value = value
		return f, nil
	case err == nil || err == ErrChanged || !t.still(sp):
		return Found{}, ErrChanged
	case err == errIncomplete || err == format.ErrCorrupt:
		t.lose(sp)
		t.count.evicted.Add(1)
	}
	if err == errIncomplete {
		err = ErrNotFound
	}
	return Found{}, err
}

// valueOf appends the value of a head, for All.
func (t *Tier) valueOf(dst []byte, sp *spot, r *format.Record) ([]byte, error) {
	h, ok := format.ParseHead(r.Value)
	if !ok {
		return dst, format.ErrCorrupt
	}
	sp.waits = true
	f, err := t.readParts(background, dst, sp, Found{head: h})
	if err != nil {
		return dst, err
	}
	return f.Value, nil
}

// lookParts finds the next parts of a value, as many as may be read at once.
func (t *Tier) lookParts(sp *spot, from, to int) (spots []spot, err error) {
	n := min(to-from, max(int(t.cfg.readMemory())/(t.log.MaxPart()+2*files.BlockBytes), 1))
	spots = make([]spot, n)
	s := t.index.shardOf(sp.id)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range spots {
		p := &spots[i]
		p.id, p.waits = t.ids.Part(sp.id, from+i), sp.waits
		at, e, ok := s.search(s.FingerprintOf(p.id))
		if !ok {
			return nil, errIncomplete
		}
		if sp.touch && !e.Read() {
			s.slots[at] |= format.ReadBit
		}
		t.locate(s, p, e)
	}
	return spots, nil
}

// appendParts reads the parts at some spots, the first of which has a number, and
// appends what they hold.
func (t *Tier) appendParts(ctx context.Context, value []byte, sp *spot, h format.Head, first int, spots []spot) (_ []byte, err error) {
	reqs := make([]aio.Request, 0, len(spots))
	at := make([]int, len(spots)) // the request of each, -1: its segment is in memory
	for i := range spots {
		if at[i] = -1; !t.log.inMemory(spots[i].slot, spots[i].lsn>>t.log.SegmentShift) {
			at[i] = len(reqs)
			off, length, _ := t.window(&spots[i], t.partWindow())
			reqs = append(reqs, aio.Request{Off: off, N: length})
		}
	}
	if sp.waits {
		t.reader.ReadMany(ctx, reqs)
	} else {
		t.reader.TryMany(ctx, t.reader.Deadline(), reqs)
	}
	for i := range spots {
		switch p, want := &spots[i], (format.PartKey{Write: h.Write, Owner: sp.id, Part: first + i}); {
		case err != nil: // the buffers are still to be released
		case at[i] < 0:
			value, err = t.appendPart(ctx, value, p, want)
		default:
			value, err = t.acceptRead(ctx, value, p, want, reqs[at[i]].Buf, reqs[at[i]].Err)
		}
	}
	for i := range reqs {
		if b := reqs[i].Buf; b != nil {
			b.Release()
		}
	}
	return value, err
}

// appendPart reads one part, from memory if its segment is there.
func (t *Tier) appendPart(ctx context.Context, value []byte, p *spot, want format.PartKey) ([]byte, error) {
	if seg := t.log.pin(p.slot, p.lsn>>t.log.SegmentShift); seg != nil {
		defer t.log.unpin(seg)
		return t.acceptPart(value, p, want, seg.buf[p.off:seg.limit()])
	}
	off, length, _ := t.window(p, t.partWindow())
	buf, err := t.readFor(ctx, p, t.reader.Deadline(), off, length)
	if buf != nil {
		defer buf.Release()
	}
	return t.acceptRead(ctx, value, p, want, buf, err)
}

// acceptRead is acceptPart of what the file gave.
func (t *Tier) acceptRead(ctx context.Context, value []byte, p *spot, want format.PartKey, buf *bufpool.Buffer, err error) ([]byte, error) {
	if err != nil {
		return value, t.readFailed(ctx, p, err)
	}
	t.health.unreadable.readWell()
	_, _, skip := t.window(p, t.partWindow())
	return t.acceptPart(value, p, want, view(buf, skip))
}

// acceptPart checks the bytes of a part, and appends what it holds.
func (t *Tier) acceptPart(value []byte, p *spot, want format.PartKey, b []byte) ([]byte, error) {
	r, err := format.ParseRecord(b, format.Origin{Log: t.logNumber(), LSN: p.lsn})
	if err == nil && r.Flags&format.FlagCompressed != 0 {
		value, err = expand(value, r.Value)
	}
	switch key, ok := format.ParsePartKey(r.Key); {
	case !t.still(p):
		return value, ErrChanged
	case err != nil:
		t.corrupt(p)
		return value, format.ErrCorrupt
	case r.Kind() != format.IsPart || !ok || key != want: // of another write, or another key's
		return value, errIncomplete
	case r.Flags&format.FlagCompressed == 0:
		value = append(value, r.Value...)
	}
	return value, nil
}
