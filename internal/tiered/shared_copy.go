package tiered

import (
	"context"

	"github.com/firncache/firn/internal/ram"
	"github.com/firncache/firn/internal/shared"
)

// sharedCopy is what the local tiers have of an entry of the shared tier.
type sharedCopy struct {
	value    []byte // appended to dst; of a negative entry its tags
	version  shared.Version
	stamp    shared.Stamp
	deadline int64 // in the store's time, 0 for never; below 0 a negative entry's
	at       Place
	state    State // Miss: there is no copy
	trusted  bool
}

// shortened reports whether the copy does not live as long as its entry.
func (c *sharedCopy) shortened() bool { return c.stamp&shared.Shortened != 0 }

// answers reports whether the copy tells, without asking the shared tier, what that has of
// the key: a value, though a stale one, or that there is none.
func (c *sharedCopy) answers() bool {
	return c.state != Miss && c.trusted && !(c.shortened() && c.state == Stale)
}

// copyOf looks a key up in the local tiers. It counts as a read. The error is ErrClosed, or
// the context's: that the SSD cannot be read is none, for the shared tier can be asked.
func (s *Store) copyOf(ctx context.Context, hash uint64, dst, key []byte) (c sharedCopy, err error) {
	for {
		mark := s.shared.trust.Mark()
		v, deadline, onSSD, err := s.lookupLocal(ctx, dst, key)
		if c, err = s.copyFound(ctx, hash, len(dst), key, v, deadline, placeOf(onSSD), err); err != nil || !c.trusted || !s.shared.trust.Since(mark) {
			return c, err
		}
	}
}

// copyFound is copyOf for what a lookup of the local tiers has found, behind n bytes.
func (s *Store) copyFound(ctx context.Context, hash uint64, n int, key, v []byte, deadline int64, at Place, err error) (c sharedCopy, closed error) {
	switch {
	case err == nil:
		c = s.toCopy(hash, n, v, deadline, Fresh)
		c.at = at
		return c, nil
	case s.ram.Closed():
		return sharedCopy{value: v[:n]}, ErrClosed
	case ctx.Err() != nil:
		return sharedCopy{value: v[:n]}, ctx.Err()
	}
	return s.copyAside(ctx, hash, v[:n], key, err == ErrNotFound), nil
}

// copyAside is the copy that a lookup does not show: a stale or a negative one, of which the
// SSD has none without a grace. A disk that has not been read just now is not asked again:
// unless read, for RAM's copy alone.
func (s *Store) copyAside(ctx context.Context, hash uint64, dst, key []byte, read bool) sharedCopy {
	peek := (*Store).peekLocal
	if s.grace.Load() == 0 || !read {
		peek = (*Store).peekUpper
	}
	v, deadline, state := peek(s, ctx, hash, dst, key)
	return s.toCopy(hash, len(dst), v, deadline, state)
}

// localPeek is peekLocal, or another of its kind.
type localPeek func(s *Store, ctx context.Context, hash uint64, dst, key []byte) (v []byte, deadline int64, state State)

// peekCopy is the copy that peek finds. It counts as no read.
func (s *Store) peekCopy(ctx context.Context, hash uint64, dst, key []byte, peek localPeek) (c sharedCopy) {
	for {
		mark := s.shared.trust.Mark()
		v, deadline, state := peek(s, ctx, hash, dst, key)
		if c = s.toCopy(hash, len(dst), v, deadline, state); !c.trusted || !s.shared.trust.Since(mark) {
			return c
		}
	}
}

// toCopy reads the trailer of what was found behind the first n bytes.
func (s *Store) toCopy(hash uint64, n int, found []byte, deadline int64, state State) sharedCopy {
	value, version, stamp, ok := shared.CutTrailer(found[n:])
	if !ok || state == Miss {
		return sharedCopy{value: found[:n], state: Miss}
	}
	return sharedCopy{
		value: found[:n+len(value)], version: version, stamp: stamp, deadline: deadline, state: state,
		trusted: s.shared.trust.HoldsCopy(hash, version, stamp),
	}
}

// setCopy stores a copy of a watched key: value, behind which there is room that it may use,
// of this version. A deadline below 0 makes it that of a negative entry. It fails with
// ErrChanged if somebody has written the key.
func (s *Store) setCopy(w *ram.Watch, key, value []byte, version shared.Version, stamp shared.Stamp, deadline int64, call *shared.Call, ev *ram.Evicted) error {
	if ttl := s.shared.copyTTL(call); ttl > 0 {
		deadline, stamp = shorten(deadline, s.now()+ttl, stamp)
	}
	copied := shared.AppendTrailer(value, version, stamp)
	err := s.write(&change{op: setIf, key: key, value: copied, deadline: deadline, watch: w, ev: ev})
	switch err {
	case nil:
		s.shared.count.copies.Add(1)
	case ErrChanged:
		s.shared.count.copiesRefused.Add(1)
	}
	return err
}

// shorten is the deadline of a copy that lives until then at most.
func shorten(deadline, then int64, stamp shared.Stamp) (int64, shared.Stamp) {
	switch {
	case deadline < 0:
		return max(deadline, -then), stamp
	case deadline == 0 || deadline > then:
		return (then - 1) | 1, stamp | shared.Shortened // odd: it is not refreshed ahead
	}
	return deadline, stamp
}

// dropCopy ends a copy, fronts' values and every watch of the key, for a cause that OnEvict is
// told.
func (s *Store) dropCopy(hash uint64, key []byte, cause ram.Cause) {
	var ev ram.Evicted
	s.drop(hash, key, cause, &ev)
	ev.Notify()
}

// drop is dropCopy that leaves it to the caller to tell OnEvict.
func (s *Store) drop(hash uint64, key []byte, cause ram.Cause, ev *ram.Evicted) {
	_ = s.write(&change{op: drop, hash: hash, key: key, cause: cause, ev: ev})
}

// hasCopy reports whether a local tier may have something of a key.
func (s *Store) hasCopy(hash uint64, key []byte) bool {
	_, _, state := s.peekRAM(hash, nil, key)
	ok := state != Miss || s.ssd != nil && s.ssd.Has(hash)
	s.keepAlive()
	return ok
}

// eachTrusted is yield for the copies that are trusted, without their trailers.
func (t *sharedTier) eachTrusted(s *Store, yield func(key, value []byte) bool) func(key, copied []byte) bool {
	return func(key, copied []byte) bool {
		if c := s.toCopy(s.ram.Hash(key), 0, copied, 0, Fresh); c.trusted {
			return yield(key, c.value)
		}
		return true
	}
}

// tellValues is an OnEvict that is told values without their trailers.
func tellValues(told func(key, value []byte, cause ram.Cause)) func(key, copied []byte, cause ram.Cause) {
	return func(key, copied []byte, cause ram.Cause) {
		if value, _, _, ok := shared.CutTrailer(copied); ok {
			told(key, value, cause)
		}
	}
}
