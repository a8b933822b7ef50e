package ssd

import (
	"context"

	"github.com/firncache/firn/bufpool"
	"github.com/firncache/firn/internal/ssd/format"
)

// startRead begins the span of a caller's reads, if there is to be one.
func (t *Tier) startRead(ctx context.Context, records int) (end func(error)) {
	if t.cfg.StartRead == nil || ctx == background || records == 0 {
		return func(error) {}
	}
	return t.cfg.StartRead(ctx, records)
}

// fetch reads the bytes of a record from the file.
func (t *Tier) fetch(ctx context.Context, ref *recordRef) (*bufpool.Buffer, []byte, error) {
	until := t.reader.Deadline()
	n, bounded := t.index.MaxBytes(ref.entry)
	off, length, skip := t.alignedRange(ref, n)
	buf, err := t.readFor(ctx, ref, until, off, length)
	if err != nil || bounded {
		return buf, view(buf, skip), err
	}
	r, err := format.ParseHeader(view(buf, skip))
	if err == nil && r.Size <= length-skip {
		return buf, view(buf, skip), nil
	}
	buf.Release()
	if err != nil {
		return nil, nil, err
	}
	off, length, skip = t.alignedRange(ref, r.Size)
	buf, err = t.readFor(ctx, ref, until, off, length)
	return buf, view(buf, skip), err
}

// readFor reads some bytes for a record.
func (t *Tier) readFor(ctx context.Context, ref *recordRef, until int64, off int64, length int) (*bufpool.Buffer, error) {
	if ref.waits {
		return t.reader.Read(ctx, off, length)
	}
	return t.reader.Try(ctx, until, off, length)
}

func view(b *bufpool.Buffer, skip int) []byte {
	if b == nil {
		return nil
	}
	return b.Bytes()[skip:]
}
