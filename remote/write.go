package remote

import (
	"context"
	"errors"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/wire"
)

// Write writes an entry. A value that is too large is not written; where it was to be written
// whatever there is, that is removed, so that it does not pass for the latest.
func (t *sharedTier) Write(ctx context.Context, e shared.Entry, expect shared.Expect) (written shared.Written, err error) {
	s, err := t.seal(e)
	if err != nil && expect.Any {
		err = errors.Join(err, t.Remove(ctx, e.Key, expect))
	}
	if err != nil {
		return written, err
	}
	err = t.cluster.Ask(ctx, t.names.Entry(e.Key), func(w *wire.Wire, slot int) error {
		written, err = t.writeTo(ctx, w, slot, t.names.Entry(e.Key), s, expect)
		return err
	})
	switch {
	case expect.Leased == 0:
	case errors.Is(err, shared.ErrChanged):
		t.noteUnstored()
	case err != nil:
	case expect.Leased == expect.Version: // it was replaced
		t.holding.letGo(t.leaseAt(e.Key, expect))
	default:
		t.Release(e.Key, expect) // the lease beside what was replaced
	}
	return written, err
}

func (t *sharedTier) writeTo(ctx context.Context, w *wire.Wire, slot int, name string, s sealed, expect shared.Expect) (shared.Written, error) {
	if len(s.envelope) > nextPiece {
		release, err := t.enterLarge(ctx, w, len(s.envelope))
		if err != nil {
			return shared.Written{}, err
		}
		defer release()
	}
	t.count.writes.Add(1)
	t.count.bytesWritten.Add(uint64(len(s.envelope)))
	written := shared.Written{Version: s.version, Stamp: t.cluster.Stamp(w, slot)}
	err := t.setIf(ctx, w, name, expect, s.envelope, s.px)
	if errors.Is(err, shared.ErrChanged) {
		t.count.conflicts.Add(1)
	}
	return written, err
}

// enterLarge waits until few enough long values are on their way, for as long as a request with
// so many bytes may take: a PING waits behind them.
func (t *sharedTier) enterLarge(ctx context.Context, w *wire.Wire, bytes int) (release func(), err error) {
	within, cancel := context.WithTimeout(ctx, t.common.TimeoutOf(bytes))
	defer cancel()
	select {
	case t.large <- struct{}{}:
		return func() { <-t.large }, nil
	case <-t.done:
		return nil, w.Failed(ctx, wire.ErrClosed)
	case <-within.Done():
		return nil, w.Failed(ctx, within.Err())
	}
}

var errTorn = errors.New("the entry is written all the time")
