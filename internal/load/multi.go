package load

import (
	"context"
	"errors"
	"slices"

	"github.com/firncache/firn/internal/local"
)

// LoadMulti is the part of Cache.GetOrLoadMulti after the look-up: it has those
// values refreshed that need it, and loads the missing ones, as LoadMissing.
func (g *Group) LoadMulti(ctx context.Context, found *local.Values, came *[]Outcome, keys [][]byte, load MultiFunc) error {
	if g.RefreshesAhead() {
		if due := g.needRefresh(found, keys); due != nil {
			g.RefreshInBackground(ctx, due, load)
		}
	}
	for i := range keys {
		if _, ok := found.Value(i); !ok {
			return g.LoadMissing(ctx, found, came, keys, load)
		}
	}
	return nil
}

// LoadMissing loads the values that are missing, with one call of load, except
// those that another load fetches already. It writes all values of the batch: what was
// found, and what is loaded, in the order of the keys, and how it came by each.
func (g *Group) LoadMissing(ctx context.Context, found *local.Values, came *[]Outcome, keys [][]byte, load MultiFunc) error {
	*came = (*came)[:0]
	if err := ctx.Err(); err != nil {
		return err
	}
	before := g.begun.Load()
	answers, first := g.joinMissing(ctx, found, keys, load)
	defer func() { // of those that are still waited for, if one panicked
		for _, a := range answers {
			if a.flight != nil {
				g.leave(ctx, a.flight)
			}
		}
	}()
	soft, stop := g.softTimeout()
	defer stop()
	all := local.Values{Bytes: make([]byte, 0, 2*len(found.Bytes))}
	*came = slices.Grow(*came, len(answers))
	for i := range answers {
		a, start := &answers[i], len(all.Bytes)
		if a.flight != nil {
			f := a.flight
			a.flight = nil
			var err error
			all.Bytes, a.came, err = g.wait(ctx, all.Bytes, f, a.began, soft)
			a.ok = err == nil
			if g.outdated(f, before, err) {
				all.Bytes, a.came, f, err = g.loadOnce(ctx, f.hash, all.Bytes[:start], f.key, loader{many: load})
				a.ok = err == nil
			}
			a.came = f.since(before, a.came)
			if first == nil && !errors.Is(err, local.ErrNotFound) {
				first = err
			}
		} else {
			all.Bytes = append(all.Bytes, a.value...)
		}
		all.End(start, a.ok)
		*came = append(*came, a.came)
	}
	*found = all
	return first
}

// multiAnswer is the state of one key of a batch: its value, or the load
// that fetches it.
type multiAnswer struct {
	value  []byte
	ok     bool
	came   Outcome
	began  bool // by this caller
	flight *flight
}

// joinMissing enters the caller into a load for each key without a value, and
// starts those that are not under way.
func (g *Group) joinMissing(ctx context.Context, found *local.Values, keys [][]byte, load MultiFunc) (answers []multiAnswer, err error) {
	var call *loaderCall
	var old [][]byte
	answers = make([]multiAnswer, len(keys))
	for i, key := range keys {
		a := &answers[i]
		if a.value, a.ok = found.Value(i); a.ok {
			a.came = Found
			continue
		}
		hash := g.store.Hash(key)
		v, state := g.peekForLoad(ctx, hash, nil, key)
		switch state {
		case local.Miss:
			var failed error
			switch v, a.came, failed = g.pausedAnswer(ctx, hash, nil, key); {
			case a.came == None:
				a.flight, failed = g.joinOrBegin(ctx, hash, key, &call)
				a.began = failed == nil && a.flight.call == call
			case failed != nil && g.store.HasShared():
				a.flight, failed = g.joinPaused(ctx, hash, key, loader{many: load}, failed)
			default:
				a.value, a.ok = v, failed == nil
			}
			if err == nil {
				err = failed
			}
		case local.Fresh:
			a.value, a.ok, a.came = v, true, Found
		case local.Stale:
			a.value, a.ok, a.came = v, true, Stale
			old = append(old, key)
		case local.Negative:
			a.came = Negative
		}
	}
	if call != nil {
		g.start(call, loader{many: load}, missing)
	}
	if old != nil {
		g.RefreshInBackground(ctx, old, load)
	}
	return answers, err
}
