package firn

import (
	"context"

	"github.com/firncache/firn/internal/coherence"
)

// Front is a small cache of decoded values on the Go heap, above the bytes: what
// is found there is neither copied nor decoded. Package firn/front has one.
//
// It need not keep the values it was given, but once Delete has returned, Get does
// not find an earlier value. All methods may be called at once; they must
// not call the Cache.
type Front[K comparable, V any] interface {
	Get(key K) *FrontEntry[V] // nil without one
	Set(key K, entry *FrontEntry[V])
	Delete(key K)
}

// FrontEntry is a value in a Front, with the means to tell whether it still holds.
type FrontEntry[V any] struct {
	frontHead
	value V
}

// frontHead tells whether an entry still holds.
type frontHead struct {
	generation *coherence.Generation // that was current before the bytes were read
	deadline   int64                 // milliseconds, 0 for never
}

// inTime reports whether the deadline is to come.
func (h *frontHead) inTime(c *Cache) bool { return h.deadline == 0 || !c.store.Passed(h.deadline) }

// attachFront gives a typed cache its front.
func (t *Typed[K, V]) attachFront(front Front[K, V]) {
	t.c.store.SetWriteHook(&t.c.typed.fronts)
	t.front = front
	t.hits, t.detach = t.c.typed.fronts.Attach(t.space.Current(), func(key []byte) {
		if k, err := t.keys.Parse(key); err == nil {
			front.Delete(k)
		}
	})
}

// getFront is Get of the front alone, without counting.
func (t *Typed[K, V]) getFront(key K) *FrontEntry[V] {
	if t.front != nil {
		if e := t.front.Get(key); e != nil && e.generation == t.space.Generation() && e.inTime(t.c) && !t.closed.Load() {
			return e
		}
	}
	return nil
}

// readAgain reads the bytes of a key that was found in the front.
func (t *Typed[K, V]) readAgain(key K) {
	s := t.acquire()
	s.k = key
	if t.encodeKey(s) == nil {
		s.value, _ = t.c.Get(s.value[:0], s.key)
	}
	t.release(s)
}

// readFill is read that puts the value found into the front, and also tells its
// deadline, 0 if that is not known.
func (t *Typed[K, V]) readFill(ctx context.Context, s *scratch[K]) (v V, deadline int64, err error) {
	generation := t.space.Generation()
	if err = t.encodeKeyIn(s, generation); err != nil {
		return v, 0, err
	}
	fill := t.c.typed.fronts.BeginFill(s.key)
	deadline, ok, err := t.lookupDeadline(ctx, s)
	if err == nil {
		v, err = t.decode(s.key, s.value)
	}
	t.space.Counters.Read(err == nil)
	if err != nil || !ok || !fill.Lock() {
		return v, deadline, err
	}
	defer fill.Unlock()
	t.front.Set(s.k, &FrontEntry[V]{frontHead{generation, deadline}, v})
	return v, deadline, nil
}

// lookupDeadline is Cache.Lookup of s.key that also tells the deadline, if it is
// still known when the bytes have come from the SSD.
func (t *Typed[K, V]) lookupDeadline(ctx context.Context, s *scratch[K]) (deadline int64, ok bool, err error) {
	s.value, deadline, ok, err = t.c.store.LookupDeadline(ctx, s.value[:0], s.key)
	if err == nil && !ok {
		deadline, ok = t.c.store.Deadline(s.key)
	}
	return deadline, ok, err
}
