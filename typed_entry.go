package firn

import (
	"context"

	"github.com/firncache/firn/internal/local"
)

// LookupEntry is Lookup that also returns how long the value has to live, and where it was
// found.
func (t *Typed[K, V]) LookupEntry(ctx context.Context, key K) (TypedEntry[V], error) {
	if e := t.getHotFor(ctx, key); e != nil && !e.isShortened() {
		if t.hot.Load().hits.Count() {
			t.readAgain(key)
		}
		return t.hotFound(e), nil
	}
	return t.lookupEntry(ctx, key)
}

// lookupEntry is LookupEntry past the hot values.
func (t *Typed[K, V]) lookupEntry(ctx context.Context, key K) (TypedEntry[V], error) {
	s := t.acquire()
	defer t.release(s)
	s.k = key
	v, deadline, at, err := t.readEntry(ctx, s)
	if err != nil {
		return TypedEntry[V]{Value: v}, err
	}
	return TypedEntry[V]{v, t.cfg.c.timeTo(deadline), tierOf(at), OutcomeHit}, nil
}

// hotFound is the entry of a hot value.
func (t *Typed[K, V]) hotFound(e *hotEntry[V]) TypedEntry[V] {
	return TypedEntry[V]{e.value, t.cfg.c.timeTo(t.deadlineOfHot(e.deadline)), TierFront, OutcomeHit}
}

// readEntry is read that also returns the deadline, and where the value was found.
func (t *Typed[K, V]) readEntry(ctx context.Context, s *scratch[K]) (v V, deadline int64, at local.Place, err error) {
	if t.cfg.fills {
		v, found, err := t.readFill(ctx, s)
		return v, found.Deadline, found.At, err
	}
	if err = t.encodeKey(ctx, s); err != nil {
		return v, 0, 0, err
	}
	if s.value, deadline, at, err = t.cfg.c.store.LookupEntry(ctx, t.room(s), s.key); err == nil {
		v, err = t.decodeRead(ctx, s)
	}
	t.space.Counters.Read(err == nil)
	return v, deadline, at, err
}
