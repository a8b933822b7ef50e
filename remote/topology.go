package remote

import (
	"context"
	"errors"
	"fmt"
)

// probe connects to the first server that can be reached, once, and returns an error that
// waiting does not mend. If none can be, the tier is ready for a cluster, of which a server that
// turns out to be in none is the only one.
func (t *Tier) probe() error {
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
			return t.fits(c)
		}
		break
	}
	t.cluster = newCluster(t)
	return nil
}

// fits returns an error for a connection to a server that the tier is not made for.
func (t *Tier) fits(c *conn) error {
	switch clustered := c.server.mode == inCluster; {
	case clustered && t.cluster == nil:
		return fmt.Errorf("remote: %s: is in a cluster now: want the tier opened anew", c.w.addr)
	case !clustered && len(t.o.Addrs) > 1:
		return optionError("Addrs", t.o.Addrs, "one address, or those of a cluster: "+c.w.addr+" is not in cluster mode")
	}
	return nil
}

// slots is how many slots there are.
func (t *Tier) slots() int {
	if t.cluster == nil {
		return 1
	}
	return clusterSlots
}

// owners are those to the servers that own the slots.
func (t *Tier) owners() []*wire {
	if t.cluster == nil {
		return []*wire{t.wire}
	}
	return t.cluster.owners()
}

// route is the way to the server that owns a key, and the key's slot. It is asked again after
// the server has answered that it is not the owner.
func (t *Tier) route(ctx context.Context, name string) (w *wire, slot int, err error) {
	if t.cluster == nil {
		return t.wire, 0, nil
	}
	slot = slotOf(name)
	w, err = t.cluster.route(ctx, slot)
	return w, slot, err
}
