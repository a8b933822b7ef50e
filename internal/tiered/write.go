package tiered

import (
	"bytes"
	"context"
	"fmt"

	"github.com/firncache/firn/internal/ram"
)

// SetWriteHook has every write that begins, or ends, from now on be told to h. A
// store without a hook spends nothing on it; one never loses it again.
func (s *Store) SetWriteHook(h WriteHook) { s.hook.Store(&h) }

// op is a kind of write.
type op uint8

const (
	set      op = iota
	remove      // which is no error if there is nothing
	setIf       // unless the key was written since it is watched
	updateIf    // likewise, and keeps the deadline
	removeIf    // likewise
	touch       // the deadline alone
	drop        // of a record that may not be what the shared tier has
	dropIf      // unless the key was written since it is watched
)

// change is one write of a key.
type change struct {
	op         op
	hash       uint64 // of set and remove
	key, value []byte
	deadline   int64
	cause      ram.Cause    // of drop
	watch      *ram.Watch   // of setIf, updateIf and removeIf
	ev         *ram.Evicted // of setIf and removeIf: collects the records that they evict
}

// write is the write protocol. Every change of a key follows it, and so does writeMulti,
// for several at once:
//
//  1. the hook, if there is one, is told that the key is about to change;
//  2. the RAM tier changes it, and has the lower tier invalidate its copy first;
//  3. the hook is told that it has changed;
//  4. the write is acknowledged: its caller is told the error, in the user's words.
//
// A hook that comes between 1 and 3 is told at 3.
func (s *Store) write(w *change) error {
	var token any
	if h := s.hook.Load(); h != nil {
		token = (*h).BeforeWrite(w.key)
	}
	var err error
	switch w.op {
	case set:
		err = s.ram.Set(w.hash, w.key, w.value, w.deadline)
	case setIf:
		err = s.ram.SetIf(w.watch, w.value, w.deadline, w.ev)
	case updateIf:
		err = s.ram.UpdateIf(w.watch, w.value, w.deadline, w.ev)
	case remove:
		err = errIfClosed(s.ram.Delete(w.hash, w.key))
	case touch:
		err = s.touchRAM(w)
	case removeIf:
		err = s.ram.DeleteIf(w.watch, w.ev)
	case drop:
		err = errIfClosed(s.ram.Drop(w.hash, w.key, w.cause, w.ev))
	case dropIf:
		err = s.ram.DropIf(w.watch, w.cause, w.ev)
	}
	if h := s.hook.Load(); h != nil {
		(*h).AfterWrite(w.key, token)
	}
	if err != nil {
		err = s.writeError(err, w.key, w.value)
	}
	s.keepAlive()
	return err
}

// writeError is the RAM tier's error of a write in the user's words.
func (s *Store) writeError(err error, key, value []byte) error {
	switch err {
	case ram.ErrTooLarge:
		return fmt.Errorf("%w: key of %d bytes and value of %d bytes: want at most %d bytes together", ErrTooLarge, len(key), len(value), s.ram.MaxRecord())
	case ram.ErrNoRoom:
		return ErrNoRoom
	case ram.ErrClosed:
		return ErrClosed
	}
	return err
}

// emptied is the write protocol of all keys at once: do empties the tiers or, with
// forever, closes them.
func (s *Store) emptied(forever bool, do func()) {
	if h := s.hook.Load(); h != nil {
		(*h).Clear(forever, do)
	} else if do(); s.hook.Load() != nil {
		s.emptied(forever, func() {}) // the hook came meanwhile
	}
	s.keepAlive()
}

// Prefetch hashes a key for Set, and starts to load what that will touch.
func (s *Store) Prefetch(key []byte) (hash uint64) {
	hash = s.ram.Prefetch(key)
	s.keepAlive()
	return hash
}

// Set stores a value under a key with this hash. A deadline of 0 is never.
func (s *Store) Set(hash uint64, key, value []byte, deadline int64) error {
	if s.shared != nil {
		return s.setShared(context.Background(), hash, key, value, deadline)
	}
	return s.write(&change{op: set, hash: hash, key: key, value: value, deadline: deadline})
}

// Delete removes a value. That there was none is no error.
func (s *Store) Delete(key []byte) error {
	if s.shared != nil {
		return s.deleteShared(context.Background(), key)
	}
	return s.write(&change{op: remove, hash: s.ram.Hash(key), key: key})
}

// Watch begins to watch the key, with this hash, for writes: see ram.Watch. The caller
// keeps the key as it is, and calls Unwatch.
func (s *Store) Watch(w *ram.Watch, hash uint64, key []byte) {
	s.ram.Watch(w, hash, key)
	s.keepAlive()
}

// Unwatch forgets a watch.
func (s *Store) Unwatch(w *ram.Watch) {
	s.ram.Unwatch(w)
	s.keepAlive()
}

// SetIf is Set of a watched key, which adds the evicted records to ev, instead of telling
// OnEvict: it may be called under a lock. If the key was written meanwhile, nothing is
// stored, and that is no error. A deadline below 0 makes a negative entry, which
// lives until the deadline's negation, and does not go to the SSD.
func (s *Store) SetIf(w *ram.Watch, key, value []byte, deadline int64, ev *ram.Evicted) error {
	return unlessChanged(s.write(&change{op: setIf, key: key, value: value, deadline: deadline, watch: w, ev: ev}))
}

// DeleteIf is Delete of a watched key, as SetIf is Set.
func (s *Store) DeleteIf(w *ram.Watch, key []byte, ev *ram.Evicted) error {
	return unlessChanged(s.write(&change{op: removeIf, key: key, watch: w, ev: ev}))
}

// unlessChanged is the error of a conditional write for a caller to whom one that came
// too late is none.
func unlessChanged(err error) error {
	if err == ErrChanged {
		return nil
	}
	return err
}

// DeleteIfEqual removes stored, which was read as the value of key, if the key has it still,
// in whichever tier. Where it has another value by now, or none, nothing is written: a load
// that has begun meanwhile goes on.
func (s *Store) DeleteIfEqual(ctx context.Context, key, stored []byte) error {
	var a Attempt
	s.Begin(&a, key) // and then look: a write is either seen or noticed
	defer s.End(&a)
	b := getScratch()
	defer b.put()
	v, ok, err := s.lookStale(ctx, &a, b.bytes[:0])
	b.bytes = v
	if err != nil || !ok || !bytes.Equal(v, stored) {
		return err
	}
	return unlessChanged(s.Remove(&a))
}

// lookStale is Look that counts as no read, and shows stale values and obsolete ones.
func (s *Store) lookStale(ctx context.Context, a *Attempt, dst []byte) (value []byte, ok bool, err error) {
	hash := a.watch.Hash()
	if s.shared != nil {
		have := sharedCopy{value: dst}
		if !callOf(ctx).SkipLocal {
			have = s.peekCopy(ctx, hash, dst, a.key, (*Store).peekAny)
		}
		seen, err := s.seeShared(ctx, a, len(dst), &have)
		return seen.value, err == nil && (seen.state == Fresh || seen.state == Stale), err
	}
	value, deadline, err := s.findStale(ctx, hash, dst, a.key)
	if err == ErrNotFound {
		return dst, false, nil
	}
	return value, err == nil && deadline >= 0, err
}
