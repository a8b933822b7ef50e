package store

import (
	"context"

	"github.com/firncache/firn/internal/fleet"
	"github.com/firncache/firn/internal/histogram"
	"github.com/firncache/firn/internal/inside"
	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/ram"
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/internal/ssd"
)

// Store is the tiers of a cache as one: the local ones, or the fleet over them. What is the
// same with a fleet and without is Store's. Its owner holds it by value: while a method
// runs, the owner is not collected.
type Store struct {
	local.Store
	Fleet *fleet.Fleet // nil: there is no shared tier
}

// Config is the configuration of a Store.
type Config struct {
	local.Config
	Shared shared.Tier // nil: none
}

// Open opens the tiers. If it fails, none is open.
func (s *Store) Open(cfg Config) error {
	if cfg.Shared == nil {
		if err := s.Store.Open(cfg.Config); err != nil {
			return err
		}
		s.Start(&cfg.Config, nil)
		return nil
	}
	fleet.Prepare(&cfg.Config, cfg.Shared)
	if err := s.Store.Open(cfg.Config); err != nil {
		return err
	}
	f := new(fleet.Fleet)
	if err := f.Open(&cfg.Config, cfg.Shared, &s.Store); err != nil {
		return s.Abandon(err)
	}
	s.Fleet = f
	s.Start(&cfg.Config, f.Closer())
	return nil
}

// HasShared reports whether there is a shared tier, so that a lookup may wait for a network.
func (s *Store) HasShared() bool { return s.Fleet != nil }

// Shared is the shared tier, and which copies of what it has are trusted; both nil if there is
// none.
func (s *Store) Shared() (shared.Tier, *shared.Trust) {
	if s.Fleet == nil {
		return nil, nil
	}
	return s.Fleet.Shared()
}

// Numbers are the numbers that all processes agree on; nil without a shared tier.
func (s *Store) Numbers() *fleet.Numbers {
	if s.Fleet == nil {
		return nil
	}
	return s.Fleet.Numbers()
}

// Get appends the value of key to dst. Without one it returns dst as it was, and
// false. The room behind dst must not overlap key. It counts as a read. It panics where a nil
// key and bytes in dst say that the two were swapped.
func (s *Store) Get(dst, key []byte) ([]byte, bool) {
	if key == nil && len(dst) > 0 {
		panic(local.ErrSwapped)
	}
	if s.Fleet != nil {
		return s.Fleet.Get(dst, key)
	}
	n := s.RAM.TryGet(dst, key)
	if n >= 0 {
		s.KeepAlive()
		return dst[:len(dst)+n], true
	}
	if n == ram.Absent && !s.HasSSD() {
		s.KeepAlive()
		return dst, false
	}
	return s.FinishGet(n, dst, key)
}

// Lookup is Get with a context and with errors: those of the tiers, of the context, ErrNotFound
// and ErrClosed. With one it returns dst as it was.
func (s *Store) Lookup(ctx context.Context, dst, key []byte) ([]byte, error) {
	if s.Fleet != nil {
		return s.Fleet.Lookup(ctx, dst, key)
	}
	return s.Store.Lookup(ctx, dst, key)
}

// LookupDeadline is Lookup that also returns the deadline, if that is known: of a copy that
// does not live as long as its entry it is not.
func (s *Store) LookupDeadline(ctx context.Context, dst, key []byte) (value []byte, deadline int64, known bool, err error) {
	if s.Fleet != nil {
		return s.Fleet.LookupDeadline(ctx, dst, key)
	}
	return s.Store.LookupDeadline(ctx, dst, key)
}

// LookupLocal is LookupDeadline of what is here, trusted copies alone.
func (s *Store) LookupLocal(ctx context.Context, dst, key []byte) (value []byte, deadline int64, known bool, err error) {
	if s.Fleet != nil {
		return s.Fleet.LookupLocal(ctx, dst, key)
	}
	return s.Store.LookupDeadline(ctx, dst, key)
}

// LookupEntry is Lookup that also returns the deadline, 0 for never, and where the value was
// found. A deadline that slides has moved.
func (s *Store) LookupEntry(ctx context.Context, dst, key []byte) (value []byte, deadline int64, at local.Place, err error) {
	if s.Fleet != nil {
		return s.Fleet.LookupEntry(ctx, dst, key)
	}
	return s.Store.LookupEntry(ctx, dst, key)
}

// LookupToKeep is LookupEntry for a cache above the store; with here, of trusted copies in the
// local tiers alone.
func (s *Store) LookupToKeep(ctx context.Context, dst, key []byte, here bool) (value []byte, k fleet.Kept, err error) {
	if s.Fleet != nil {
		return s.Fleet.LookupToKeep(ctx, dst, key, here)
	}
	value, k.Deadline, k.At, err = s.Store.LookupEntry(ctx, dst, key)
	return value, k, err
}

// LookupMulti looks up many keys, so that the waiting for their memory, for the SSD and for a
// network overlaps. It returns the first error other than ErrNotFound.
func (s *Store) LookupMulti(ctx context.Context, b *fleet.Batch, keys [][]byte) error {
	if s.Fleet != nil {
		return s.Fleet.LookupMulti(ctx, b, keys)
	}
	return s.Store.LookupMulti(ctx, &b.Batch, keys)
}

