package tiered

import (
	"context"

	"github.com/firncache/firn/internal/ram"
	"github.com/firncache/firn/internal/shared"
)

// sharedWindow is how many writes of a batch the shared tier is given at once.
const sharedWindow = 256

// SetMultiContext is SetMulti with a context, as SetContext is Set.
func (s *Store) SetMultiContext(ctx context.Context, keys, values [][]byte, deadline int64, each func() int64) error {
	if s.shared == nil {
		return s.SetMulti(keys, values, deadline, each)
	}
	return s.setMultiShared(ctx, keys, values, deadline, each)
}

// DeleteMultiContext is DeleteMulti with a context, as SetContext is Set.
func (s *Store) DeleteMultiContext(ctx context.Context, keys [][]byte) error {
	if s.shared == nil {
		return s.DeleteMulti(keys)
	}
	return s.deleteMultiShared(ctx, keys)
}

func (s *Store) setMultiShared(ctx context.Context, keys, values [][]byte, deadline int64, each func() int64) (first error) {
	if s.ram.Closed() {
		return ErrClosed
	}
	n := min(len(keys), sharedWindow)
	entries, watches := make([]shared.Entry, n), make([]ram.Watch, n)
	for len(keys) > 0 {
		n := min(len(keys), sharedWindow)
		for i, key := range keys[:n] {
			if each != nil {
				deadline = each()
			}
			entries[i] = shared.Entry{Key: key, Value: values[i], Deadline: deadline}
		}
		if err := s.writeMultiShared(ctx, entries[:n], watches[:n]); first == nil {
			first = err
		}
		keys, values = keys[n:], values[n:]
	}
	return first
}

// writeMultiShared is writeShared for some entries.
func (s *Store) writeMultiShared(ctx context.Context, entries []shared.Entry, watches []ram.Watch) (first error) {
	for i := range entries {
		s.dropCopy(s.ram.Hash(entries[i].Key), entries[i].Key, ram.Replaced)
	}
	for i := range entries { // of a key that is there twice neither is kept
		s.Watch(&watches[i], s.ram.Hash(entries[i].Key), entries[i].Key)
	}
	var ev ram.Evicted
	call := callOf(ctx)
	s.shared.tier.WriteMulti(ctx, entries, func(i int, written shared.Written, err error) {
		s.storeOrDrop(&watches[i], &entries[i], written, err == nil && written.Stamp != 0, &call, &ev)
		if err = s.sharedError(&entries[i], err); first == nil {
			first = err
		}
	})
	for i := range watches {
		if !watches[i].Voided() {
			s.Unwatch(&watches[i])
		}
	}
	ev.Notify()
	return first
}

func (s *Store) deleteMultiShared(ctx context.Context, keys [][]byte) (first error) {
	if s.ram.Closed() {
		return ErrClosed
	}
	drop := func(i int) { s.dropCopy(s.ram.Hash(keys[i]), keys[i], ram.Deleted) }
	for i := range keys {
		drop(i)
	}
	s.shared.tier.RemoveMulti(ctx, keys, func(i int, err error) {
		drop(i)
		if err = s.sharedError(&shared.Entry{Key: keys[i]}, err); first == nil {
			first = err
		}
	})
	return first
}
