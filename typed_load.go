package firn

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/firncache/firn/internal/fleet"
	"github.com/firncache/firn/internal/load"
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/internal/typed"
)

// TypedLoadFunc fetches the value of a key that a typed cache does not hold.
// It is a LoadFunc in all but the types: its context, what an error means,
// SetLoadTTL. What it returns without an error is a value, a nil pointer or slice too.
type TypedLoadFunc[K comparable, V any] = func(ctx context.Context, key K) (V, error)

// TypedMultiLoadFunc fetches the values of many keys at once. A key that is not
// in the map has no value, one with a nil pointer or slice has it. No key appears twice. The slice is the function's to
// keep. It is a MultiLoadFunc in all but the types.
type TypedMultiLoadFunc[K comparable, V any] = func(ctx context.Context, keys []K) (map[K]V, error)

// loadTries is how often a call tries to load a value, while others store values that cannot be
// decoded, or whose tags are invalidated before the call has checked them. The third try passes by
// the tiers, and may join a load from before the call; the fourth joins none that is older.
const loadTries = 4

// GetOrLoad is Lookup that calls load for a missing value and stores the value that it returns,
// with TypedOptions.TTL. The rules are those of Cache.GetOrLoad. Every caller gets a value of its
// own, decoded from the bytes that are stored, unless it is hot. A value that cannot be encoded is
// an error, and is not stored.
func (t *Typed[K, V]) GetOrLoad(ctx context.Context, key K, load TypedLoadFunc[K, V]) (V, error) {
	if e := t.getHotFor(ctx, key); e != nil && !e.needsRefresh(t.cfg.loads) {
		if t.hot.Load().hits.Count() {
			t.readAgain(key)
		}
		return e.value, nil
	}
	if t.looksFirst() {
		if v, ok := t.getBytes(key); ok {
			return v, nil
		}
	}
	look := lookForValue
	if t.looksFirst() {
		look = lookedAlready
	}
	e, err := t.load(ctx, key, load, look)
	return e.Value, err
}

// GetOrLoadEntry is GetOrLoad that also returns how it came by the value, or by the error, and of
// a hit what LookupEntry returns.
func (t *Typed[K, V]) GetOrLoadEntry(ctx context.Context, key K, load TypedLoadFunc[K, V]) (TypedEntry[V], error) {
	if e := t.getHotFor(ctx, key); e != nil && !e.isShortened() && !e.needsRefresh(t.cfg.loads) {
		if t.hot.Load().hits.Count() {
			t.readAgain(key)
		}
		return t.hotFound(e), nil
	}
	if !t.looksFirst() {
		return t.load(ctx, key, load, lookForEntry)
	}
	if e, err := t.lookupEntry(ctx, key); err == nil {
		return e, nil
	}
	return t.load(ctx, key, load, lookedAlready)
}

// looksFirst reports whether GetOrLoad does with a Get what it does first.
func (t *Typed[K, V]) looksFirst() bool {
	return !t.cfg.c.store.HasSSD() && t.cfg.c.store.Numbers() == nil && !t.cfg.loads.RefreshesAhead()
}

// look says what is looked up before a load.
type look uint8

const (
	lookForValue  look = iota
	lookForEntry       // the value, its deadline and tier
	lookedAlready      // nothing: the caller has
)

// load is the slow path of GetOrLoad: there may be nothing, or something that is
// to be refreshed.
func (t *Typed[K, V]) load(ctx context.Context, key K, load TypedLoadFunc[K, V], look look) (e TypedEntry[V], err error) {
	s := t.acquire()
	defer t.release(s)
	s.k = key
	in, keep, err := t.space.ToLoad(ctx)
	if err != nil {
		return e, err
	}
	if !keep {
		ctx, keep = t.cfg.c.store.Fleet.Apart(ctx)
	}
	loadBytes := t.loader(s.k, keep, load)
	if err = t.encodeKeyIn(s, in); err != nil {
		return e, err
	}
	if keep && look != lookedAlready {
		if e, ok := t.getOrRefresh(ctx, s, loadBytes, look); ok {
			return e, nil
		}
	}
	for try := range loadTries {
		stored, came, failed := t.cfg.loads.Load(ctx, t.room(s), s.key, loadBytes, true)
		s.value = stored
		e.Outcome, e.Tier = outcomeOf(came)
		if failed != nil {
			return e, failed
		}
		var unread error
		if e.Value, unread = t.decodeLoaded(ctx, s, came); unread == nil {
			return e, nil
		}
		err = unreadable(unread)
		if passesTiers(try, unread) {
			ctx = past(ctx)
		}
	}
	return e, err
}

