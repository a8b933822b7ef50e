package remote

import (
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/entry"
	"github.com/redis/rueidis"
)

// onPush is called by the goroutine that reads from the network, with the names of keys that
// somebody else has changed; with nil for all of them, and when the connection is over.
func (c *conn) onPush(names []rueidis.RedisMessage) {
	if c.isLost() {
		return // all copies are suspect already
	}
	if names == nil {
		c.w.onFlushed(c)
		return
	}
	local := c.w.t.local()
	if local == nil {
		return // there are no copies yet
	}
	for i := range names {
		if name, err := names[i].ToString(); err == nil {
			c.w.t.invalidate(local, name)
			c.w.t.awaits.wake(name)
		}
	}
}

// invalidate has the local tiers forget what is under a name.
func (t *sharedTier) invalidate(local shared.Local, name string) {
	kind, of, ok := t.names.Cut(name)
	switch {
	case !ok:
		return
	case kind == entry.KindEntry:
		local.Invalidate([]byte(of))
	case kind == entry.KindNumber && len(of) == len(shared.ID{}):
		local.InvalidateNumber(shared.ID([]byte(of)))
	default:
		return
	}
	t.count.invalidations.Add(1)
}

// setFeed begins another epoch of what the wire's server owns.
func (w *wire) setFeed(f *shared.Feed) {
	if w.t.cluster != nil {
		w.t.cluster.setFeed(w, f)
		return
	}
	if trust := w.t.trust.Load(); trust != nil {
		trust.SetFeed(0, f)
	}
}

// adopt has an epoch be extended that the local tiers know of.
func (w *wire) adopt(f *shared.Feed) {
	if w.t.cluster != nil {
		w.t.cluster.adopt(w, f)
	}
}

// extend has copies of the connection's slots be trusted until a moment.
func (c *conn) extend(until int64) {
	if c.w.t.cluster != nil {
		c.w.t.cluster.extend(c, until)
		return
	}
	c.feed.Load().Extend(until)
}

// noteEpoch notifies the local tiers that copies have become suspect.
func (t *sharedTier) noteEpoch() {
	t.awaits.wakeAll()
	t.count.epochs.Add(1)
	if local := t.local(); local != nil {
		local.EpochChanged()
	}
}
