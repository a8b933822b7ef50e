package remote

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/cluster"
	"github.com/firncache/firn/remote/internal/link"
	"github.com/firncache/firn/remote/internal/wire"
)

// Open begins the tier's work, for the cache that has been given it. It asks the server what it
// is, which takes Options.DialTimeout at most.
func (t *sharedTier) Open(local shared.Local) (*shared.Trust, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, fmt.Errorf("remote: %w", wire.ErrClosed)
	}
	if t.opened {
		return nil, errors.New("remote: the tier serves another cache already")
	}
	if err := t.probe(); err != nil {
		return nil, err
	}
	t.opened = true
	t.holding.extend, t.holding.giveUp = t.extend, t.giveUp
	trust := shared.NewTrust(t.cluster.Slots(), local.Seals())
	trust.SetClock(bootMillis, t.o.Staleness/2)
	t.unixOffset.Store(shared.UnixOffset(time.Now, local.Now))
	t.store.Store(&localTiers{local})
	t.trust.Store(trust)
	trust.Advance(bootMillis())
	t.ends.Go(t.advance)
	t.ends.Go(t.touchAlways)
	t.cluster.Start()
	return trust, nil
}

// probe connects to the first server that can be reached, once, and returns an error that
// waiting does not mend. If none can be, the tier is ready for a cluster, of which a server that
// turns out to be in none is the only one.
func (t *sharedTier) probe() error {
	for _, addr := range t.o.Addrs {
		s, err := link.Probe(t.common.Dialing, &t.common.Settings, addr)
		if err == nil {
			err = leasesFit(t.o.Leases, addr, s)
		}
		switch {
		case link.IsFatal(err):
			return err
		case err != nil:
			continue
		case !s.Clustered:
			t.cluster = cluster.Single(t.common, host{t}, addr)
			return host{t}.Fits(addr, s)
		}
		break
	}
	t.cluster = cluster.New(t.common, host{t}, t.o.Addrs)
	return nil
}

// Close ends the tier's work. What waits for an answer returns an error.
func (t *sharedTier) Close(ctx context.Context) error {
	defer t.log.Wait(ctx, min(t.o.Timeout, DefaultTimeout)) // Timeout may have no end
	defer t.holding.close(ctx, t.o.Timeout)()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil
	}
	t.closed = true
	t.stopDial(wire.ErrClosed)
	close(t.done)
	t.cluster.Close()
	t.ends.Wait()
	return nil
}
