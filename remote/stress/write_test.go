//go:build linux

package stress

import (
	"context"
	"fmt"
	"time"

	"github.com/firncache/firn"
)

// value is what a loader returns.
func (s *source) value(key uint32) ([]byte, error) {
	n := s.of(unitOf(key)).Load()
	if n == 0 {
		return nil, errNothing
	}
	return appendValue(nil, key, n), nil
}

func tagOf(key uint32) string { return fmt.Sprintf("tag-%d", key%tags) }

// wrote notes how a write ended.
func (w *worker) wrote(o op, key uint32, n, from int64, err error) {
	w.mustBeKnown(o.String(), err)
	if err != nil {
		w.note(kindFailed, o, key, n, from)
		return
	}
	w.note(kindWrite, o, key, n, from)
}

// set is with a time to live now and then: none of them ends within a round's checks.
func (w *worker) set(ctx context.Context, key uint32) {
	n := w.next()
	ttl := []time.Duration{firn.Forever, firn.Forever, 10 * time.Minute}[w.rng.IntN(3)]
	w.buf = appendValue(w.buf[:0], key, n)
	w.wrote(opSet, key, n, n, w.p.cache.SetWith(ctx, keyOf(key), w.buf, firn.SetOptions{TTL: ttl}))
}

func (w *worker) owns(count int) (keys []uint32, names [][]byte) {
	for range count {
		key := w.own(0, setKeys)
		keys, names = append(keys, key), append(names, keyOf(key))
	}
	return keys, names
}

// setMulti sets some keys, of which two may be the same: the later one counts, with the
// larger number.
func (w *worker) setMulti(context.Context) {
	keys, names := w.owns(6)
	var values [][]byte
	first := w.next()
	for i, key := range keys {
		values = append(values, appendValue(nil, key, first+int64(i)))
	}
	w.last += int64(len(keys))
	err := w.p.cache.SetMulti(context.Background(), names, values)
	for i, key := range keys {
		w.wrote(opSetMulti, key, first+int64(i), first, err)
	}
}

func (w *worker) delete(context.Context) {
	key, n := w.own(0, setKeys), w.next()
	w.wrote(opDelete, key, n, n, w.p.cache.Delete(keyOf(key)))
}

func (w *worker) deleteMulti(ctx context.Context) {
	keys, names := w.owns(3)
	n := w.next()
	err := w.p.cache.DeleteMulti(ctx, names...)
	for _, key := range keys {
		w.wrote(opDeleteMulti, key, n, n, err)
	}
}

func (w *worker) touch(ctx context.Context) {
	_, err := w.p.cache.Touch(ctx, keyOf(w.own(0, setKeys)), 10*time.Minute)
	w.mustBeKnown("Touch", err)
}

// compute makes a number of the one that is there, whoever has written it.
func (w *worker) compute(ctx context.Context) {
	key, from, n := firstCompute+w.rng.Uint32N(computeKeys), now(), int64(0)
	err := w.p.cache.Compute(ctx, keyOf(key), func(old []byte, ok bool) ([]byte, firn.Op) {
		n = now()
		if ok {
			before, err := numberOf(key, old)
			if err != nil {
				w.p.fail(err)
			}
			n = max(n, before+1)
		}
		return appendValue(nil, key, n), firn.OpSet
	})
	w.wrote(opCompute, key, n, from, err)
}

// increment counts from 1 in each round, in which nothing may be lost.
func (w *worker) increment(ctx context.Context) {
	if w.p.loses {
		return
	}
	key, from := firstCount+w.rng.Uint32N(countKeys), now()
	name := fmt.Appendf(keyOf(key), " of round %d", w.p.round)
	if w.rng.IntN(2) == 0 {
		value, ok := w.p.cache.Get(nil, name)
		w.found(opGet, key, value, ok, from)
		return
	}
	sum, err := w.p.cache.Increment(ctx, name, 1)
	w.wrote(opIncrement, key, sum, from, err)
}

// changeSource gives a loaded key another value, and then has nobody find the older one.
func (w *worker) changeSource(key uint32) {
	n := w.next()
	w.p.source.of(key).Store(n)
	w.wrote(opDelete, key, n, n, w.p.cache.Delete(keyOf(key)))
}

// changeTag is changeSource for all keys of a tag.
func (w *worker) changeTag(ctx context.Context, tag uint32) {
	key, n := firstTagged+tag, w.next()
	w.p.source.of(firstUnit + tag).Store(n)
	w.wrote(opInvalidateTag, key, n, n, w.p.typed.InvalidateTag(ctx, tagOf(key)))
}