// passesTiers reports whether the next try passes by all tiers: twice they had a value that could not
// be read, or its tags cannot be looked up.
func passesTiers(try int, unread error) bool {
	return try > 0 || unread == ErrNotFound || errors.Is(unread, errInvalidated) && errors.Is(unread, ErrSharedUnavailable)
}

// past is a context of loads that pass by what all tiers have: what their loaders return needs no
// check.
func past(ctx context.Context) context.Context {
	call := shared.CallOf(ctx)
	call.SkipLocal, call.SkipShared = true, true
	return shared.WithCall(ctx, call)
}

// getOrRefresh is Cache.getOrRefresh of s.key, which makes the value hot.
func (t *Typed[K, V]) getOrRefresh(ctx context.Context, s *scratch[K], load LoadFunc, look look) (e TypedEntry[V], ok bool) {
	var found fleet.Kept
	var err error
	switch {
	case t.cfg.fills:
		e.Value, found, err = t.fill(ctx, s, true)
		if err == nil && !found.Shortened && t.cfg.loads.NeedsRefresh(found.Deadline) {
			t.cfg.loads.RefreshFound(ctx, s.key, load)
		}
		ok = err == nil
	case look == lookForEntry:
		s.value, found, ok = t.cfg.c.findOrRefresh(ctx, t.cfg.loads, t.room(s), s.key, load)
		e.Value, ok = t.decodeFound(ctx, s, ok)
	default:
		s.value, ok = t.cfg.c.getOrRefresh(ctx, t.cfg.loads, t.room(s), s.key, load)
		e.Value, ok = t.decodeFound(ctx, s, ok)
	}
	if ok && look == lookForEntry {
		e.TTL, e.Tier, e.Outcome = t.cfg.c.timeTo(found.Deadline), tierOf(found.At), OutcomeHit
	}
	return e, ok
}

// decodeFound decodes s.value, if it was found, and counts the read.
func (t *Typed[K, V]) decodeFound(ctx context.Context, s *scratch[K], found bool) (v V, ok bool) {
	if found {
		var err error
		v, err = t.decodeRead(ctx, s)
		ok = err == nil
	}
	t.space.Counters.Read(ok)
	return v, ok
}

// unreadable is the error of a decoder where ErrNotFound would be an answer of
// the loader's.
func unreadable(err error) error { return fmt.Errorf("firn: the value cannot be decoded: %v", err) }

// loader is load on bytes. What it returns is stored if it may be kept.
func (t *Typed[K, V]) loader(key K, keep bool, load TypedLoadFunc[K, V]) LoadFunc {
	return func(ctx context.Context, _ []byte) ([]byte, error) {
		tags := t.beginLoadTags(ctx)
		v, err := load(ctx, key)
		tags.returned(ctx, 1, keep)
		if errors.Is(err, ErrNotModified) { // an answer
			t.space.Rare().Load(nil)
		} else {
			t.space.Rare().Load(err)
		}
		if err != nil {
			return nil, err
		}
		return t.encode(append(make([]byte, 0, usualValue), tags.of(0).head...), v)
	}
}

// usualValue is the room for a value of a loader, before it is known how long it is.
const usualValue = 256

// Refresh calls load for key, whether or not there is a value, and returns its value when
// that is stored: as Cache.Refresh.
func (t *Typed[K, V]) Refresh(ctx context.Context, key K, load TypedLoadFunc[K, V]) (v V, err error) {
	in, keep, err := t.space.ToLoad(ctx)
	if err != nil {
		return v, err
	}
	s := t.acquire()
	defer t.release(s)
	s.k = key
	if err = t.encodeKeyIn(s, in); err != nil {
		return v, err
	}
	s.value, err = t.cfg.loads.Refresh(ctx, t.room(s), s.key, t.loader(key, keep, load))
	if len(s.value) == 0 {
		return v, err
	}
	v, unread := t.decodeOwn(ctx, s)
	if unread != nil {
		return v, errors.Join(err, unreadable(unread))
	}
	return v, err
}

// GetOrLoadMulti is GetMulti that calls load once for all the values that are missing, and stores
// what it returns, with TypedOptions.TTL. The rules are those of Cache.GetOrLoadMulti; the values
// are in b. If one of the values cannot be encoded, none is stored.
func (t *Typed[K, V]) GetOrLoadMulti(ctx context.Context, b *TypedBatch[V], keys []K, load TypedMultiLoadFunc[K, V]) error {
	b.reset(len(keys))
	in, keep, err := t.space.ToLoad(ctx)
	if err != nil {
		return err
	}
	if !keep {
		ctx, keep = t.cfg.c.store.Fleet.Apart(ctx)
	}
	first := t.addKeys(ctx, b, keys, in, true)
	raw := b.raw.slices()
	ctx = t.cfg.c.store.LookupMultiForLoad(ctx, &b.batch.found, raw)
	if t.cfg.loads.RefreshesAhead() {
		t.refreshDue(ctx, b, keys, keep, load)
	}
	t.decodeMulti(ctx, b, raw)
	b.raw.missing = b.raw.missing[:0]
	for j, i := range b.raw.at {
		if !b.found[i].ok {
			b.raw.missing = append(b.raw.missing, j)
		}
	}
	if len(b.raw.missing) == 0 {
		return first
	}
	return errors.Join(first, t.loadMissing(ctx, b, keys, keep, load))
}

