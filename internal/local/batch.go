package local

import (
	"context"
	"errors"

	"github.com/firncache/firn/internal/ram"
	"github.com/firncache/firn/internal/ssd"
)

// Values are the values of some keys.
type Values = ram.Values

// Batch holds the values of one LookupMulti. The zero Batch is ready for use.
type Batch struct {
	ram.Batch
	onSSD ssdQueries
}

// ssdQueries is the scratch space for keys that are looked up in the SSD tier.
type ssdQueries struct {
	many  ssd.Many
	index []int // of each query in the batch
	again []int // those to be looked up once more, one by one
}

// LookupMulti looks up many keys, so that the waiting for their memory, and for
// the SSD, overlaps. It returns the first error other than ErrNotFound.
func (s *Store) LookupMulti(ctx context.Context, b *Batch, keys [][]byte) error {
	s.RAM.GetMulti(&b.Batch, keys)
	var err error
	if s.ssd != nil && b.Misses > 0 {
		collect(&b.onSSD, &b.Batch, keys)
		err = s.lookupSSDMulti(ctx, b)
	}
	s.KeepAlive()
	return err
}

// collect makes queries for the keys that are missing.
func collect(q *ssdQueries, b *ram.Batch, keys [][]byte) {
	q.many.Queries, q.index = q.many.Queries[:0], q.index[:0]
	for i, key := range keys {
		if _, ok := b.Value(i); !ok {
			q.index = append(q.index, i)
			q.many.Queries = append(q.many.Queries, ssd.Query{Key: key, Hash: b.Hashes[i]})
		}
	}
}

// lookupSSDMulti looks up the keys of a batch that RAM does not have, and returns
// the first error other than ErrNotFound.
func (s *Store) lookupSSDMulti(ctx context.Context, b *Batch) (first error) {
	b.onSSD.again = b.onSSD.again[:0]
	s.ssd.tier.GetMany(ctx, &b.onSSD.many, func(i int, f ssd.Found, err error) {
		q := &b.onSSD.many.Queries[i]
		start, deadline := len(b.Bytes), int64(0)
		if err == nil {
			b.Bytes = append(b.Bytes, f.Value...)
			deadline = s.answer(q.Hash, q.Key, f.Value, &f)
		} else {
			v, at, ok := s.RAM.Peek(q.Hash, b.Bytes, q.Key) // as findBelow does
			switch {
			case !ok && errors.Is(err, ssd.ErrChanged):
				b.onSSD.again = append(b.onSSD.again, i)
				return
			case !ok:
				s.RAM.ObserveLower(q.Hash, false, len(q.Key), 0, 0)
				if err := s.lookupError(ctx, err); first == nil && err != ErrNotFound {
					first = err
				}
				return
			}
			b.Bytes, deadline = v, at
		}
		b.Put(b.onSSD.index[i], start, deadline)
	})
	for _, i := range b.onSSD.again {
		q := &b.onSSD.many.Queries[i]
		start := len(b.Bytes)
		var deadline int64
		var err error
		if b.Bytes, deadline, _, err = s.lookupSSD(ctx, q.Hash, b.Bytes, q.Key); err == nil {
			b.Put(b.onSSD.index[i], start, deadline)
		} else if first == nil && err != ErrNotFound {
			first = err
		}
	}
	return first
}
