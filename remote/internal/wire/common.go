package wire

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/link"
	"github.com/firncache/firn/remote/internal/slots"
)

// Common is what the wires of a tier have in common. The exported fields are not changed.
type Common struct {
	link.Settings
	Owner     Owner
	Staleness time.Duration   // the bound
	CopyTTL   time.Duration   // copies live so long at most: their only bound without a feed
	Dialing   context.Context // ends when the tier is closed

	connects atomic.Uint64
}

// Owner is what has wires, and hears of them.
type Owner interface {
	Fits(addr string, s link.Server) error       // an error for a server that the tier is not made for
	Unreached()                                  // an attempt to connect has failed; with the wire's mu held
	BeginEpoch(w *Wire, f *shared.Feed)          // of all that the server owns: f is not extended yet; likewise
	Adopt(w *Wire, f *shared.Feed)               // extend f from here on; likewise
	EpochEnded()                                 // copies have become suspect
	Pushed(name string)                          // another process has changed what is under a name
	Wrote(name string)                           // this one has
	Trusted(w *Wire, c *link.Conn, until int64)  // if c is still the connection
	Map(w *Wire, c *link.Conn, m *slots.Map)     // likewise
	Slot(w *Wire, last int) (slot int, own bool) // one that the server owns: the last one, if it still does
}

// TimeoutOf is how long a request may take that sends or gets so many bytes.
func (c *Common) TimeoutOf(bytes int) time.Duration {
	return c.Timeout * time.Duration(1+bytes>>20)
}

// Reconnects is how many connections were made after the first one.
func (c *Common) Reconnects() uint64 { return max(c.connects.Load(), 1) - 1 }

// events are a connection's.
type events struct{ w *Wire }

func (e events) Away(away bool)                      { e.w.presence.set(away) }
func (e events) Pushed(name string)                  { e.w.common.Owner.Pushed(name) }
func (e events) Flushed(c *link.Conn)                { e.w.onFlushed(c) }
func (e events) Lost(c *link.Conn)                   { e.w.onLost(c) }
func (e events) Trusted(c *link.Conn, until int64)   { e.w.common.Owner.Trusted(e.w, c, until) }
func (e events) Slot(last int) (slot int, owns bool) { return e.w.common.Owner.Slot(e.w, last) }
func (e events) Map(c *link.Conn, m *slots.Map, err error) {
	if err != nil {
		e.w.noteMap(err)
		return
	}
	e.w.common.Owner.Map(e.w, c, m)
}
