package firn

import (
	"context"
	"fmt"
	"runtime"

	"github.com/firncache/firn/internal/ram"
	"github.com/firncache/firn/internal/ssd"
)

// Batch holds the values of one GetMulti. The zero Batch is ready for use; used
// again, it allocates nothing once it is large enough. A Batch serves one
// goroutine at a time.
type Batch struct {
	bytes  []byte
	spans  []span // where in bytes each value is
	window ram.Window
	below  below
}

// span is the place of one value; end is -1 for a miss.
type span struct{ start, end int }

// below is the scratch space for keys that are looked up in the SSD tier.
type below struct {
	many  ssd.Many
	index []int // of each query in the batch
	again []int // those to be looked up once more, one by one
}

// Len is the number of keys of the last GetMulti.
func (b *Batch) Len() int { return len(b.spans) }

// Value is the value of key i of the last GetMulti, and whether there was one.
// It is valid until the Batch is used again, and may be changed, not grown.
func (b *Batch) Value(i int) (value []byte, ok bool) {
	s := b.spans[i]
	if s.end < 0 {
		return nil, false
	}
	return b.bytes[s.start:s.end:s.end], true
}

// miss makes it a batch of n keys without values.
func (b *Batch) miss(n int) {
	b.bytes, b.spans = b.bytes[:0], b.spans[:0]
	for range n {
		b.spans = append(b.spans, span{0, -1})
	}
}

// GetMulti looks up many keys at once: their cache misses overlap, so that a
// key costs a fraction of a Get, and an SSD is given many reads at once. The
// results are in b, which is emptied first. The batch is not atomic: each key is
// looked up on its own.
func (c *Cache) GetMulti(b *Batch, keys [][]byte) {
	_ = c.LookupMulti(context.Background(), b, keys)
}

// LookupMulti is GetMulti with a context, which ends the waiting for the SSD
// tier: what has not been read by then is missing in b. It returns the first
// error other than ErrNotFound, as Lookup does.
func (c *Cache) LookupMulti(ctx context.Context, b *Batch, keys [][]byte) error {
	b.bytes, b.spans = b.bytes[:0], b.spans[:0]
	b.below.many.Queries, b.below.index = b.below.many.Queries[:0], b.below.index[:0]
	for rest := keys; len(rest) > 0; {
		n := min(len(rest), ram.BatchWindow)
		c.ram.Prepare(&b.window, rest[:n])
		for i, key := range rest[:n] {
			start, ok := len(b.bytes), false
			if b.bytes, ok = c.ram.Get(b.bytes, key); ok {
				b.spans = append(b.spans, span{start, len(b.bytes)})
				continue
			}
			if c.disk != nil {
				b.below.index = append(b.below.index, len(b.spans))
				b.below.many.Queries = append(b.below.many.Queries, ssd.Query{Key: key, Hash: b.window.Hash(i)})
			}
			b.spans = append(b.spans, span{0, -1})
		}
		rest = rest[n:]
	}
	var err error
	if len(b.below.index) > 0 {
		err = c.lookManyBelow(ctx, b)
	}
	runtime.KeepAlive(c)
	return err
}

// SetMulti stores values[i] under keys[i], with Options.TTL, at a fraction of
// the cost of single Sets. It stores as many as it can, and then returns the
// first error; slices of different lengths are an error before anything is
// stored.
func (c *Cache) SetMulti(keys, values [][]byte) error {
	if len(keys) != len(values) {
		return fmt.Errorf("firn: SetMulti: %d values for %d keys: want as many", len(values), len(keys))
	}
	deadline, first := c.deadline(c.ttl)
	var window ram.Window
	for len(keys) > 0 {
		n := min(len(keys), ram.BatchWindow)
		c.ram.Prepare(&window, keys[:n])
		for i, key := range keys[:n] {
			if c.loading.TTLJitter != 0 {
				deadline, _ = c.deadline(c.jittered(c.ttl)) // each its own
			}
			stripe := c.typed.fronts.begin(key)
			err := c.ram.SetPrepared(&window, i, key, values[i], deadline)
			c.typed.fronts.end(stripe, key)
			if first == nil {
				first = c.stored(err, key, values[i])
			}
		}
		keys, values = keys[n:], values[n:]
	}
	return first
}
