package firn

import (
	"context"
	"fmt"
	"reflect"
	"runtime"

	"github.com/firncache/firn/internal/codec"
	"github.com/firncache/firn/internal/coherence"
	"github.com/firncache/firn/internal/fleet"
	"github.com/firncache/firn/internal/hot"
	"github.com/firncache/firn/internal/load"
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/internal/typed"
)

// hotEntry is a decoded value above the bytes, with what says whether it still holds. The fields
// are in the order in which a hit reads them.
type hotEntry[V any] struct {
	hotHead
	value V
}

// hotTable has the hot values of a typed cache. It does not refer to it.
type hotTable[K comparable, V any] struct {
	hot.Table[K, hotEntry[V]]
	hits *coherence.Hits
	end  func()
}

// hotHead says whether an entry still holds.
type hotHead struct {
	generation *coherence.Generation // that was current before the bytes were read
	deadline   int64                 // milliseconds, 0 for never: the value's, or when a read is to move that (see hotDeadline)
	more       *hotMore              // nil for a value without tags and shared tier
}

// hotMore is what few hot values have.
type hotMore struct {
	tags      typed.Head   // nil without any
	stamp     shared.Stamp // of the copy that the value was made of; 0 without a shared tier
	shortened bool         // the deadline is the copy's, and that of the bytes is later
}

// newHotHead is the head of the value of stored, which was found in a generation.
func (t *Typed[K, V]) newHotHead(in *coherence.Generation, found fleet.Kept, stored []byte) hotHead {
	h := hotHead{generation: in, deadline: t.hotDeadline(found.Deadline)}
	if tags := tagsOf(stored); tags != nil || found.Stamp != 0 || found.Shortened {
		h.more = &hotMore{tags, found.Stamp, found.Shortened}
	}
	return h
}

// holds reports whether the deadline is to come, and no tag was invalidated.
func (h *hotHead) holds(c *Cache) bool {
	return (h.deadline == 0 || !c.store.Passed(h.deadline)) && (h.more == nil || h.more.tags == nil || c.typed.tags.Hold(h.more.tags))
}

// isShortened reports whether the bytes' deadline is later than the head's.
func (h *hotHead) isShortened() bool { return h.more != nil && h.more.shortened }

// stamp is that of the copy that the value was made of; 0 without a shared tier.
func (h *hotHead) stamp() shared.Stamp {
	if h.more == nil {
		return 0
	}
	return h.more.stamp
}

// needsRefresh reports whether the value is to be refreshed.
func (h *hotHead) needsRefresh(of *load.Group) bool {
	return !h.isShortened() && of.NeedsRefresh(h.deadline)
}

// maxHotByDefault is how many typed caches of a Cache have hot values by default:
// each costs every write a comparison.
const maxHotByDefault = 16

// hotByBudget is as many hot values as the budget allows.
const hotByBudget = -1

// hotValues is how many hot values a typed cache may have. It refuses those that would not be
// coherent, or that a caller could change.
func (o *TypedOptions[K, V]) hotValues(keys *typed.Keys[K]) (int, error) {
	v := reflect.TypeFor[V]()
	safe := o.ReadOnly || codec.IsImmutable(v)
	switch {
	case o.HotValues < 0:
		return 0, nil
	case o.HotValues == 0 && (!keys.Exact() || !o.ReadOnly && (o.Codec != nil || !safe || !paysHot(v))):
		return 0, nil
	case o.HotValues == 0:
		return hotByBudget, nil
	case !keys.Exact():
		return 0, fmt.Errorf("firn: TypedOptions.HotValues with keys of type %s: want numbers, bools, strings, or structs "+
			"and arrays of these, without AppendBinary and TypedOptions.KeyCodec", codec.TypeName(reflect.TypeFor[K]()))
	case !safe:
		return 0, fmt.Errorf("firn: TypedOptions.HotValues with values of type %s, which a caller of Get can change: "+
			"want TypedOptions.ReadOnly, if none does", codec.TypeName(v))
	}
	return o.HotValues, nil
}

