package local

import (
	"fmt"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/ram"
	"github.com/firncache/firn/internal/watch"
)

// SetWriteHook has h called for every write that begins, or ends, from now on. A
// store without a hook spends nothing on it; one never loses it again.
func (s *Store) SetWriteHook(h WriteHook) { s.hook.Store(&h) }

// Op is a kind of write.
type Op uint8

const (
	OpSet      Op = iota
	OpRemove      // which is no error if there is nothing
	OpSetIf       // unless the key was written since it is watched
	OpUpdateIf    // likewise, and keeps the deadline
	OpRemoveIf    // likewise
	OpTouch       // the deadline alone
	OpDrop        // of a record that may not be what the shared tier has
	OpDropIf      // unless the key was written since it is watched
)

// Change is one write of a key.
type Change struct {
	Op         Op
	Hash       uint64 // of OpSet, OpRemove, OpTouch and OpDrop
	Key, Value []byte
	Deadline   int64
	Cause      evicted.Cause // of OpDrop and OpDropIf
	Watch      *watch.Watch  // of OpSetIf, OpUpdateIf and OpRemoveIf
	Evicted    *evicted.List // of OpSetIf and OpRemoveIf: collects the records that they evict
}

// Write is the write protocol. Every change of a key follows it, and so does writeMulti,
// for several at once:
//
//  1. the hook, if there is one, is called before the key changes;
//  2. the RAM tier changes it, and has the lower tier invalidate its copy first;
//  3. the hook is called after the change;
//  4. the write is acknowledged: its caller gets the error, in the user's words.
//
// A hook that is set between 1 and 3 is called at 3.
func (s *Store) Write(w *Change) error {
	var token any
	if h := s.hook.Load(); h != nil {
		token = (*h).BeforeWrite(w.Key)
	}
	var err error
	switch w.Op {
	case OpSet:
		err = s.RAM.Set(w.Hash, w.Key, w.Value, w.Deadline)
	case OpSetIf:
		err = s.RAM.SetIf(w.Watch, w.Value, w.Deadline, w.Evicted)
	case OpUpdateIf:
		err = s.RAM.UpdateIf(w.Watch, w.Value, w.Deadline, w.Evicted)
	case OpRemove:
		err = errIfClosed(s.RAM.Delete(w.Hash, w.Key))
	case OpTouch:
		err = s.touchRAM(w)
	case OpRemoveIf:
		err = s.RAM.DeleteIf(w.Watch, w.Evicted)
	case OpDrop:
		err = errIfClosed(s.RAM.Drop(w.Hash, w.Key, w.Cause, w.Evicted))
	case OpDropIf:
		err = s.RAM.DropIf(w.Watch, w.Cause, w.Evicted)
	}
	if h := s.hook.Load(); h != nil {
		(*h).AfterWrite(w.Key, token)
	}
	if err != nil {
		err = s.writeError(err, w.Key, w.Value)
	}
	s.KeepAlive()
	return err
}

// writeError is the RAM tier's error of a write in the user's words.
func (s *Store) writeError(err error, key, value []byte) error {
	switch err {
	case ram.ErrTooLarge:
		return fmt.Errorf("%w: key of %d bytes and value of %d bytes: want at most %d bytes together", ErrTooLarge, len(key), len(value), s.RAM.MaxRecord())
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
	s.KeepAlive()
}

// Prefetch hashes a key for Set, and starts to load what that will touch.
func (s *Store) Prefetch(key []byte) (hash uint64) {
	hash = s.RAM.Prefetch(key)
	s.KeepAlive()
	return hash
}

// Set stores a value under a key with this hash. A deadline of 0 is never.
func (s *Store) Set(hash uint64, key, value []byte, deadline int64) error {
	return s.Write(&Change{Op: OpSet, Hash: hash, Key: key, Value: value, Deadline: deadline})
}

// Delete removes a value. That there was none is no error.
func (s *Store) Delete(key []byte) error {
	return s.Write(&Change{Op: OpRemove, Hash: s.RAM.Hash(key), Key: key})
}

// Watch begins to watch the key, with this hash, for writes: see watch.Watch. The caller
// keeps the key as it is, and calls Unwatch.
func (s *Store) Watch(w *watch.Watch, hash uint64, key []byte) {
	s.RAM.Watch(w, hash, key)
	s.KeepAlive()
}

// Unwatch forgets a watch.
func (s *Store) Unwatch(w *watch.Watch) {
	s.RAM.Unwatch(w)
	s.KeepAlive()
}

// OpSetIf is Set of a watched key, which adds the evicted records to ev, instead of telling
// OnEvict: it may be called under a lock. If the key was written meanwhile, nothing is
// stored, and that is no error. A deadline below 0 makes a negative entry, which
// lives until the deadline's negation, and does not go to the SSD.
func (s *Store) SetIf(w *watch.Watch, key, value []byte, deadline int64, ev *evicted.List) error {
	return UnlessChanged(s.Write(&Change{Op: OpSetIf, Key: key, Value: value, Deadline: deadline, Watch: w, Evicted: ev}))
}

// DeleteIf is Delete of a watched key, as OpSetIf is Set.
func (s *Store) DeleteIf(w *watch.Watch, key []byte, ev *evicted.List) error {
	return UnlessChanged(s.Write(&Change{Op: OpRemoveIf, Key: key, Watch: w, Evicted: ev}))
}

// UnlessChanged is the error of a conditional write for a caller to whom one that came
// too late is none.
func UnlessChanged(err error) error {
	if err == ErrChanged {
		return nil
	}
	return err
}

// touchRAM is the second step of the write protocol for a Touch.
func (s *Store) touchRAM(w *Change) error {
	switch ok, err := s.RAM.Touch(w.Hash, w.Key, w.Deadline); {
	case err == ram.ErrTooLarge: // which it has become since the budget was lowered
		return ErrTooLarge
	case err != nil || ok:
		return err
	}
	return ErrNotFound
}

// The changes below are one hold of a lock, as those of ram.Tier of these names. They report
// false, and have done nothing, where an Attempt has to make them: always over a shared tier,
// with which they are not called.

// Add adds to the number of a key.
func (s *Store) Add(key []byte, a *ram.Addition) bool {
	return s.atOnce(key, func() bool { return s.RAM.Add(s.RAM.Hash(key), key, a) })
}

// Swap replaces the value old of a key by new.
func (s *Store) Swap(key, old, new []byte) bool {
	return s.atOnce(key, func() bool { return s.RAM.Swap(s.RAM.Hash(key), key, old, new) })
}

// SetIfAbsent stores a value for a key that has none.
func (s *Store) SetIfAbsent(key, value []byte, deadline int64) bool {
	return s.atOnce(key, func() bool { return s.RAM.SetIfAbsent(s.RAM.Hash(key), key, value, deadline) })
}

// atOnce is the write protocol of a change of a key that RAM makes, or leaves alone.
func (s *Store) atOnce(key []byte, change func() bool) (done bool) {
	var token any
	if h := s.hook.Load(); h != nil {
		token = (*h).BeforeWrite(key)
	}
	done = change()
	if h := s.hook.Load(); h != nil {
		(*h).AfterWrite(key, token)
	}
	s.KeepAlive()
	return done
}
