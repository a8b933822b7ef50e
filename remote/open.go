package remote

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/firncache/firn/internal/shared"
)

// Open begins the tier's work, for the cache that has been given it. It asks the server what it
// is, which takes Options.DialTimeout at most.
func (t *sharedTier) Open(local shared.Local) (*shared.Trust, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, fmt.Errorf("remote: %w", errClosed)
	}
	if t.opened {
		return nil, errors.New("remote: the tier serves another cache already")
	}
	if err := t.probe(); err != nil {
		return nil, err
	}
	t.opened = true
	t.holding.extend, t.holding.giveUp = t.extend, t.giveUp
	trust := shared.NewTrust(t.slots(), local.Seals())
	trust.SetClock(bootMillis, t.o.Staleness/2)
	t.unixOffset.Store(shared.UnixOffset(time.Now, local.Now))
	t.below.Store(&localTiers{local})
	t.trust.Store(trust)
	trust.Advance(bootMillis())
	t.ends.Go(t.advance)
	t.ends.Go(t.touchAlways)
	if t.cluster != nil {
		t.cluster.seek()
	} else {
		t.wire.start()
	}
	return trust, nil
}

// Close ends the tier's work. What waits for an answer returns an error.
func (t *sharedTier) Close(ctx context.Context) error {
	defer t.holding.close(ctx, t.o.Timeout)()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil
	}
	t.closed = true
	t.stopDial(errClosed)
	close(t.done)
	if t.cluster != nil {
		t.cluster.close()
	} else {
		t.wire.close()
	}
	t.ends.Wait()
	return nil
}