// refreshDue has those values of a batch refreshed that are due.
func (t *Typed[K, V]) refreshDue(ctx context.Context, b *TypedBatch[V], keys []K, keep bool, load TypedMultiLoadFunc[K, V]) {
	var due []int
	for j := range b.raw.keys {
		if t.cfg.loads.NeedsRefresh(b.batch.found.Deadline(j)) {
			due = append(due, j)
		}
	}
	if due != nil {
		raw, loadBytes := t.multiLoader(b, due, keys, keep, load)
		t.cfg.loads.RefreshInBackground(ctx, raw, loadBytes)
	}
}

// loadMissing loads the missing values of a batch. The error is the first of a load, and those of
// values that could not be decoded in the end.
func (t *Typed[K, V]) loadMissing(ctx context.Context, b *TypedBatch[V], keys []K, keep bool, load TypedMultiLoadFunc[K, V]) error {
	missing := b.raw.missing
	var failed, undecoded error
	for try := range loadTries {
		raw, loadBytes := t.multiLoader(b, missing, keys, keep, load)
		b.batch.found.Reset(len(raw))
		if err := t.cfg.loads.LoadMissing(ctx, &b.batch.found.Values, &b.batch.came, raw, loadBytes); failed == nil {
			failed = err
		}
		undecoded = nil
		passes, again := false, []int(nil)
		for n, j := range missing {
			i := b.raw.at[j]
			b.found[i].came = b.batch.Outcome(n)
			stored, ok := b.batch.Value(n)
			if !ok {
				continue
			}
			var v V
			payload, unread := t.checkLoaded(ctx, raw[n], stored, b.batch.came[n])
			if unread == nil {
				v, unread = t.decodePayload(ctx, raw[n], stored, payload, true)
			}
			if unread != nil {
				passes, again = passes || passesTiers(try, unread), append(again, j)
				undecoded = errors.Join(undecoded, unreadable(unread))
				continue
			}
			b.values[i], b.found[i].ok = v, true
		}
		if len(again) == 0 {
			break
		}
		if missing = again; passes {
			ctx = past(ctx)
		}
	}
	return errors.Join(failed, undecoded)
}

// multiLoader is load on bytes, for some of the keys of a batch, and these. The
// load may outlive the call: it keeps nothing of the batch.
func (t *Typed[K, V]) multiLoader(b *TypedBatch[V], some []int, keys []K, keep bool, load TypedMultiLoadFunc[K, V]) (raw [][]byte, loadBytes MultiLoadFunc) {
	byBytes := make(map[string]K, len(some))
	for _, j := range some {
		raw = append(raw, b.raw.keys[j])
		byBytes[string(b.raw.keys[j])] = keys[b.raw.at[j]]
	}
	return raw, func(ctx context.Context, raw [][]byte) ([][]byte, error) {
		wanted := make([]K, len(raw))
		for i, r := range raw {
			wanted[i] = byBytes[string(r)]
		}
		tags := t.beginLoadTags(ctx)
		found, err := load(ctx, append([]K(nil), wanted...))
		tags.returned(ctx, len(raw), keep)
		t.space.Rare().Load(err)
		if err != nil {
			return nil, err
		}
		values := make([][]byte, len(raw))
		for i, key := range wanted {
			if v, ok := found[key]; ok {
				if values[i], err = t.encode(slices.Clip(tags.of(i).head), v); err != nil {
					return nil, err
				}
			}
		}
		return values, nil
	}
}

// CachedValue is the function CachedValue for the loaders of t. A value that cannot be decoded, or
// whose tag was invalidated, is none. With ErrNotModified the value keeps its tags, and is fresh
// again if one of them had expired.
func (t *Typed[K, V]) CachedValue(ctx context.Context) (v V, ok bool) {
	_, ok = load.CachedValue(ctx, func(stored []byte) ([]byte, bool) {
		if stored = t.renewed(ctx, stored); t.cfg.atMost != 0 { // as encode
			stored = typed.WithEnd(stored, t.cfg.c.store.Now()+t.cfg.atMost)
		}
		payload, ours := t.valid(ctx, stored)
		if !ours {
			return nil, false
		}
		decoded, err := t.cfg.codec.Decode(payload)
		v = decoded
		return stored, err == nil
	})
	if !ok {
		var none V
		return none, false
	}
	return v, true
}
