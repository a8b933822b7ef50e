package fleet

import (
	"context"
	"errors"
	"fmt"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/internal/watch"
)

// A write with a shared tier:
//
//  1. what is here of the key is dropped, so that it is no answer when the server has another
//     value already, and loads under way are void;
//  2. the key is watched, and written to the shared tier;
//  3. when it has, a copy is stored if the key was not written here, or elsewhere as far as
//     that is known. This voids the reads under way, which may have found the older value. Of
//     two writes from here either may be the last that the server did: neither is kept;
//  4. otherwise, and when the outcome of the write is not known, the key is dropped again,
//     which voids them, too.
//
// An error of the copy is none of the write.

// Set stores a value, in the shared tier first.
func (s *Fleet) Set(ctx context.Context, hash uint64, key, value []byte, deadline int64) error {
	return s.writeServer(ctx, hash, shared.Entry{Key: key, Value: value, Deadline: deadline}, shared.Anything)
}

// writeServer writes an entry.
func (s *Fleet) writeServer(ctx context.Context, hash uint64, e shared.Entry, expect shared.Expect) error {
	if s.local.RAM.Closed() {
		return local.ErrClosed
	}
	r := requests.Get().(*request)
	defer s.done(r) // OnEvict is called there, when the key is not needed any more
	s.invalidate(hash, e.Key, evicted.Replaced, &r.ev)
	s.local.Watch(&r.watch, hash, e.Key)
	written, err := s.shared.tier.Write(ctx, e, expect)
	if errors.Is(err, shared.ErrTooLarge) && expect == shared.Anything {
		_ = s.shared.tier.Remove(ctx, e.Key, expect) // as a Set that fails here does
	}
	call := callOf(ctx)
	s.storeOrInvalidate(&r.watch, &e, written, err == nil && written.Stamp != 0, &call, &r.ev)
	return s.writeError(&e, err)
}

// storeOrInvalidate stores a copy of a watched entry that was written or loaded, if store is set. Otherwise,
// and if the key was written meanwhile, it drops what is there and voids the reads under way, which
// may have found that.
func (s *Fleet) storeOrInvalidate(w *watch.Watch, e *shared.Entry, written shared.Written, store bool, call *shared.Call, ev *evicted.List) {
	if store {
		b := local.GetScratch()
		defer local.PutScratch(b)
		b.Bytes = append(b.Bytes[:0], e.Value...) // behind it there is room for the trailer
		if s.setCopy(w, e.Key, b.Bytes, written.Version, written.Stamp, e.Deadline, call, ev) == nil {
			return
		}
	}
	s.invalidate(w.Hash(), e.Key, evicted.Invalidated, ev)
}

// Delete removes a value, in the shared tier too.
func (s *Fleet) Delete(ctx context.Context, key []byte) error {
	return s.removeServer(ctx, s.local.RAM.Hash(key), key, shared.Anything)
}

// Drop drops what is here of a key, and voids loads of it under way, as a write that fails does.
func (s *Fleet) Drop(key []byte) {
	s.invalidateAndNotify(s.local.RAM.Hash(key), key, evicted.Invalidated)
}

// removeServer removes an entry.
func (s *Fleet) removeServer(ctx context.Context, hash uint64, key []byte, expect shared.Expect) error {
	if s.local.RAM.Closed() {
		return local.ErrClosed
	}
	var ev evicted.List
	defer ev.Notify() // when the key is not needed any more
	s.invalidate(hash, key, evicted.Deleted, &ev)
	err := s.shared.tier.Remove(ctx, key, expect)
	s.invalidate(hash, key, evicted.Deleted, &ev)
	return s.writeError(&shared.Entry{Key: key}, err)
}