// paysHot reports whether decoding costs more than a copy: of a number it does not.
func paysHot(t reflect.Type) bool {
	for t.Kind() == reflect.Array {
		t = t.Elem()
	}
	return t.Kind() == reflect.String || t.Kind() == reflect.Struct
}

// openHot is the table of the hot values, made by the first read: nil in a typed cache that is
// closed, or one too many by default. Nothing that the Cache keeps of it refers to the Typed.
func (t *Typed[K, V]) openHot() *hotTable[K, V] {
	unasked := t.cfg.hotValues == hotByBudget
	if table := t.hot.Load(); table != nil || t.cfg.hotValues == 0 || unasked && t.cfg.c.typed.hotByDefault.Load() >= maxHotByDefault {
		return table
	}
	t.cfg.hotMu.Lock()
	defer t.cfg.hotMu.Unlock()
	if t.closed.Load() || t.hot.Load() != nil || unasked && !t.cfg.c.typed.takeDefaultHot() {
		return t.hot.Load()
	}
	most := t.cfg.hotValues
	if unasked {
		most = max(int(t.cfg.c.store.RAMBytes()/hotShare/int64(reflect.TypeFor[hotEntry[V]]().Size())), 1)
	}
	table, keys, space, state := &hotTable[K, V]{}, t.cfg.keys, t.space, &t.cfg.c.typed
	table.Open(most, codec.Inline(t.cfg.codec), &state.hot)
	t.cfg.c.store.SetWriteHook(&state.fronts)
	hits, detach := state.fronts.Attach(space.Current(), func(key []byte) {
		if k, err := keys.View(key); err == nil {
			table.Delete(k)
		}
	})
	table.hits, table.end = hits, func() {
		space.Rare().FrontHits.Add(detach())
		table.Close()
		if unasked {
			state.hotByDefault.Add(-1)
		}
	}
	forgotten := runtime.AddCleanup(t, func(end func()) { end() }, table.end)
	end := table.end
	table.end = func() {
		forgotten.Stop()
		end()
	}
	t.hot.Store(table)
	return table
}

// takeDefaultHot counts one more typed cache with hot values by default, if it may have them.
func (l *typedState) takeDefaultHot() bool {
	if l.hotByDefault.Add(1) <= maxHotByDefault {
		return true
	}
	l.hotByDefault.Add(-1)
	return false
}

// closeHot is called when t is closed.
func (t *Typed[K, V]) closeHot() {
	t.cfg.hotMu.Lock()
	defer t.cfg.hotMu.Unlock()
	if table := t.hot.Load(); table != nil {
		table.end()
	}
}

// getHot is Get of the hot values alone, without counting.
func (t *Typed[K, V]) getHot(key K) *hotEntry[V] {
	table := t.hot.Load()
	if table == nil {
		return nil
	}
	if t.cfg.c.store.Numbers() != nil {
		return t.getTrusted(context.Background(), key)
	}
	if e := table.Get(key); e != nil && e.generation == t.space.Generation() && e.holds(t.cfg.c) && !t.closed.Load() {
		return e
	}
	return nil
}

// getHotFor is getHot of a call with a context.
func (t *Typed[K, V]) getHotFor(ctx context.Context, key K) *hotEntry[V] {
	if t.cfg.hotValues != 0 && t.cfg.c.store.Numbers() != nil {
		return t.getTrusted(ctx, key)
	}
	return t.getHot(key)
}

// getTrusted is getHot with a shared tier: of values that are known to be the latest.
func (t *Typed[K, V]) getTrusted(ctx context.Context, key K) *hotEntry[V] {
	table := t.hot.Load()
	if table == nil || shared.CallOf(ctx).SkipLocal {
		return nil
	}
	mark := t.cfg.c.store.Fleet.TrustMark()
	e := table.Get(key)
	if e == nil || e.generation != t.space.Generation() || !t.space.Trusted(e.generation) || !e.holds(t.cfg.c) || t.closed.Load() {
		return nil
	}
	if !t.cfg.c.store.Fleet.TrustedSince(mark, e.stamp()) {
		return nil
	}
	return e
}

// readAgain reads the bytes of a key that is hot.
func (t *Typed[K, V]) readAgain(key K) {
	s := t.acquire()
	s.k = key
	if t.encodeKey(context.Background(), s) == nil {
		s.value, _ = t.cfg.c.Get(s.value[:0], s.key)
	}
	t.release(s)
}

