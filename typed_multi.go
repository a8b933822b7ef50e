package firn

import (
	"context"

	"github.com/firncache/firn/internal/coherence"
)

// multiWindow is how many entries of a batch are encoded at once, unless they have
// maxScratch bytes before.
const multiWindow = 128

// multiScratch is the heap memory of a SetMulti or DeleteMulti.
type multiScratch struct {
	bytes        []byte
	ends         []int // of keys and values in bytes, in turn
	keys, values [][]byte
}

// SetMulti stores values[i] under keys[i], with TypedOptions.TTL, at a fraction of the cost
// of single Sets. It stores as many as it can, and then returns the first error, also
// of one that cannot be encoded; slices of different lengths are an error before
// anything is stored.
func (t *Typed[K, V]) SetMulti(keys []K, values []V) error {
	return t.SetMultiContext(context.Background(), keys, values)
}

// DeleteMulti removes the values of many keys, as many as it can, and returns the first
// error, also of a key that cannot be encoded. That there were none is no error.
func (t *Typed[K, V]) DeleteMulti(keys []K) error {
	return t.DeleteMultiContext(context.Background(), keys)
}

// encodeMulti makes the bytes of the first n keys, in a generation, and of values if there are any, but
// for entries of which one cannot be encoded: a key without its value is deleted. It returns the first error.
func (t *Typed[K, V]) encodeMulti(ctx context.Context, m *multiScratch, in *coherence.Generation, keys []K, values []V) (n int, first error) {
	s := t.acquire()
	defer t.release(s)
	m.bytes, m.ends, m.keys, m.values = m.bytes[:0], m.ends[:0], m.keys[:0], m.values[:0]
	for ; n < min(len(keys), multiWindow) && len(m.bytes) < maxScratch; n++ {
		s.k, s.value = keys[n], s.value[:0]
		err := t.encodeKeyIn(s, in)
		if err == nil && values != nil {
			if s.value, err = t.encode(s.value[:0], values[n]); err != nil {
				_ = t.c.DeleteContext(ctx, s.key) // as Set does
			}
		}
		if err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		m.bytes = append(m.bytes, s.key...)
		m.ends = append(m.ends, len(m.bytes))
		m.bytes = append(m.bytes, s.value...)
		m.ends = append(m.ends, len(m.bytes))
	}
	m.slice()
	return n, first
}

// slice makes keys and values of the bytes, when all are there.
func (m *multiScratch) slice() {
	from := 0
	for i := 0; i < len(m.ends); i += 2 {
		key, value := m.ends[i], m.ends[i+1]
		m.keys = append(m.keys, m.bytes[from:key:key])
		m.values = append(m.values, m.bytes[key:value:value])
		from = value
	}
}
