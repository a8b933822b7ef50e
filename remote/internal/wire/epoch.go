package wire

import (
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/link"
)

// publish begins the connection's epoch. It is called with mu held.
func (w *Wire) publish() {
	f := shared.NewFeed()
	w.common.Owner.BeginEpoch(w, f)
	w.common.Owner.Adopt(w, f)
}

// onLost is called when a connection is lost, also twice: the epoch is over.
func (w *Wire) onLost(c *link.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.Conn() != c {
		return
	}
	next := &state{changed: make(chan struct{})}
	if w.closed {
		next = &state{err: ErrClosed}
	}
	w.set(next)
	if w.started {
		w.common.Owner.BeginEpoch(w, shared.NewFeed())
	}
}

// onFlushed is called when a connection's server announces that every key may have changed.
func (w *Wire) onFlushed(c *link.Conn) {
	next := shared.NewFeed()
	w.mu.Lock()
	present := w.started && w.Conn() == c
	if present {
		w.common.Owner.BeginEpoch(w, next)
	}
	w.mu.Unlock()
	if present {
		w.common.Owner.EpochEnded()
		w.common.Owner.Adopt(w, next) // the next PONG has it be trusted, after the local tiers know
	}
}

// HasFeed reports whether there is a connection whose server announces changes, or whose copies live
// for a given time. A guided wire has none.
func (w *Wire) HasFeed() bool {
	c := w.Conn()
	return c != nil && (c.Server.Tracking || w.common.CopyTTL > 0)
}
