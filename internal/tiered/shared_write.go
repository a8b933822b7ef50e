package tiered

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/firncache/firn/internal/ram"
	"github.com/firncache/firn/internal/shared"
)

// A write with a shared tier:
//
//  1. what is here of the key is dropped, lest it be an answer while the server has another
//     value already, and loads under way are void;
//  2. the key is watched, and the shared tier asked to write;
//  3. when it has, a copy is stored if nobody has written the key here, or elsewhere as far as
//     that is known. This voids the reads under way, which may have found the older value. Of
//     two writes from here nobody knows which one the server did last: neither is kept;
//  4. otherwise, and when nobody knows what has become of the write, the key is dropped again,
//     which voids them, too.
//
// What becomes of the copy is no matter of the caller's.

// SetContext is Set with a context, which ends the waiting for the shared tier: nobody
// knows then whether the value is stored.
func (s *Store) SetContext(ctx context.Context, hash uint64, key, value []byte, deadline int64) error {
	if s.shared == nil {
		return s.Set(hash, key, value, deadline)
	}
	return s.setShared(ctx, hash, key, value, deadline)
}

// DeleteContext is Delete with a context, as SetContext is Set.
func (s *Store) DeleteContext(ctx context.Context, key []byte) error {
	if s.shared == nil {
		return s.Delete(key)
	}
	return s.deleteShared(ctx, key)
}

// ClearContext is Clear with a context, as SetContext is Set.
func (s *Store) ClearContext(ctx context.Context) error {
	if s.shared == nil {
		return s.Clear()
	}
	return s.clearShared(ctx)
}

func (s *Store) setShared(ctx context.Context, hash uint64, key, value []byte, deadline int64) error {
	return s.writeShared(ctx, hash, shared.Entry{Key: key, Value: value, Deadline: deadline}, shared.Anything)
}

// writeShared writes an entry.
func (s *Store) writeShared(ctx context.Context, hash uint64, e shared.Entry, expect shared.Expect) error {
	if s.ram.Closed() {
		return ErrClosed
	}
	r := sharedReads.Get().(*sharedRead)
	defer s.done(r) // OnEvict is called there, when the key is not needed any more
	s.drop(hash, e.Key, ram.Replaced, &r.ev)
	s.Watch(&r.watch, hash, e.Key)
	written, err := s.shared.tier.Write(ctx, e, expect)
	if errors.Is(err, shared.ErrTooLarge) && expect == shared.Anything {
		_ = s.shared.tier.Remove(ctx, e.Key, expect) // as a Set that fails here does
	}
	call := callOf(ctx)
	s.storeOrDrop(&r.watch, &e, written, err == nil && written.Stamp != 0, &call, &r.ev)
	return s.sharedError(&e, err)
}

// storeOrDrop stores a copy of a watched entry that was written or loaded, if store is set. Otherwise,
// and if the key was written meanwhile, it drops what is there and voids the reads under way, which
// may have found that.
func (s *Store) storeOrDrop(w *ram.Watch, e *shared.Entry, written shared.Written, store bool, call *shared.Call, ev *ram.Evicted) {
	if store {
		b := getScratch()
		defer b.put()
		b.bytes = append(b.bytes[:0], e.Value...) // behind it there is room for the trailer
		if s.setCopy(w, e.Key, b.bytes, written.Version, written.Stamp, e.Deadline, call, ev) == nil {
			return
		}
	}
	s.drop(w.Hash(), e.Key, ram.Invalidated, ev)
}

func (s *Store) deleteShared(ctx context.Context, key []byte) error {
	return s.removeShared(ctx, s.ram.Hash(key), key, shared.Anything)
}

// removeShared removes an entry.
func (s *Store) removeShared(ctx context.Context, hash uint64, key []byte, expect shared.Expect) error {
	if s.ram.Closed() {
		return ErrClosed
	}
	var ev ram.Evicted
	defer ev.Notify() // when the key is not needed any more
	s.drop(hash, key, ram.Deleted, &ev)
	err := s.shared.tier.Remove(ctx, key, expect)
	s.drop(hash, key, ram.Deleted, &ev)
	return s.sharedError(&shared.Entry{Key: key}, err)
}

// touchShared is Touch with a shared tier. The copy, which has another version then, is
// dropped.
func (s *Store) touchShared(ctx context.Context, key []byte, deadline int64) (ok bool, err error) {
	if s.ram.Closed() {
		return false, ErrClosed
	}
	var ev ram.Evicted
	defer ev.Notify() // when the key is not needed any more
	hash := s.ram.Hash(key)
	if s.hasCopy(hash, key) {
		s.drop(hash, key, ram.Invalidated, &ev)
	}
	_, err = s.shared.tier.Touch(ctx, key, deadline)
	if errors.Is(err, shared.ErrNotFound) {
		return false, nil
	}
	s.drop(hash, key, ram.Invalidated, &ev)
	return err == nil, s.sharedError(&shared.Entry{Key: key}, err)
}

// clearShared is Clear with a shared tier.
func (s *Store) clearShared(ctx context.Context) error {
	if err := s.clearLocal(); err != nil {
		return err
	}
	err := s.sharedError(&shared.Entry{}, s.shared.tier.Clear(ctx))
	_ = s.clearLocal() // what was read before
	return err
}

// sharedError is the shared tier's error of a write in the user's words.
func (s *Store) sharedError(e *shared.Entry, err error) error {
	if err == nil || errors.Is(err, shared.ErrNotFound) {
		return nil
	}
	if errors.Is(err, shared.ErrChanged) {
		return ErrChanged
	}
	s.shared.count.errors.Add(1)
	switch {
	case s.shared.closing.Load() || s.ram.Closed():
		return ErrClosed
	case errors.Is(err, shared.ErrTooLarge):
		return fmt.Errorf("%w: key of %d bytes and value of %d bytes: %w", ErrTooLarge, len(e.Key), len(e.Value), err)
	}
	return err
}

// scratch is memory for one value.
type scratch struct{ bytes []byte }

// maxScratch is how much of it is kept.
const maxScratch = 64 << 10

var scratches = sync.Pool{New: func() any { return new(scratch) }}

func getScratch() *scratch { return scratches.Get().(*scratch) }

func (b *scratch) put() {
	if cap(b.bytes) <= maxScratch {
		scratches.Put(b)
	}
}