// LookupMultiForLoad is LookupMulti for a caller who loads what is missing, with the context
// that it returns: one that skips a shared tier that is unavailable. What could not be read is
// missing.
func (s *Store) LookupMultiForLoad(ctx context.Context, b *fleet.Batch, keys [][]byte) context.Context {
	if s.Fleet != nil {
		return s.Fleet.LookupMultiForLoad(ctx, b, keys)
	}
	_ = s.Store.LookupMulti(ctx, &b.Batch, keys)
	return ctx
}

// SkipsLocal reports whether a call with this context asks the shared tier, whatever copies
// there are.
func (s *Store) SkipsLocal(ctx context.Context) bool {
	return s.Fleet != nil && s.Fleet.SkipsLocal(ctx)
}

// Peek appends to dst the value that the store has of a key with this hash, also if Get
// does not return it, but none that is obsolete. It counts as no read. A fresh value is looked for
// in RAM alone: a caller who loads has looked below already.
func (s *Store) Peek(ctx context.Context, hash uint64, dst, key []byte) (v []byte, deadline int64, state local.State) {
	if s.Grace() == 0 {
		return s.PeekRAM(hash, dst, key)
	}
	return s.PeekTiers(ctx, hash, dst, key)
}

// PeekStale is Peek for a caller whose load has failed or is late: a suspect copy, which the
// load could not check, counts if Policy.Degraded has it be an answer.
func (s *Store) PeekStale(ctx context.Context, hash uint64, dst, key []byte) (v []byte, deadline int64, state local.State) {
	if s.Fleet != nil {
		return s.Fleet.PeekStale(ctx, hash, dst, key)
	}
	return s.Peek(ctx, hash, dst, key)
}

// PeekTiers is Peek that looks for a fresh value on the SSD, too.
func (s *Store) PeekTiers(ctx context.Context, hash uint64, dst, key []byte) (v []byte, deadline int64, state local.State) {
	if s.Fleet != nil {
		return s.Fleet.PeekTiers(ctx, hash, dst, key)
	}
	return s.Store.PeekTiers(ctx, hash, dst, key)
}

// PeekRAM is Peek of RAM alone: it waits for no disk.
func (s *Store) PeekRAM(hash uint64, dst, key []byte) (v []byte, deadline int64, state local.State) {
	if s.Fleet != nil {
		return s.Fleet.PeekRAM(hash, dst, key)
	}
	return s.Store.PeekRAM(hash, dst, key)
}

// Inspect is Deadline that also appends the value to dst: with an SSD tier, it reads all of
// it there.
func (s *Store) Inspect(dst, key []byte) (v []byte, deadline int64, ok bool) {
	if s.Fleet != nil {
		return s.Fleet.Inspect(dst, key)
	}
	return s.Store.Inspect(dst, key)
}

// Deadline is when the value of key expires, 0 for never. It reports false if
// there is no live value. It counts as no read.
func (s *Store) Deadline(key []byte) (deadline int64, ok bool) {
	if s.Fleet != nil {
		return s.Fleet.Deadline(key)
	}
	return s.Store.Deadline(key)
}

// All yields every live record, those in RAM first. The slices are lent until
// yield returns; the loop ends when that is false.
func (s *Store) All(yield func(key, value []byte) bool) {
	if s.Fleet != nil {
		yield = s.Fleet.EachTrusted(yield)
	}
	s.Store.All(yield)
}

// Set stores a value under a key with this hash. A deadline of 0 is never.
func (s *Store) Set(hash uint64, key, value []byte, deadline int64) error {
	if s.Fleet != nil {
		return s.Fleet.Set(context.Background(), hash, key, value, deadline)
	}
	return s.Store.Set(hash, key, value, deadline)
}

// SetContext is Set with a context, which ends the waiting for the shared tier: whether the
// value is stored is not known then.
func (s *Store) SetContext(ctx context.Context, hash uint64, key, value []byte, deadline int64) error {
	if s.Fleet != nil {
		return s.Fleet.Set(ctx, hash, key, value, deadline)
	}
	return s.Store.Set(hash, key, value, deadline)
}

// Delete removes a value. That there was none is no error.
func (s *Store) Delete(key []byte) error { return s.DeleteContext(context.Background(), key) }

// DeleteContext is Delete with a context, as SetContext is Set.
func (s *Store) DeleteContext(ctx context.Context, key []byte) error {
	if s.Fleet != nil {
		return s.Fleet.Delete(ctx, key)
	}
	return s.Store.Delete(key)
}

// SetMulti stores values[i] under keys[i], as many as it can, and returns the
// first error. each, if given, returns the deadline of every value.
func (s *Store) SetMulti(keys, values [][]byte, deadline int64, each func() int64) error {
	return s.SetMultiContext(context.Background(), keys, values, deadline, each)
}

