package firn

import (
	"context"
	"errors"

	"github.com/firncache/firn/internal/coherence"
)

// TypedBatch holds the values of one GetMulti or GetOrLoadMulti of a typed cache, as a Batch does.
type TypedBatch[V any] struct {
	values []V
	found  []typedAnswer

	batch Batch
	raw   rawKeys
}

// typedAnswer is what a batch says of a key.
type typedAnswer struct {
	ok   bool // there is a value
	came Outcome
}

// hit is the answer for a value that was there.
var hit = typedAnswer{true, OutcomeHit}

// rawKeys are the keys of a batch that are looked up, as bytes, one after the
// other in one buffer.
type rawKeys struct {
	bytes []byte
	ends  []int
	at    []int // where in the batch they stand
	keys  [][]byte

	missing []int // those that are loaded
}

// Len is the number of keys of the last call.
func (b *TypedBatch[V]) Len() int { return len(b.found) }

// Value is the value of key i of the last call, and whether there was one. It
// is the caller's.
func (b *TypedBatch[V]) Value(i int) (value V, ok bool) { return b.values[i], b.found[i].ok }

// Outcome is how the last call came by the value of key i, or by its absence.
func (b *TypedBatch[V]) Outcome(i int) Outcome { return b.found[i].came }

// reset empties the batch and makes room for n values.
func (b *TypedBatch[V]) reset(n int) {
	clear(b.values)
	b.values, b.found = grown(b.values, n), grown(b.found, n)
	clear(b.found)
	b.raw.reset()
}

// grown is s with length n.
func grown[T any](s []T, n int) []T {
	if n > cap(s) {
		return make([]T, n)
	}
	return s[:n]
}

func (r *rawKeys) reset() {
	r.bytes, r.ends, r.at = r.bytes[:0], r.ends[:0], r.at[:0]
	clear(r.keys)
	r.keys = r.keys[:0]
}

// add adds the bytes of key i of the batch.
func (r *rawKeys) add(i int, key []byte) {
	r.bytes = append(r.bytes, key...)
	r.ends, r.at = append(r.ends, len(r.bytes)), append(r.at, i)
}

// slices are the keys, when all have been added.
func (r *rawKeys) slices() [][]byte {
	start := 0
	for _, end := range r.ends {
		r.keys = append(r.keys, r.bytes[start:end:end])
		start = end
	}
	return r.keys
}

// GetMulti looks up many keys at once, as Cache.GetMulti. The results are in b. A key that cannot
// be encoded is an error.
func (t *Typed[K, V]) GetMulti(ctx context.Context, b *TypedBatch[V], keys []K) error {
	b.reset(len(keys))
	in, err := t.space.ToRead(ctx)
	if err != nil {
		return unlessNotFound(err)
	}
	first := t.addKeys(ctx, b, keys, in, false)
	raw := b.raw.slices()
	if err := t.cfg.c.GetMulti(ctx, &b.batch, raw); first == nil {
		first = err
	}
	t.decodeMulti(ctx, b, raw)
	return first
}

// unlessNotFound is the error of a batch: that something is not found is none.
func unlessNotFound(err error) error {
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// decodeMulti decodes the values that were found, and counts these lookups.
func (t *Typed[K, V]) decodeMulti(ctx context.Context, b *TypedBatch[V], raw [][]byte) {
	hits := 0
	for j, i := range b.raw.at {
		if value, ok := b.batch.Value(j); ok {
			v, err := t.decode(ctx, raw[j], value)
			if err == nil {
				b.values[i], b.found[i] = v, hit
			}
			if err == nil && t.cfg.loads.Slides() {
				t.moveDeadline(raw[j], value, b.batch.found.Deadline(j))
			}
		}
		if b.found[i].ok {
			hits++
		}
	}
	t.space.Counters.ReadMulti(hits, len(raw)-hits)
}

// addKeys puts hot values into the batch, but for those that a load is to
// refresh, and adds the bytes of the other keys to those that are looked up. It
// returns the first key's error.
func (t *Typed[K, V]) addKeys(ctx context.Context, b *TypedBatch[V], keys []K, in *coherence.Generation, loading bool) (first error) {
	s := t.acquire()
	defer t.release(s)
	for i, key := range keys {
		if e := t.getHotFor(ctx, key); e != nil && !(loading && e.needsRefresh(t.cfg.loads)) {
			t.hot.Load().hits.Count()
			b.values[i], b.found[i] = e.value, hit
			continue
		}
		s.k = key
		if err := t.encodeKeyIn(s, in); err == nil {
			b.raw.add(i, s.key)
		} else if first == nil {
			first = err
		}
	}
	return first
}
