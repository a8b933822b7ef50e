package remote

import (
	"context"
	"errors"
	"time"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/command"
	"github.com/firncache/firn/remote/internal/entry"
	"github.com/firncache/firn/remote/internal/wire"
	"github.com/redis/rueidis"
)

// A lease is an entry without a value, which lives for Options.LeaseTime, and is extended while
// its holder loads: so what there was when
// the loader began to load has a version also if that was nothing, and who stores the loaded
// value expects it. A write or removal of the key ends the lease, and the store fails.
// A value that is there keeps its version and its place; the lease then lies beside it, under
// a name of its own, and keeps others from loading only.
// Lease is called before a key is loaded.
func (t *sharedTier) Lease(ctx context.Context, dst []byte, q shared.Query) (e shared.Expect, f *shared.Found, err error) {
	beside := false
	err = t.cluster.Ask(ctx, t.names.Entry(q.Key), func(w *wire.Wire, slot int) error {
		if !w.CanLease(ctx) {
			e, f, err = t.present(ctx, w, slot, dst, q)
			return err
		}
		l := leasing{reading: reading{t: t, w: w, name: t.names.Entry(q.Key), stamp: t.cluster.Stamp(w, slot)}, slot: slot, dst: dst, q: q}
		e, f, beside, err = l.lease(ctx)
		return err
	})
	if err == nil && beside {
		e.Leased, err = t.leaseBeside(ctx, q.Key)
	}
	if e.Leased != 0 {
		t.holding.hold(t.leaseAt(q.Key, e))
		t.count.leasesWon.Add(1)
	}
	return e, f, err
}

// leaseLife is how long a lease lives that is taken or extended now.
func (t *sharedTier) leaseLife() time.Duration { return t.holding.life(t.o.LeaseTime) }

// present is Lease without leases.
func (t *sharedTier) present(ctx context.Context, w *wire.Wire, slot int, dst []byte, q shared.Query) (shared.Expect, *shared.Found, error) {
	f, err := t.readFrom(ctx, w, slot, dst, q)
	e := shared.Expect{Version: f.Version}
	switch {
	case errors.Is(err, shared.ErrNotFound):
		return e, nil, nil
	case err != nil || f.Unchanged:
		return e, nil, err
	}
	return e, &f, nil
}

// leasing is a key that is being leased.
type leasing struct {
	reading
	slot int
	dst  []byte
	q    shared.Query
}

// maxLeasing is how often a lease is tried for a key that is written all the time.
const maxLeasing = 4

// lease is Lease at the owner. beside requests a lease beside the value.
func (l *leasing) lease(ctx context.Context) (e shared.Expect, f *shared.Found, beside bool, err error) {
	for range maxLeasing {
		var b []byte
		if b, e, err = l.first(ctx); err != nil || e.Leased != 0 {
			return e, nil, false, err
		}
		h, ok := entry.Parse(b)
		switch e.Version = h.Version; {
		case ok && h.Flags&entry.FlagLease != 0:
			return e, nil, false, shared.ErrLeased
		case ok && l.q.Have != 0 && l.q.Have == h.Version:
			return e, nil, true, nil
		case ok && h.Flags&entry.FlagTombstone == 0:
			var found shared.Found
			if found, err = l.value(ctx, b); err == nil {
				return shared.Expect{Version: found.Version}, &found, l.isPast(found), nil
			}
			if !errors.Is(err, shared.ErrNotFound) {
				return e, nil, false, err
			}
			e.Version = found.Version // broken, or gone meanwhile
		}
		if e, err = l.take(ctx, e.Version); !errors.Is(err, shared.ErrChanged) {
			return e, nil, false, err
		}
	}
	return e, nil, false, l.w.Unavailable(errTorn)
}