// readFill is read that makes the value found hot, and also returns what is known of it.
func (t *Typed[K, V]) readFill(ctx context.Context, s *scratch[K]) (v V, found fleet.Kept, err error) {
	if err = t.encodeKey(ctx, s); err != nil {
		return v, found, err
	}
	return t.fill(ctx, s, false)
}

// fill is readFill of s.key; with local, of what can be found without a shared tier.
func (t *Typed[K, V]) fill(ctx context.Context, s *scratch[K], local bool) (v V, found fleet.Kept, err error) {
	table := t.openHot()
	var fill coherence.Fill
	if table != nil {
		fill = t.cfg.c.typed.fronts.BeginFill(s.key)
	}
	if s.value, found, err = t.cfg.c.store.LookupToKeep(ctx, t.room(s), s.key, local); err == nil {
		v, err = t.decodeRead(ctx, s)
		if err == nil && t.cfg.loads.Slides() {
			found.Deadline = t.moveDeadline(s.key, s.value, found.Deadline)
		}
	}
	t.space.Counters.Read(err == nil)
	if err != nil || table == nil || found.Stamp == 0 && t.cfg.c.store.Numbers() != nil {
		return v, found, err
	}
	if place, ok := table.Admit(s.k, t.hotSize(s, v)); ok {
		if key, err := t.cfg.keys.Parse(s.key[coherence.GenerationLen:]); err == nil { // a caller's string may lie in a buffer that is used again
			t.putHot(key, place, s, fill, found, v)
		} else {
			table.Forgo(place)
		}
	}
	return v, found, nil
}

// hotSize is how many bytes the key and the value of s.value take, about, beside their entry: as
// many as they have as bytes, or, where the value itself may be longer than those, that.
func (t *Typed[K, V]) hotSize(s *scratch[K], v V) int {
	if t.cfg.measures {
		return len(s.key) + max(len(s.value), lengthOf(v))
	}
	return len(s.key) + len(s.value)
}

// mayOutgrow reports whether lengthOf may be more than a value has bytes: that of a string which a
// codec of the user's compresses, and of a slice, whose empty elements have one byte each.
func (o *TypedOptions[K, V]) mayOutgrow() bool {
	kind := reflect.TypeFor[V]().Kind()
	return kind == reflect.Slice || kind == reflect.String && o.Codec != nil
}

// lengthOf is how many bytes a string has, or the elements of a slice.
func lengthOf[V any](v V) int {
	x := reflect.ValueOf(v)
	if x.Kind() == reflect.String {
		return x.Len()
	}
	return x.Len() * int(x.Type().Elem().Size())
}

// hotKey is a key with a hot value that was read, in memory of its own: a Set leaves one there
// again. A value that is set again before it is read would cost that for nothing.
func (t *Typed[K, V]) hotKey(key K) (own K, ok bool) {
	if table := t.hot.Load(); table != nil && t.cfg.c.store.Numbers() == nil {
		return table.Read(key)
	}
	return own, false
}

// fillSet puts the value of s.value, which has been stored, among the hot ones: as its bytes
// make it, unless there was another write of the key since fill began.
func (t *Typed[K, V]) fillSet(s *scratch[K], own K, fill coherence.Fill, deadline int64) {
	payload, _ := t.payload(s.value)
	if v, err := t.cfg.codec.Decode(payload); err == nil {
		place := t.hot.Load().Room(t.hotSize(s, v))
		t.putHot(own, place, s, fill.Written(), fleet.Kept{Deadline: deadline}, v)
	}
}

// putHot puts a value among the hot ones, unless its bytes have changed since fill.
func (t *Typed[K, V]) putHot(key K, place hot.Place, s *scratch[K], fill coherence.Fill, found fleet.Kept, v V) {
	table := t.hot.Load()
	if !fill.Lock() {
		table.Forgo(place)
		return
	}
	defer fill.Unlock()
	table.Put(key, hotEntry[V]{t.newHotHead(s.in, found, s.value), v}, place)
}
