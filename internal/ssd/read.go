package ssd

import (
	"context"
	"errors"

	"github.com/firncache/firn/internal/ssd/format"
)

// Get appends the value of key to dst. Without one, the error is ErrNotFound, with
// the token of the record that is another key's, or has expired, if there is one,
// and for a key that was written meanwhile ErrChanged; otherwise it is the
// context's or the disk's.
func (t *Tier) Get(ctx context.Context, dst, key []byte, hash uint64) (Found, error) {
	ref, ok := t.locate(hash, true)
	if !ok {
		return Found{}, ErrNotFound
	}
	return t.readValue(ctx, dst, key, &ref)
}

// RaiseGrace has values be had by GetStale for so many milliseconds after their deadlines, if
// that is longer than now.
func (t *Tier) RaiseGrace(millis int64) {
	for now := t.grace.Load(); now < millis && !t.grace.CompareAndSwap(now, millis); now = t.grace.Load() {
	}
}

// GetStale is Get that also finds a value that expired no more than Config.Grace ago. For
// admission it is no read.
func (t *Tier) GetStale(ctx context.Context, dst, key []byte, hash uint64) (Found, error) {
	ref, ok := t.locate(hash, false)
	if !ok {
		return Found{}, ErrNotFound
	}
	ref.stale = true
	return t.readValue(ctx, dst, key, &ref)
}

// Peek is Get without the value, whose place dst takes. For admission it is no read.
func (t *Tier) Peek(ctx context.Context, dst, key []byte, hash uint64) (Found, error) {
	ref, ok := t.locate(hash, false)
	if !ok {
		return Found{}, ErrNotFound
	}
	ref.peek = true
	f, err := t.readValue(ctx, nil, key, &ref)
	f.Value = dst
	return f, err
}

// readValue reads and checks the value of a record.
func (t *Tier) readValue(ctx context.Context, dst, key []byte, ref *recordRef) (Found, error) {
	f, err := t.readRecord(ctx, dst, key, ref)
	if err == nil && f.head.Parts > 0 { // and the buffer it was read from is free again
		return t.readParts(ctx, dst, ref, f)
	}
	return f, err
}

// readRecord reads and checks a record.
func (t *Tier) readRecord(ctx context.Context, dst, key []byte, ref *recordRef) (Found, error) {
	if seg := t.log.Pin(ref.slot, t.log.Serial(ref.lsn)); seg != nil {
		defer t.log.Unpin(seg)
		return t.verify(dst, key, ref, seg.Buf[ref.off:seg.Limit()])
	}
	end := t.startRead(ctx, 1)
	buf, view, err := t.fetch(ctx, ref)
	end(err)
	switch {
	case errors.Is(err, format.ErrCorrupt):
		return Found{}, t.corruptHeader(ref)
	case err != nil:
		return Found{}, t.readFailed(ctx, ref, err)
	}
	defer buf.Release()
	t.health.BadReads.OK()
	return t.verify(dst, key, ref, view)
}

// verify checks the bytes of a record, and takes the value or the head from them.
func (t *Tier) verify(dst, key []byte, ref *recordRef, b []byte) (f Found, err error) {
	r, err := format.ParseRecord(b, format.Origin{Log: t.log.Number(), LSN: ref.lsn})
	if err == nil && r.Flags&format.FlagCompressed != 0 && string(r.Key) == string(key) {
		f.Value, err = expand(dst, r.Value)
	}
	switch {
	case !t.isCurrent(ref):
		return Found{}, ErrChanged
	case err != nil:
		t.dropCorrupt(ref)
		return Found{}, format.ErrCorrupt
	case string(r.Key) != string(key) || r.Kind() == format.IsPart:
		t.count.collisions.Add(1)
		return Found{Token: ref.lsn}, ErrNotFound
	case t.expired(r.Deadline, ref.stale):
		return Found{Token: ref.lsn}, ErrNotFound // its room comes back when its segment is reclaimed
	}
	f.Deadline, f.Token = r.Deadline, ref.lsn
	if r.Kind() == format.IsHead && !ref.peek {
		head, ok := format.ParseHead(r.Value)
		if !ok {
			t.dropCorrupt(ref)
			return Found{}, format.ErrCorrupt
		}
		f.head = head
		return f, nil
	}
	if r.Flags&format.FlagCompressed == 0 {
		f.Value = append(dst, r.Value...)
	}
	return f, nil
}

// CountHit counts a read that a value which Get or GetMany has found answers.
func (t *Tier) CountHit() { t.count.hits.Add(1) }