// SetMultiContext is SetMulti with a context, as SetContext is Set.
func (s *Store) SetMultiContext(ctx context.Context, keys, values [][]byte, deadline int64, each func() int64) error {
	if s.Fleet != nil {
		return s.Fleet.SetMulti(ctx, keys, values, deadline, each)
	}
	return s.Store.SetMulti(keys, values, deadline, each)
}

// DeleteMulti removes many values, as many as it can, and returns the first error.
func (s *Store) DeleteMulti(keys [][]byte) error {
	return s.DeleteMultiContext(context.Background(), keys)
}

// DeleteMultiContext is DeleteMulti with a context, as SetContext is Set.
func (s *Store) DeleteMultiContext(ctx context.Context, keys [][]byte) error {
	if s.Fleet != nil {
		return s.Fleet.DeleteMulti(ctx, keys)
	}
	return s.Store.DeleteMulti(keys)
}

// DeleteIfEqual removes stored, which was read as the value of key, if the key has it still,
// in whichever tier. Where it has another value by now, or none, nothing is written: a load
// that has begun meanwhile goes on.
func (s *Store) DeleteIfEqual(ctx context.Context, key, stored []byte) error {
	if s.Fleet != nil {
		return s.Fleet.DeleteIfEqual(ctx, key, stored)
	}
	return s.Store.DeleteIfEqual(ctx, key, stored)
}

// Touch gives the live value of key another deadline, 0 for never. It reports false if
// there is none. The errors are those of Lookup and of Set.
func (s *Store) Touch(ctx context.Context, key []byte, deadline int64) (ok bool, err error) {
	if s.Fleet != nil {
		return s.Fleet.Touch(ctx, key, deadline)
	}
	return s.Store.Touch(ctx, key, deadline)
}

// Clear removes every record that was there when it was called.
func (s *Store) Clear() error { return s.ClearContext(context.Background()) }

// ClearContext is Clear with a context, as SetContext is Set.
func (s *Store) ClearContext(ctx context.Context) error {
	if s.Fleet != nil {
		return s.Fleet.Clear(ctx)
	}
	return s.Store.Clear()
}

// Begin begins an attempt. The caller keeps the key as it is until End.
func (s *Store) Begin(a *fleet.Attempt, key []byte) { s.Store.Begin(&a.Attempt, key) }

// End ends an attempt, whatever came of it.
func (s *Store) End(a *fleet.Attempt) {
	s.Store.End(&a.Attempt)
	fleet.Forget(a)
}

// Look appends the value of the attempt's key to dst, and returns its deadline, 0 for
// never. Without a live value it reports false, and dst as it was; if it is not known whether
// there is one, the error says why: it is one of Lookup's, or ErrChanged if the attempt has
// failed. It counts as a read.
func (s *Store) Look(ctx context.Context, a *fleet.Attempt, dst []byte) (value []byte, deadline int64, ok bool, err error) {
	if s.Fleet != nil {
		return s.Fleet.Look(ctx, a, dst)
	}
	return s.Store.Look(ctx, &a.Attempt, dst)
}

// Replace stores a value for the attempt's key. It fails with ErrChanged if the key was written
// since Begin, and as Set does. A deadline of 0 is never.
func (s *Store) Replace(a *fleet.Attempt, value []byte, deadline int64) error {
	if s.Fleet != nil {
		return s.Fleet.Replace(a, value, deadline)
	}
	return s.Store.Replace(&a.Attempt, value, deadline)
}

// Update is Replace that keeps the deadline that the key has by now: a Touch since the look
// counts as no write. The one given is that of Look.
func (s *Store) Update(a *fleet.Attempt, value []byte, deadline int64) error {
	if s.Fleet != nil {
		return s.Fleet.Replace(a, value, deadline)
	}
	return s.Store.Update(&a.Attempt, value, deadline)
}

// Remove deletes the attempt's key, as Replace stores.
func (s *Store) Remove(a *fleet.Attempt) error {
	if s.Fleet != nil {
		return s.Fleet.Remove(a)
	}
	return s.Store.Remove(&a.Attempt)
}

// Stats are the figures of the local tiers; those of an SSD tier that there is not are 0.
func (s *Store) Stats() (inRAM ram.Stats, onSSD ssd.Stats) {
	inRAM, onSSD = s.Store.Stats()
	if s.Fleet != nil {
		inRAM.Overhead += s.Fleet.Overhead()
	}
	return inRAM, onSSD
}

// SharedStats are the figures of the shared tier, and of the copies of what it has; 0 if there
// is none.
func (s *Store) SharedStats() (n shared.Stats) {
	if s.Fleet != nil {
		n = s.Fleet.Stats()
	}
	return n
}

// SharedReadDurations is how long the shared tier took to answer reads, of one key or of many;
// none without one.
func (s *Store) SharedReadDurations() (h histogram.Histogram) {
	if s.Fleet != nil {
		h = s.Fleet.ReadTimes()
	}
	return h
}

// Inside is what a page shows of the tiers beyond their figures. segments is room for the map
// of the log.
func (s *Store) Inside(segments []byte) inside.Inside {
	in := s.Store.Inside(segments)
	if s.Fleet != nil {
		in.Health.Shared, in.Health.SharedNote = s.Fleet.Health()
	}
	return in
}
