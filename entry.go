package firn

import (
	"context"
	"fmt"
	"time"

	"github.com/firncache/firn/internal/tiered"
)

// Entry is a value with what the cache knows of it.
type Entry struct {
	Value []byte        // is the caller's
	TTL   time.Duration // how long it has to live, or Forever
	Tier  Tier          // where it was found
}

// TypedEntry is an Entry of a typed cache.
type TypedEntry[V any] struct {
	Value V
	TTL   time.Duration // how long it has to live, or Forever
	Tier  Tier          // where it was found
}

// Tier is a place where a value can be.
type Tier uint8

// The tiers, the fastest first.
const (
	TierFront Tier = iota + 1 // a hot value, above the bytes
	TierRAM
	TierSSD
	TierShared // a copy in RAM or on the SSD that was checked there is found where it lies
)

func (t Tier) String() string {
	switch t {
	case TierFront:
		return "front"
	case TierRAM:
		return "RAM"
	case TierSSD:
		return "SSD"
	case TierShared:
		return "shared"
	}
	return fmt.Sprintf("Tier(%d)", uint8(t))
}

// MarshalText returns what String does.
func (t Tier) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// LookupEntry is Lookup that also returns how long the value has to live, and where it was
// found: a value from the SSD is in RAM afterwards, as a rule. It is one look, so all of
// it is of one value.
func (c *Cache) LookupEntry(ctx context.Context, dst, key []byte) (Entry, error) {
	if err := checkOrder(dst, key); err != nil {
		return Entry{Value: dst}, err
	}
	v, deadline, at, err := c.store.LookupEntry(ctx, dst, key)
	if err != nil {
		return Entry{Value: v}, err
	}
	return Entry{v, c.timeTo(deadline), tierOf(at)}, nil
}

func tierOf(at tiered.Place) Tier {
	return [...]Tier{tiered.InRAM: TierRAM, tiered.OnSSD: TierSSD, tiered.InShared: TierShared}[at]
}

// LookupEntry is Lookup that also returns how long the value has to live, and where it was
// found.
func (t *Typed[K, V]) LookupEntry(ctx context.Context, key K) (TypedEntry[V], error) {
	if e := t.getHotFor(ctx, key); e != nil && !e.shortened {
		if t.hits.Count() {
			t.readAgain(key)
		}
		return TypedEntry[V]{e.value, t.c.timeTo(t.deadlineOfHot(e.deadline)), TierFront}, nil
	}
	s := t.acquire()
	defer t.release(s)
	s.k = key
	v, deadline, at, err := t.readEntry(ctx, s)
	if err != nil {
		return TypedEntry[V]{Value: v}, err
	}
	return TypedEntry[V]{v, t.c.timeTo(deadline), tierOf(at)}, nil
}

// readEntry is read that also returns the deadline, and where the value was found.
func (t *Typed[K, V]) readEntry(ctx context.Context, s *scratch[K]) (v V, deadline int64, at tiered.Place, err error) {
	if t.fills() {
		v, found, err := t.readFill(ctx, s)
		return v, found.Deadline, found.At, err
	}
	if err = t.encodeKey(ctx, s); err != nil {
		return v, 0, 0, err
	}
	if s.value, deadline, at, err = t.c.store.LookupEntry(ctx, s.value[:0], s.key); err == nil {
		v, err = t.decode(ctx, s.key, s.value)
	}
	t.space.Counters.Read(err == nil)
	return v, deadline, at, err
}
