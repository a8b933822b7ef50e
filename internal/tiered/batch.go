package tiered

import (
	"context"

	"github.com/firncache/firn/internal/ram"
	"github.com/firncache/firn/internal/ssd"
)

// Values are the values of some keys, one after the other in one buffer. Some of
// them may be missing. The zero Values are none.
type Values struct {
	Bytes []byte
	spans []span // where in Bytes each value is
}

// span is the place of one value; end is -1 for a miss.
type span struct{ start, end int }

// Len is the number of keys.
func (v *Values) Len() int { return len(v.spans) }

// Value is the value of key i, and whether there is one.
func (v *Values) Value(i int) (value []byte, ok bool) {
	s := v.spans[i]
	if s.end < 0 {
		return nil, false
	}
	return v.Bytes[s.start:s.end:s.end], true
}

// End ends the value of the next key, which is Bytes from start; without
// ok there is none.
func (v *Values) End(start int, ok bool) {
	if ok {
		v.spans = append(v.spans, span{start, len(v.Bytes)})
	} else {
		v.spans = append(v.spans, span{0, -1})
	}
}

// Reset makes them those of n keys that are all missing.
func (v *Values) Reset(n int) {
	v.Bytes, v.spans = v.Bytes[:0], v.spans[:0]
	for range n {
		v.End(0, false)
	}
}

// Batch holds the values of one LookupMulti. The zero Batch is ready for use.
type Batch struct {
	Values
	window ram.Window
	onSSD  ssdQueries
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
	b.Bytes, b.spans = b.Bytes[:0], b.spans[:0]
	b.onSSD.many.Queries, b.onSSD.index = b.onSSD.many.Queries[:0], b.onSSD.index[:0]
	for rest := keys; len(rest) > 0; {
		n := min(len(rest), ram.BatchWindow)
		s.ram.Prepare(&b.window, rest[:n])
		for i, key := range rest[:n] {
			start, ok := len(b.Bytes), false
			if b.Bytes, ok = s.ram.Get(b.Bytes, key); ok {
				b.spans = append(b.spans, span{start, len(b.Bytes)})
				continue
			}
			if s.ssd != nil {
				b.onSSD.index = append(b.onSSD.index, len(b.spans))
				b.onSSD.many.Queries = append(b.onSSD.many.Queries, ssd.Query{Key: key, Hash: b.window.Hash(i)})
			}
			b.spans = append(b.spans, span{0, -1})
		}
		rest = rest[n:]
	}
	var err error
	if len(b.onSSD.index) > 0 {
		err = s.lookupSSDMulti(ctx, b)
	}
	s.keepAlive()
	return err
}

// lookupSSDMulti looks up the keys of a batch that RAM does not have, and returns
// the first error other than ErrNotFound.
func (s *Store) lookupSSDMulti(ctx context.Context, b *Batch) (first error) {
	b.onSSD.again = b.onSSD.again[:0]
	s.ssd.tier.GetMany(ctx, &b.onSSD.many, func(i int, f ssd.Found, err error) {
		q := &b.onSSD.many.Queries[i]
		start := len(b.Bytes)
		if err == nil {
			b.Bytes = append(b.Bytes, f.Value...)
			s.promote(q.Hash, q.Key, f.Value, &f)
		} else {
			v, ok, again := s.recheckRAM(q.Hash, b.Bytes, q.Key, err)
			switch {
			case again:
				b.onSSD.again = append(b.onSSD.again, i)
				return
			case !ok:
				if err := s.lookupError(ctx, err); first == nil && err != ErrNotFound {
					first = err
				}
				return
			}
			b.Bytes = v
		}
		b.spans[b.onSSD.index[i]] = span{start, len(b.Bytes)}
	})
	for _, i := range b.onSSD.again {
		q := &b.onSSD.many.Queries[i]
		start := len(b.Bytes)
		var err error
		if b.Bytes, err = s.lookupSSD(ctx, q.Hash, b.Bytes, q.Key); err == nil {
			b.spans[b.onSSD.index[i]] = span{start, len(b.Bytes)}
		} else if first == nil && err != ErrNotFound {
			first = err
		}
	}
	return first
}
