package firn

import (
	"fmt"
	"runtime"

	"github.com/firncache/firn/internal/ram"
)

// Batch holds the values of one GetMulti. The zero Batch is ready for use; used
// again, it allocates nothing once it is large enough. A Batch serves one
// goroutine at a time.
type Batch struct {
	bytes  []byte
	ends   []int // of value i in bytes; its sign bit inverted for a miss
	window ram.Window
}

// Len is the number of keys of the last GetMulti.
func (b *Batch) Len() int { return len(b.ends) }

// Value is the value of key i of the last GetMulti, and whether there was one.
// It is valid until the Batch is used again, and may be changed, not grown.
func (b *Batch) Value(i int) (value []byte, ok bool) {
	start := 0
	if i > 0 {
		start = b.end(i - 1)
	}
	end := b.end(i)
	return b.bytes[start:end:end], b.ends[i] >= 0
}

func (b *Batch) end(i int) int {
	if e := b.ends[i]; e < 0 {
		return ^e
	} else {
		return e
	}
}

// GetMulti looks up many keys at once: their cache misses overlap, so that a
// key costs a fraction of a Get. The results are in b, which is emptied first.
// The batch is not atomic: each key is looked up on its own.
func (c *Cache) GetMulti(b *Batch, keys [][]byte) {
	b.bytes, b.ends = b.bytes[:0], b.ends[:0]
	for len(keys) > 0 {
		n := min(len(keys), ram.BatchWindow)
		c.ram.Prepare(&b.window, keys[:n])
		for i, key := range keys[:n] {
			var ok bool
			if b.bytes, ok = c.ram.GetPrepared(&b.window, i, b.bytes, key); ok {
				b.ends = append(b.ends, len(b.bytes))
			} else {
				b.ends = append(b.ends, ^len(b.bytes))
			}
		}
		keys = keys[n:]
	}
	runtime.KeepAlive(c)
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
			c.supersede(key)
			err := c.ram.SetPrepared(&window, i, key, values[i], deadline)
			c.supersede(key)
			if first == nil {
				first = c.stored(err, key, values[i])
			}
		}
		keys, values = keys[n:], values[n:]
	}
	return first
}