// Touch is Touch with a shared tier. The copy, which has another version then, is
// dropped.
func (s *Fleet) Touch(ctx context.Context, key []byte, deadline int64) (ok bool, err error) {
	if s.local.RAM.Closed() {
		return false, local.ErrClosed
	}
	var ev evicted.List
	defer ev.Notify() // when the key is not needed any more
	hash := s.local.RAM.Hash(key)
	if s.hasCopy(hash, key) {
		s.invalidate(hash, key, evicted.Invalidated, &ev)
	}
	_, err = s.shared.tier.Touch(ctx, key, deadline)
	if errors.Is(err, shared.ErrNotFound) {
		return false, nil
	}
	s.invalidate(hash, key, evicted.Invalidated, &ev)
	return err == nil, s.writeError(&shared.Entry{Key: key}, err)
}

// Clear is Clear with a shared tier.
func (s *Fleet) Clear(ctx context.Context) error {
	if err := s.local.Clear(); err != nil {
		return err
	}
	err := s.writeError(&shared.Entry{}, s.shared.tier.Clear(ctx))
	_ = s.local.Clear() // what was read before
	return err
}

// writeError is the shared tier's error of a write in the user's words.
func (s *Fleet) writeError(e *shared.Entry, err error) error {
	if err == nil || errors.Is(err, shared.ErrNotFound) {
		return nil
	}
	if errors.Is(err, shared.ErrChanged) {
		return local.ErrChanged
	}
	s.shared.count.errors.Add(1)
	switch {
	case s.shared.closing.Load() || s.local.RAM.Closed():
		return local.ErrClosed
	case errors.Is(err, shared.ErrTooLarge):
		return fmt.Errorf("%w: key of %d bytes and value of %d bytes: %w", local.ErrTooLarge, len(e.Key), len(e.Value), err)
	}
	return err
}

// writeWindow is how many writes of a batch the shared tier is given at once.
const writeWindow = 256

// SetMulti stores many values, as many as it can, and returns the first error.
func (s *Fleet) SetMulti(ctx context.Context, keys, values [][]byte, deadline int64, each func() int64) (first error) {
	if s.local.RAM.Closed() {
		return local.ErrClosed
	}
	n := min(len(keys), writeWindow)
	entries, watches := make([]shared.Entry, n), make([]watch.Watch, n)
	for len(keys) > 0 {
		n := min(len(keys), writeWindow)
		for i, key := range keys[:n] {
			if each != nil {
				deadline = each()
			}
			entries[i] = shared.Entry{Key: key, Value: values[i], Deadline: deadline}
		}
		if err := s.writeMulti(ctx, entries[:n], watches[:n]); first == nil {
			first = err
		}
		keys, values = keys[n:], values[n:]
	}
	return first
}

// writeMulti is writeServer for some entries.
func (s *Fleet) writeMulti(ctx context.Context, entries []shared.Entry, watches []watch.Watch) (first error) {
	for i := range entries {
		s.invalidateAndNotify(s.local.RAM.Hash(entries[i].Key), entries[i].Key, evicted.Replaced)
	}
	for i := range entries { // of a key that is there twice neither is kept
		s.local.Watch(&watches[i], s.local.RAM.Hash(entries[i].Key), entries[i].Key)
	}
	var ev evicted.List
	call := callOf(ctx)
	s.shared.tier.WriteMulti(ctx, entries, func(i int, written shared.Written, err error) {
		s.storeOrInvalidate(&watches[i], &entries[i], written, err == nil && written.Stamp != 0, &call, &ev)
		if err = s.writeError(&entries[i], err); first == nil {
			first = err
		}
	})
	for i := range watches {
		if !watches[i].Voided() {
			s.local.Unwatch(&watches[i])
		}
	}
	ev.Notify()
	return first
}

// DeleteMulti removes many values, as many as it can, and returns the first error.
func (s *Fleet) DeleteMulti(ctx context.Context, keys [][]byte) (first error) {
	if s.local.RAM.Closed() {
		return local.ErrClosed
	}
	drop := func(i int) { s.invalidateAndNotify(s.local.RAM.Hash(keys[i]), keys[i], evicted.Deleted) }
	for i := range keys {
		drop(i)
	}
	s.shared.tier.RemoveMulti(ctx, keys, func(i int, err error) {
		drop(i)
		if err = s.writeError(&shared.Entry{Key: keys[i]}, err); first == nil {
			first = err
		}
	})
	return first
}
