package firn

import (
	"bytes"
	"context"
	"fmt"
	"reflect"

	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/ram"
	"github.com/firncache/firn/internal/typed"
)

// Compute changes one value by what it is, as one step: as Cache.Compute, on values, each old one
// decoded for f. The default time to live is TypedOptions.TTL. OpUpdate keeps the value's tags,
// with the deadline; a value stored otherwise has none. It returns the value that there is then, or
// false. A value that cannot be read counts as absent, and is gone afterwards; one that cannot be
// encoded is an error.
func (t *Typed[K, V]) Compute(ctx context.Context, key K, f func(old V, ok bool) (new V, op Op)) (now V, ok bool, err error) {
	err = t.compute(ctx, key, func(s *scratch[K], old V, found bool) (op Op, err error) {
		now, ok = old, found
		v, op := f(old, found)
		switch op {
		case OpKeep:
			return op, nil
		case OpDelete:
			var none V
			now, ok = none, false
			return op, nil
		}
		now, ok = v, true
		s.value, err = t.encode(s.value[:0], v)
		return op, err
	})
	if err != nil {
		var none V
		return none, false, err
	}
	return now, ok, nil
}

// compute is Compute with an f that leaves the new value's bytes in s.value, and may fail.
func (t *Typed[K, V]) compute(ctx context.Context, key K, f func(s *scratch[K], old V, ok bool) (Op, error)) error {
	s := t.acquire()
	defer t.release(s)
	s.k = key
	if err := t.encodeKeyToWrite(ctx, s); err != nil {
		return err
	}
	var readable bool // and op, of the last call of f
	var op Op
	err := t.computeBytes(ctx, s, func(stored []byte, deadline int64, ok bool) ([]byte, Op, error) {
		var old V
		var foreign, expired bool
		var err error
		if readable = false; ok {
			old, readable, foreign, err = t.decodeHere(ctx, stored)
			if expired = err == typed.ErrExpired; err != nil && !expired {
				return nil, OpKeep, err
			}
		}
		if readable {
			t.slideRead(s, stored, deadline)
		}
		op, err = f(s, old, readable)
		if readable && op == OpUpdate {
			s.value = withHeadOf(stored, s.value)
		}
		if ok && !readable { // there is something, which counts as nothing
			switch op {
			case OpKeep:
				if !expired && (!foreign || t.cfg.c.store.Numbers() == nil) { // see deleteUnread
					op = OpDelete
				}
			case OpUpdate:
				op = OpSet
			}
		}
		return s.value, op, err
	})
	if err == nil {
		t.countCompute(readable, op)
	}
	return err
}

// computeBytes is Cache.compute of s.key.
func (t *Typed[K, V]) computeBytes(ctx context.Context, s *scratch[K], f change) (err error) {
	for again := true; again; {
		err = t.cfg.c.compute(ctx, t.cfg.loads, s.key, f)
		again, err = t.writeAgain(ctx, s, err)
	}
	return err
}

// slideRead moves the deadline of a value that a compute has read, if it slides: the update
// keeps what it is then.
func (t *Typed[K, V]) slideRead(s *scratch[K], stored []byte, deadline int64) {
	if t.cfg.loads.Slides() {
		t.moveDeadline(s.key, stored, deadline)
	}
}

// countCompute counts the lookup of a Compute, and what it has changed.
func (t *Typed[K, V]) countCompute(found bool, op Op) {
	n := &t.space.Counters
	n.Read(found)
	switch op {
	case OpKeep:
	case OpDelete:
		n.Delete(1)
	default:
		n.Set(1)
	}
}

// decodeHere is decode that leaves it to the caller to delete what cannot be read: with
// foreign, because it was written as something else, or the codec does not accept it. The error
// is that of tags of which nothing is known, or ErrExpired: such a value stays, to be stale.
func (t *Typed[K, V]) decodeHere(ctx context.Context, stored []byte) (v V, ok, foreign bool, err error) {
	payload, ok := t.cut(stored)
	if !ok {
		var tags typed.Head
		if tags, payload, ok = t.cutTags(stored); !ok {
			t.cfg.c.typed.mismatches.Add(1)
			t.space.Rare().Mismatches.Add(1)
			return v, false, true, nil
		}
		switch err = t.cfg.c.typed.tags.Check(ctx, tags); {
		case err == typed.ErrObsolete:
			t.cfg.c.typed.tagMisses.Add(1)
			return v, false, false, nil
		case err == typed.ErrExpired:
			t.cfg.c.typed.tagMisses.Add(1)
			return v, false, false, err
		case err == ErrNotFound:
			return v, false, false, local.ErrSharedUnavailable
		case err != nil:
			return v, false, false, err
		}
	}
	decoded, err := t.cfg.codec.Decode(payload)
	if err != nil {
		t.cfg.c.typed.decodeErrors.Add(1)
		t.space.Rare().DecodeErrors.Add(1)
		return v, false, true, nil
	}
	return decoded, true, false, nil
}

