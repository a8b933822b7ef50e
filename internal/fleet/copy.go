package fleet

import (
	"context"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/internal/watch"
)

// copyOf looks a key up in the local tiers. It counts as a read. The error is ErrClosed, or
// the context's. A failed read of the SSD is no error: the shared tier can be read instead.
func (s *Fleet) copyOf(ctx context.Context, hash uint64, dst, key []byte) (c localCopy, err error) {
	for {
		mark := s.shared.trust.Mark()
		v, deadline, at, err := s.local.LookupEntry(ctx, dst, key)
		if c, err = s.copyFound(ctx, hash, len(dst), key, v, deadline, at, err); err != nil || !c.trusted || !s.shared.trust.Since(mark) {
			return c, err
		}
	}
}

// copyFound is copyOf for what a lookup of the local tiers has found, behind n bytes.
func (s *Fleet) copyFound(ctx context.Context, hash uint64, n int, key, v []byte, deadline int64, at local.Place, err error) (c localCopy, closed error) {
	switch {
	case err == nil:
		c = s.toCopy(hash, n, v, deadline, local.Fresh)
		c.at = at
		return c, nil
	case s.local.RAM.Closed():
		return localCopy{value: v[:n]}, local.ErrClosed
	case ctx.Err() != nil:
		return localCopy{value: v[:n]}, ctx.Err()
	}
	return s.copyAside(ctx, hash, v[:n], key, err == local.ErrNotFound), nil
}

// copyAside is the copy that a lookup does not show: a stale or a negative one. The SSD has
// none without a grace. Unless read is set, the SSD could not be read just now, and RAM alone
// is searched.
func (s *Fleet) copyAside(ctx context.Context, hash uint64, dst, key []byte, read bool) localCopy {
	var peek localPeek = (*local.Store).PeekTiers
	if s.local.Grace() == 0 || !read {
		peek = peekUpper
	}
	v, deadline, state := peek(s.local, ctx, hash, dst, key)
	return s.toCopy(hash, len(dst), v, deadline, state)
}

// localPeek is Store.PeekTiers, or another of its kind.
type localPeek func(s *local.Store, ctx context.Context, hash uint64, dst, key []byte) (v []byte, deadline int64, state local.State)

// peekUpper is Store.PeekRAM as a localPeek.
func peekUpper(s *local.Store, _ context.Context, hash uint64, dst, key []byte) (v []byte, deadline int64, state local.State) {
	return s.PeekRAM(hash, dst, key)
}

// peekCopy is the copy that peek finds. It counts as no read.
func (s *Fleet) peekCopy(ctx context.Context, hash uint64, dst, key []byte, peek localPeek) (c localCopy) {
	for {
		mark := s.shared.trust.Mark()
		v, deadline, state := peek(s.local, ctx, hash, dst, key)
		if c = s.toCopy(hash, len(dst), v, deadline, state); !c.trusted || !s.shared.trust.Since(mark) {
			return c
		}
	}
}

// toCopy reads the trailer of what was found behind the first n bytes.
func (s *Fleet) toCopy(hash uint64, n int, found []byte, deadline int64, state local.State) localCopy {
	value, version, stamp, ok := shared.CutTrailer(found[n:])
	if !ok || state == local.Miss {
		return localCopy{value: found[:n], state: local.Miss}
	}
	return localCopy{
		value: found[:n+len(value)], version: version, stamp: stamp, deadline: deadline, state: state,
		trusted: s.shared.trust.HoldsCopy(hash, version, stamp),
	}
}

// setCopy stores a copy of a watched key: value, behind which there is room that it may use,
// of this version. A deadline below 0 makes it that of a negative entry. It fails with
// ErrChanged if the key was written since.
func (s *Fleet) setCopy(w *watch.Watch, key, value []byte, version shared.Version, stamp shared.Stamp, deadline int64, call *shared.Call, ev *evicted.List) error {
	if ttl := s.shared.copyTTL(call); ttl > 0 {
		deadline, stamp = shorten(deadline, s.local.Now()+ttl, stamp)
	}
	copied := shared.AppendTrailer(value, version, stamp)
	err := s.local.Write(&local.Change{Op: local.OpSetIf, Key: key, Value: copied, Deadline: deadline, Watch: w, Evicted: ev})
	switch err {
	case nil:
		s.shared.count.copies.Add(1)
	case local.ErrChanged:
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

// invalidateAndNotify ends a copy, fronts' values and every watch of the key, and reports it to
// OnEvict with a cause.
func (s *Fleet) invalidateAndNotify(hash uint64, key []byte, cause evicted.Cause) {
	var ev evicted.List
	s.invalidate(hash, key, cause, &ev)
	ev.Notify()
}

// invalidate is invalidateAndNotify that leaves it to the caller to notify OnEvict.
func (s *Fleet) invalidate(hash uint64, key []byte, cause evicted.Cause, ev *evicted.List) {
	_ = s.local.Write(&local.Change{Op: local.OpDrop, Hash: hash, Key: key, Cause: cause, Evicted: ev})
}

// hasCopy reports whether a local tier may have something of a key.
func (s *Fleet) hasCopy(hash uint64, key []byte) bool {
	_, _, state := s.local.PeekRAM(hash, nil, key)
	ok := state != local.Miss || s.local.MayBeOnSSD(hash)
	s.local.KeepAlive()
	return ok
}

// EachTrusted is yield for the copies that are trusted, without their trailers.
func (s *Fleet) EachTrusted(yield func(key, value []byte) bool) func(key, copied []byte) bool {
	return func(key, copied []byte) bool {
		if c := s.toCopy(s.local.RAM.Hash(key), 0, copied, 0, local.Fresh); c.trusted {
			return yield(key, c.value)
		}
		return true
	}
}

// withoutTrailers is an OnEvict that passes on values without their trailers.
func withoutTrailers(told func(key, value []byte, cause evicted.Cause)) func(key, copied []byte, cause evicted.Cause) {
	return func(key, copied []byte, cause evicted.Cause) {
		if value, _, _, ok := shared.CutTrailer(copied); ok {
			told(key, value, cause)
		}
	}
}
