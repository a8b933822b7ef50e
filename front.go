package firn

import (
	"context"
	"fmt"
	"reflect"

	"github.com/firncache/firn/internal/codec"
	"github.com/firncache/firn/internal/coherence"
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/internal/tiered"
	"github.com/firncache/firn/internal/typed"
)

// Front is a small cache of decoded values on the Go heap, above the bytes: what
// is found there is neither copied nor decoded. TypedOptions.HotValues is firn's own.
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

// kept is where a typed cache finds decoded values: a Front, or its hot values.
type kept[K comparable, V any] interface {
	Get(key K) *FrontEntry[V]
	Delete(key K)
}

// frontHead tells whether an entry still holds.
type frontHead struct {
	generation *coherence.Generation // that was current before the bytes were read
	deadline   int64                 // milliseconds, 0 for never: the value's, or when a read is to move that (see frontDeadline)
	tags       typed.Head            // nil without any
	stamp      shared.Stamp          // of the copy that the value was made of; 0 without a shared tier
	shortened  bool                  // the deadline is the copy's, and that of the bytes is later
}

// holds reports whether the deadline is to come, and no tag was invalidated.
func (h *frontHead) holds(c *Cache) bool {
	return (h.deadline == 0 || !c.store.Passed(h.deadline)) && (h.tags == nil || c.typed.tags.Hold(h.tags))
}

// attachFront gives a typed cache its front.
func (t *Typed[K, V]) attachFront(front kept[K, V]) {
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
		if t.c.store.Numbers() != nil {
			return t.getTrusted(context.Background(), key)
		}
		if e := t.front.Get(key); e != nil && e.generation == t.space.Generation() && e.holds(t.c) && !t.closed.Load() {
			return e
		}
	}
	return nil
}

// getFrontFor is getFront of a call with a context.
func (t *Typed[K, V]) getFrontFor(ctx context.Context, key K) *FrontEntry[V] {
	if t.front != nil && t.c.store.Numbers() != nil {
		return t.getTrusted(ctx, key)
	}
	return t.getFront(key)
}

// getTrusted is getFront with a shared tier: nobody need be asked whether the value is the
// latest.
func (t *Typed[K, V]) getTrusted(ctx context.Context, key K) *FrontEntry[V] {
	if shared.CallOf(ctx).SkipLocal {
		return nil
	}
	mark := t.c.store.TrustMark()
	e := t.front.Get(key)
	if e == nil || e.generation != t.space.Generation() || !t.space.Trusted(e.generation) || !e.holds(t.c) || t.closed.Load() {
		return nil
	}
	if !t.c.store.TrustedSince(mark, e.stamp) {
		return nil
	}
	return e
}

// needsRefresh reports whether the value is to be refreshed.
func (h *frontHead) needsRefresh(c *Cache) bool { return !h.shortened && c.needsRefresh(h.deadline) }

// readAgain reads the bytes of a key that was found in the front.
func (t *Typed[K, V]) readAgain(key K) {
	s := t.acquire()
	s.k = key
	if t.encodeKey(context.Background(), s) == nil {
		s.value, _ = t.c.Get(s.value[:0], s.key)
	}
	t.release(s)
}

// readFill is read that puts the value found into the front, and also tells what is known of
// it.
func (t *Typed[K, V]) readFill(ctx context.Context, s *scratch[K]) (v V, found tiered.Kept, err error) {
	if err = t.encodeKey(ctx, s); err != nil {
		return v, found, err
	}
	return t.fill(ctx, s, false)
}

// fill is readFill of s.key; with local, of what can be found without a shared tier.
func (t *Typed[K, V]) fill(ctx context.Context, s *scratch[K], local bool) (v V, found tiered.Kept, err error) {
	fill := t.c.typed.fronts.BeginFill(s.key)
	if s.value, found, err = t.c.store.LookupToKeep(ctx, s.value[:0], s.key, local); err == nil {
		v, err = t.decode(ctx, s.key, s.value)
	}
	t.space.Counters.Read(err == nil)
	if err != nil || found.Stamp == 0 && t.c.store.Numbers() != nil {
		return v, found, err
	}
	if t.hot != nil {
		t.putHot(s, fill, found, v)
	} else if fill.Lock() {
		defer fill.Unlock()
		t.front.(Front[K, V]).Set(s.k, &FrontEntry[V]{t.frontHead(s, found), v})
	}
	return v, found, nil
}

// frontHead is the head of an entry with the value that was found.
func (t *Typed[K, V]) frontHead(s *scratch[K], found tiered.Kept) frontHead {
	return frontHead{s.in, t.c.frontDeadline(found.Deadline), tagsOf(s.value), found.Stamp, found.Shortened}
}

// frontDeadline is until when a front may answer with a value that has this deadline. A
// read that would move the deadline goes to the bytes, and from there to the front with
// the new one.
func (c *Cache) frontDeadline(deadline int64) int64 {
	if c.slideLead == 0 || deadline <= 0 || deadline&1 != 0 {
		return deadline
	}
	return max(deadline-c.slideLead, 2)
}

// deadlineOfFront is the deadline of a value in a front with this one: the reverse of
// frontDeadline, as slideLead is even.
func (c *Cache) deadlineOfFront(until int64) int64 {
	if c.slideLead == 0 || until <= 0 || until&1 != 0 {
		return until
	}
	return until + c.slideLead
}

// checkHot refuses hot values that would not be coherent, or could be changed by a caller.
func (t *Typed[K, V]) checkHot(opts *TypedOptions[K, V]) error {
	v := reflect.TypeFor[V]()
	switch {
	case opts.HotValues == 0:
		return nil
	case opts.HotValues < 0:
		return fmt.Errorf("firn: TypedOptions.HotValues is %d: want 0 or more values", opts.HotValues)
	case opts.Front != nil:
		return fmt.Errorf("firn: TypedOptions.HotValues with a Front: want one of them")
	case !t.keys.Exact():
		return fmt.Errorf("firn: TypedOptions.HotValues with keys of type %s: want numbers, bools, strings, or structs "+
			"and arrays of these, without AppendBinary and TypedOptions.KeyCodec", codec.TypeName(reflect.TypeFor[K]()))
	case !opts.ReadOnly && !codec.IsImmutable(v):
		return fmt.Errorf("firn: TypedOptions.HotValues with values of type %s, which a caller of Get can change: "+
			"want TypedOptions.ReadOnly, if none does", codec.TypeName(v))
	}
	return nil
}

// putHot puts a value that was read into the hot ones, unless its bytes have changed since fill.
func (t *Typed[K, V]) putHot(s *scratch[K], fill coherence.Fill, found tiered.Kept, v V) {
	place, ok := t.hot.Admit(s.k, len(s.key)+len(s.value))
	if !ok {
		return
	}
	key, err := t.keys.Parse(s.key[coherence.GenerationLen:]) // a caller's string may lie in a buffer that is used again
	if err != nil || !fill.Lock() {
		t.hot.Forgo(place)
		return
	}
	defer fill.Unlock()
	t.hot.Put(key, FrontEntry[V]{t.frontHead(s, found), v}, place)
}
