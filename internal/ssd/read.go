package ssd

import (
	"context"
	"errors"

	"github.com/firncache/firn/internal/ssd/format"
)

// Get appends the value of key to dst. Without one, the error is ErrNotFound,
// and for a key that was written meanwhile ErrChanged; otherwise it is the
// context's or the disk's.
func (t *Tier) Get(ctx context.Context, dst, key []byte, hash uint64) (Found, error) {
	sp, ok := t.look(hash, true)
	if !ok {
		return Found{}, ErrNotFound
	}
	return t.readSpot(ctx, dst, key, &sp)
}

// GetWaiting is Get that waits for a slow disk until the context ends.
func (t *Tier) GetWaiting(ctx context.Context, dst, key []byte, hash uint64) (Found, error) {
	sp, ok := t.look(hash, true)
	if !ok {
		return Found{}, ErrNotFound
	}
	sp.waits = true
	return t.readSpot(ctx, dst, key, &sp)
}

// GetStale is Get that also finds what expired no more than Config.Grace ago. It
// does not count as a read.
func (t *Tier) GetStale(ctx context.Context, dst, key []byte, hash uint64) (Found, error) {
	sp, ok := t.look(hash, false)
	if !ok {
		return Found{}, ErrNotFound
	}
	sp.stale = true
	return t.readSpot(ctx, dst, key, &sp)
}

// Peek is Get without the value, and it does not count as a read.
func (t *Tier) Peek(ctx context.Context, key []byte, hash uint64) (Found, error) {
	sp, ok := t.look(hash, false)
	if !ok {
		return Found{}, ErrNotFound
	}
	sp.peek = true
	f, err := t.readSpot(ctx, nil, key, &sp)
	f.Value = nil
	return f, err
}

// readSpot reads and checks the value at a spot.
func (t *Tier) readSpot(ctx context.Context, dst, key []byte, sp *spot) (Found, error) {
	f, err := t.readRecord(ctx, dst, key, sp)
	if err == nil && f.head.Parts > 0 { // and what it was read from is free again
		if f, err = t.readParts(ctx, dst, sp, f); err == nil {
			t.count.hits.Add(1)
		}
	}
	return f, err
}

// readRecord reads and checks the record at a spot.
func (t *Tier) readRecord(ctx context.Context, dst, key []byte, sp *spot) (Found, error) {
	if seg := t.log.pin(sp.slot, sp.lsn>>t.log.SegmentShift); seg != nil {
		defer t.log.unpin(seg)
		return t.accept(dst, key, sp, seg.buf[sp.off:seg.limit()])
	}
	buf, view, err := t.fetch(ctx, sp)
	switch {
	case errors.Is(err, format.ErrCorrupt):
		return Found{}, t.damaged(sp)
	case err != nil:
		return Found{}, t.readFailed(ctx, sp, err)
	}
	defer buf.Release()
	t.health.unreadable.readWell()
	return t.accept(dst, key, sp, view)
}

// accept checks the bytes of a record, and takes from them what was asked for.
func (t *Tier) accept(dst, key []byte, sp *spot, b []byte) (f Found, err error) {
	r, err := format.ParseRecord(b, format.Origin{Log: t.logNumber(), LSN: sp.lsn})
	if err == nil && r.Flags&format.FlagCompressed != 0 && string(r.Key) == string(key) {
		f.Value, err = expand(dst, r.Value)
	}
	switch {
	case !t.still(sp):
		return Found{}, ErrChanged
	case err != nil:
		t.corrupt(sp)
		return Found{}, format.ErrCorrupt
	case string(r.Key) != string(key) || r.Kind() == format.IsPart:
		t.count.collisions.Add(1)
		return Found{}, ErrNotFound
	case t.over(r.Deadline, sp.stale):
		return Found{}, ErrNotFound // its room comes back when its segment is reclaimed
	}
	f.Deadline, f.Token = r.Deadline, sp.lsn
	if r.Kind() == format.IsHead && !sp.peek {
		head, ok := format.ParseHead(r.Value)
		if !ok {
			t.corrupt(sp)
			return Found{}, format.ErrCorrupt
		}
		f.head = head
		return f, nil
	}
	if r.Flags&format.FlagCompressed == 0 {
		f.Value = append(dst, r.Value...)
	}
	t.count.hits.Add(1)
	return f, nil
}

// damaged is what a read ends with that found no header of a record. The disk
// does what it should: it is the record's fault.
func (t *Tier) damaged(sp *spot) error {
	t.health.unreadable.readWell()
	if !t.still(sp) {
		return ErrChanged
	}
	t.corrupt(sp)
	return format.ErrCorrupt
}
