package remote

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/firncache/firn/internal/shared"
	"github.com/redis/rueidis"
)

// Write writes an entry. A value that is too large is not written; what there was is removed, so
// that it does not pass for the latest.
func (t *sharedTier) Write(ctx context.Context, e shared.Entry, expect shared.Expect) (written shared.Written, err error) {
	s, err := t.seal(e)
	if err != nil {
		return written, errors.Join(err, t.Remove(ctx, e.Key, expect))
	}
	err = t.askOwner(ctx, t.names.Entry(e.Key), func(w *wire, slot int) error {
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

func (t *sharedTier) writeTo(ctx context.Context, w *wire, slot int, name string, s sealed, expect shared.Expect) (shared.Written, error) {
	if len(s.envelope) > nextPiece {
		release, err := w.enterLarge(ctx, len(s.envelope))
		if err != nil {
			return shared.Written{}, err
		}
		defer release()
	}
	t.count.writes.Add(1)
	t.count.bytesWritten.Add(uint64(len(s.envelope)))
	written := shared.Written{Version: s.version, Stamp: w.stamp(slot)}
	err := t.writeIf(ctx, w, name, s, expect)
	if errors.Is(err, shared.ErrChanged) {
		t.count.conflicts.Add(1)
	}
	return written, err
}

func (t *sharedTier) writeIf(ctx context.Context, w *wire, name string, s sealed, expect shared.Expect) error {
	if !expect.Any {
		return w.setIf(ctx, name, expect, s.envelope, s.px)
	}
	return w.serverError(w.do(ctx, set(name, s)).Error())
}

// set writes whatever there is. The envelope is the command's own from here on.
func set(name string, s sealed) rueidis.Completed {
	value := rueidis.BinaryString(s.envelope)
	if s.px > 0 {
		return command("SET", name, value, "PX", millis(s.px))
	}
	return command("SET", name, value)
}

func millis(d time.Duration) string { return strconv.FormatInt(max(d.Milliseconds(), 1), 10) }

// enterLarge waits until few enough long values are on their way, for as long as a request with
// so many bytes may take: a PING waits behind them.
func (w *wire) enterLarge(ctx context.Context, bytes int) (release func(), err error) {
	within, cancel := context.WithTimeout(ctx, w.t.timeoutOf(bytes))
	defer cancel()
	select {
	case w.t.large <- struct{}{}:
		return func() { <-w.t.large }, nil
	case <-w.t.done:
		return nil, w.failed(ctx, errClosed)
	case <-within.Done():
		return nil, w.failed(ctx, within.Err())
	}
}

var errTorn = errors.New("the entry is written all the time")
