package cluster

import (
	"context"
	"time"

	"github.com/firncache/firn/remote/internal/command"
	"github.com/firncache/firn/remote/internal/wire"
)

// The bounds of being sent around.
const (
	MaxRedirects  = 8
	againPause    = 5 * time.Millisecond // before the next try; doubled each time
	maxAgainPause = 100 * time.Millisecond
)

// Ask calls question with the wire to the owner of a name, as the server has it. If the owner
// answers with the address of another server, question is called again with a wire to that one, which gives no stamps until
// that server has said that the slot is its own. So question makes its commands each time, and
// takes the wire's stamp before.
func (c *Cluster) Ask(ctx context.Context, name string, question func(w *wire.Wire, slot int) error) error {
	w, slot, err := c.Route(ctx, name)
	if err != nil {
		return err
	}
	if c.Single() {
		return question(w, slot)
	}
	pause := againPause
	for range MaxRedirects {
		err = question(w, slot)
		to, ok := command.RedirectionOf(err, w.Addr)
		if !ok {
			return err
		}
		if to.Addr == "" {
			if !c.rest(ctx, pause) {
				return err
			}
			pause = min(2*pause, maxAgainPause)
			continue
		}
		if !to.Ask {
			c.moved(w, to.Slot)
		}
		if w = c.at(to.Addr); w == nil {
			return err
		}
		if to.Ask {
			w = w.Guided()
		}
	}
	return err
}

// rest waits. It reports false if the context ends first, or the cluster is closed.
func (c *Cluster) rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
	case <-c.done:
	}
	return false
}

// moved is called when a server has answered that a slot which we thought its own is
// elsewhere: the slot's copies are suspect from here on, and all servers have to send their map.
func (c *Cluster) moved(w *wire.Wire, slot int) {
	c.sent.Add(1)
	c.mu.Lock()
	mine := c.slots[slot].Load().isOf(w.Real())
	if mine {
		c.end([]int{slot})
	}
	c.mu.Unlock()
	if mine {
		c.EpochEnded()
	}
	for _, w := range c.Wires() {
		w.Poke()
	}
}