// SetIfAbsent stores a value, with TypedOptions.TTL, if there is none, as Cache.SetIfAbsent.
func (t *Typed[K, V]) SetIfAbsent(ctx context.Context, key K, v V) (stored bool, err error) {
	if done, err := t.setIfAbsent(ctx, key, v); done || err != nil {
		return done, err
	}
	_, _, err = t.Compute(ctx, key, func(old V, ok bool) (V, Op) {
		if stored = !ok; ok {
			return old, OpKeep
		}
		return v, OpSet
	})
	return stored && err == nil, err
}

// setIfAbsent is Cache.setIfAbsent.
func (t *Typed[K, V]) setIfAbsent(ctx context.Context, key K, v V) (done bool, err error) {
	s := t.acquire()
	defer t.release(s)
	s.k = key
	if err = t.encodeKeyToWrite(ctx, s); err != nil {
		return false, err
	}
	if s.value, err = t.encode(s.value[:0], v); err != nil {
		return false, err
	}
	if done, err = t.cfg.c.setIfAbsent(ctx, t.cfg.loads, s.key, s.value); done {
		t.countCompute(false, OpSet)
	}
	return done, err
}

// CompareAndSwap replaces the value old by new, and reports whether it has. The deadline stays. It
// compares the bytes that the codec makes of old with those that are stored. Other than that, it
// is as Compute.
func (t *Typed[K, V]) CompareAndSwap(ctx context.Context, key K, old, new V) (swapped bool, err error) {
	s := t.acquire()
	defer t.release(s)
	s.k = key
	if err = t.encodeKeyToWrite(ctx, s); err != nil {
		return false, err
	}
	if s.value, err = t.encode(s.value[:0], old); err != nil {
		return false, err
	}
	n := len(s.value)
	want, _ := t.payload(s.value)
	if s.value, err = t.encode(s.value, new); err != nil {
		return false, err
	}
	if t.inPlace(ctx) && t.cfg.c.store.Swap(s.key, s.value[:n], s.value[n:]) {
		t.space.Counters.Set(1)
		return true, nil
	}
	err = t.computeBytes(ctx, s, func(stored []byte, deadline int64, ok bool) ([]byte, Op, error) {
		payload, valid := t.valid(ctx, stored)
		if ok && valid {
			t.slideRead(s, stored, deadline)
		}
		if swapped = ok && valid && bytes.Equal(payload, want); !swapped {
			return nil, OpKeep, nil
		}
		return withHeadOf(stored, s.value[n:]), OpUpdate, nil
	})
	if swapped = swapped && err == nil; swapped {
		t.space.Counters.Set(1)
	}
	return swapped, err
}

// inPlace is Cache.inPlace for what keeps the deadline: that must not slide.
func (t *Typed[K, V]) inPlace(ctx context.Context) bool {
	return !t.cfg.loads.Slides() && t.cfg.c.inPlace(ctx)
}

// GetAndDelete is Lookup and Delete in one step, as Cache.GetAndDelete.
func (t *Typed[K, V]) GetAndDelete(ctx context.Context, key K) (v V, err error) {
	found := false
	_, _, err = t.Compute(ctx, key, func(old V, ok bool) (V, Op) {
		v, found = old, ok
		return old, OpDelete
	})
	if err == nil && !found {
		err = ErrNotFound
	}
	if err != nil {
		var none V
		return none, err
	}
	return v, nil
}

// Integer is the values that Increment adds to.
type Integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

// Increment adds delta to the number of key in a typed cache, as Cache.Increment, and returns the
// sum. A missing one is stored with TypedOptions.TTL.
func Increment[K comparable, V Integer](ctx context.Context, t *Typed[K, V], key K, delta V) (sum V, err error) {
	if now, ok := t.add(ctx, key, int(reflect.TypeFor[V]().Size()), ^V(0) < 0, uint64(delta)); ok {
		return V(now), nil
	}
	err = t.compute(ctx, key, func(s *scratch[K], old V, _ bool) (op Op, err error) {
		if sum = old + delta; (sum < old) != (delta < 0) {
			return OpKeep, fmt.Errorf("firn: Increment by %d: the value is %d: want a sum that fits %T", delta, old, old)
		}
		s.value, err = t.encode(s.value[:0], sum)
		return OpUpdate, err
	})
	if err != nil {
		return 0, err
	}
	return sum, nil
}

// add adds to a number of so many bytes in one hold of a lock, where that can be.
func (t *Typed[K, V]) add(ctx context.Context, key K, size int, signed bool, delta uint64) (sum uint64, ok bool) {
	if !t.cfg.number || !t.inPlace(ctx) {
		return 0, false
	}
	s := t.acquire()
	s.k = key
	if t.encodeKeyToWrite(ctx, s) == nil {
		s.value = t.cfg.fingerprint.Append(s.value[:0])
		s.addition = ram.Addition{Head: s.value, Size: size, Signed: signed, Delta: delta}
		if ok = t.cfg.c.store.Add(s.key, &s.addition); ok {
			sum = s.addition.Sum
			t.countCompute(true, OpUpdate)
		}
	}
	t.release(s)
	return sum, ok
}