// first takes the lease if there is nothing, or returns the first bytes of what there is.
func (l *leasing) first(ctx context.Context) (b []byte, e shared.Expect, err error) {
	l.t.count.reads.Add(1)
	l.stamp = l.t.cluster.Stamp(l.w, l.slot)
	if l.q.Have != 0 {
		result := l.w.Do(ctx, command.GetRange(l.name, 0, entry.Len))
		b, err = l.t.answer(&result)
		return b, e, l.unlessForeign(err)
	}
	version := entry.NewVersion()
	results := l.w.DoMulti(ctx,
		command.Set(l.name, leaseEnvelope(version), l.t.leaseLife(), "NX"),
		command.GetRange(l.name, 0, firstPiece))
	switch err := results[0].Error(); {
	case err == nil:
		return nil, shared.Expect{Version: version, Leased: version}, nil
	case !rueidis.IsRedisNil(err):
		return nil, e, l.w.ServerError(err)
	}
	b, err = l.t.answer(&results[1])
	return b, e, l.unlessForeign(err)
}

func (l *leasing) unlessForeign(err error) error {
	if command.IsError(err, "WRONGTYPE") {
		return nil
	}
	return l.w.ServerError(err)
}

// value is the value whose first bytes are b.
func (l *leasing) value(ctx context.Context, b []byte) (shared.Found, error) {
	if l.q.Have != 0 {
		return l.t.readFrom(ctx, l.w, l.slot, l.dst, shared.Query{Key: l.q.Key})
	}
	return l.found(ctx, l.dst, b, firstPiece)
}

// isPast reports whether a value is kept for its grace alone.
func (l *leasing) isPast(f shared.Found) bool {
	deadline := max(f.Deadline, -f.Deadline)
	now, _ := l.t.storeTimes()
	return deadline != 0 && deadline <= now
}

// take replaces what has a version, but no value, by a lease.
func (l *leasing) take(ctx context.Context, version shared.Version) (shared.Expect, error) {
	mine := entry.NewVersion()
	err := l.t.setIf(ctx, l.w, l.name, shared.Expect{Version: version}, entry.Marker(entry.FlagLease, mine), l.t.leaseLife())
	if err != nil {
		return shared.Expect{}, err
	}
	return shared.Expect{Version: mine, Leased: mine}, nil
}

// leaseBeside takes the lease beside a value. It is ErrLeased if another has it.
func (t *sharedTier) leaseBeside(ctx context.Context, key []byte) (mine shared.Version, err error) {
	name := t.names.Beside(key)
	v := entry.NewVersion()
	err = t.askName(ctx, name, func(w *wire.Wire) error {
		return wrote(w, w.Do(ctx, command.Set(name, leaseEnvelope(v), t.leaseLife(), "NX")))
	})
	switch {
	case err == nil:
		return v, nil
	case errors.Is(err, shared.ErrChanged):
		return 0, shared.ErrLeased
	}
	return 0, err
}

// askName calls the owner of a name.
func (t *sharedTier) askName(ctx context.Context, name string, question func(w *wire.Wire) error) error {
	return t.cluster.Ask(ctx, name, func(w *wire.Wire, _ int) error { return question(w) })
}

// leaseAt is the lease that is held, in the place of the key's entry or beside it.
func (t *sharedTier) leaseAt(key []byte, leased shared.Expect) heldLease {
	if leased.Leased == leased.Version {
		return heldLease{t.names.Entry(key), leased.Leased}
	}
	return heldLease{t.names.Beside(key), leased.Leased}
}

// Release gives up what Lease has got. It does not wait.
func (t *sharedTier) Release(key []byte, leased shared.Expect) {
	if leased.Leased != 0 {
		t.holding.release(t.leaseAt(key, leased))
	}
}

func (t *sharedTier) giveUp(l heldLease) {
	_ = t.askName(t.common.Dialing, l.name, func(w *wire.Wire) error { return t.delIf(t.common.Dialing, w, l.name, l.expect()) })
}

// extend has a lease live on. One that is gone is held no more: whoever removed or wrote its key has
// ended it, and what is loaded is not stored.
func (t *sharedTier) extend(l heldLease) {
	err := t.askName(t.common.Dialing, l.name, func(w *wire.Wire) error {
		return t.replace(t.common.Dialing, w, l.name, l.expect(), leaseEnvelope(l.lease), t.leaseLife())
	})
	if errors.Is(err, shared.ErrChanged) {
		t.holding.letGo(l)
	}
}
