package ssd

import (
	"context"

	"github.com/firncache/firn/internal/aio"
)

// Query is one key of a GetMany.
type Query struct {
	Key  []byte
	Hash uint64
	ref  recordRef
	req  int
}

// Many is the scratch space of GetMany.
type Many struct {
	Queries []Query
	reqs    []aio.Request
	value   []byte
}

// GetMany looks up all queries, with many reads of the disk at once, in windows,
// each of which waits for the disk as a Get does. For each query, in any order, it
// calls found with the results of Get; the value is a view that is lent
// until found returns. All calls under way share readMemory: the buffers of each
// take no more than its part, or than one record.
func (t *Tier) GetMany(ctx context.Context, m *Many, found func(i int, f Found, err error)) {
	t.batches.Add(1)
	defer t.batches.Add(-1)
	for from := 0; from < len(m.Queries); {
		to := t.locateWindow(ctx, m, from, found)
		t.readWindow(ctx, m, from, to, found)
		from = to
	}
}

// locateWindow plans the reads of the queries from a place on, until their
// buffers are as large as they may be, and returns the place of the first query
// that has to wait for the next window. A query that needs no read of its own is answered
// at once.
func (t *Tier) locateWindow(ctx context.Context, m *Many, from int, found func(i int, f Found, err error)) (to int) {
	m.reqs = m.reqs[:0]
	room := t.cfg.readMemory() / max(t.batches.Load(), 1)
	for to = from; to < len(m.Queries); to++ {
		q := &m.Queries[to]
		var ok bool
		q.req = -1
		if q.ref, ok = t.locate(q.Hash, true); !ok {
			found(to, Found{}, ErrNotFound)
			continue
		}
		n, bounded := t.index.MaxBytes(q.ref.entry)
		if seg := t.log.Pin(q.ref.slot, t.log.Serial(q.ref.lsn)); seg != nil || !bounded {
			if seg != nil {
				t.log.Unpin(seg)
			}
			f, err := t.readValue(ctx, m.value[:0], q.Key, &q.ref)
			recycle(m, f.Value)
			found(to, f, err)
			continue
		}
		off, length, _ := t.alignedRange(&q.ref, n)
		if room -= int64(length); room < 0 && len(m.reqs) > 0 {
			return to
		}
		q.req = len(m.reqs)
		m.reqs = append(m.reqs, aio.Request{Off: off, N: length})
	}
	return to
}

// readWindow does the reads that locateWindow has planned for the queries of a window.
func (t *Tier) readWindow(ctx context.Context, m *Many, from, to int, found func(i int, f Found, err error)) {
	if len(m.reqs) == 0 {
		return
	}
	end := t.startRead(ctx, len(m.reqs))
	t.reader.TryMany(ctx, t.reader.Deadline(), m.reqs)
	end(firstError(m.reqs))
	for i := from; i < to; i++ {
		q := &m.Queries[i]
		if q.req < 0 {
			continue
		}
		f, err := t.verifyRequest(ctx, m.value[:0], q, &m.reqs[q.req])
		recycle(m, f.Value)
		found(i, f, err)
		if b := m.reqs[q.req].Buf; b != nil {
			b.Release()
		}
	}
	clear(m.reqs)
}

// recycle keeps a value's memory for the next, unless it is large.
func recycle(m *Many, value []byte) {
	if cap(value) <= 64<<10 {
		m.value = value[:0]
	}
}

func (t *Tier) verifyRequest(ctx context.Context, dst []byte, q *Query, req *aio.Request) (Found, error) {
	if req.Err != nil {
		return Found{}, t.readFailed(ctx, &q.ref, req.Err)
	}
	t.health.BadReads.OK()
	n, _ := t.index.MaxBytes(q.ref.entry)
	_, _, skip := t.alignedRange(&q.ref, n)
	return t.verify(dst, q.Key, &q.ref, req.Buf.Bytes()[skip:])
}
