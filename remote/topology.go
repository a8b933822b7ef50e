package remote

import (
	"context"
	"errors"
	"time"

	"github.com/firncache/firn/remote/internal/slots"
)

// probe connects to the first server that can be reached, once, and returns an error that
// waiting does not mend. If none can be, the tier is ready for a cluster, of which a server that
// turns out to be in none is the only one.
func (t *sharedTier) probe() error {
	for _, addr := range t.o.Addrs {
		c, err := dialConn(t.dialing, newWire(t, addr))
		var f fatal
		if errors.As(err, &f) {
			return err
		}
		if err != nil {
			continue
		}
		c.kill()
		if c.server.mode != inCluster {
			t.wire = newWire(t, addr)
			return t.wire.fits(c)
		}
		break
	}
	t.cluster = newCluster(t)
	return nil
}

// slots is how many slots there are.
func (t *sharedTier) slots() int {
	if t.cluster == nil {
		return 1
	}
	return slots.Count
}

// owners are those to the servers that own the slots.
func (t *sharedTier) owners() []*wire {
	if t.cluster == nil {
		return []*wire{t.wire}
	}
	return t.cluster.owners()
}

// route is the way to the server that owns a key, and the key's slot. It is looked up again after
// the server has answered that it is not the owner.
func (t *sharedTier) route(ctx context.Context, name string) (w *wire, slot int, err error) {
	if t.cluster == nil {
		return t.wire, 0, nil
	}
	slot = slots.Of(name)
	w, err = t.cluster.route(ctx, slot)
	return w, slot, err
}

// The bounds of being sent around.
const (
	maxRedirects  = 8
	againPause    = 5 * time.Millisecond // before the next try; doubled each time
	maxAgainPause = 100 * time.Millisecond
)

// askOwner asks the owner of a name, as the server has it. If the owner says that another server
// is to be asked, question is called again with a wire to that one, which gives no stamps until
// that server has said that the slot is its own. So question makes its commands each time, and
// takes the wire's stamp before.
func (t *sharedTier) askOwner(ctx context.Context, name string, question func(w *wire, slot int) error) error {
	w, slot, err := t.route(ctx, name)
	if err != nil {
		return err
	}
	if t.cluster == nil {
		return question(w, slot)
	}
	pause := againPause
	for range maxRedirects {
		err = question(w, slot)
		to, ok := redirectionOf(err, w.addr)
		if !ok {
			return err
		}
		if to.addr == "" {
			if !t.rest(ctx, pause) {
				return err
			}
			pause = min(2*pause, maxAgainPause)
			continue
		}
		if !to.ask {
			t.cluster.moved(w.real(), to.slot)
		}
		if w = t.cluster.at(to.addr); w == nil {
			return err
		}
		if to.ask {
			w = w.guided()
		}
	}
	return err
}

// rest waits. It reports false if the context ends first, or the tier is closed.
func (t *sharedTier) rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
	case <-t.done:
	}
	return false
}
