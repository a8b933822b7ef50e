package link

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"github.com/firncache/firn/internal/loglines"
	"github.com/firncache/firn/remote/internal/entry"
	"github.com/firncache/firn/remote/internal/slots"
)

// Settings are what all connections of a tier have in common. They are not changed.
type Settings struct {
	Username, Password string
	TLS                *tls.Config
	Dial               func(ctx context.Context, network, addr string) (net.Conn, error) // nil: the system's
	DialTimeout        time.Duration                                                     // with the handshakes
	Timeout            time.Duration                                                     // of silence, after which a server counts as away
	Leases             bool                                                              // their commands are used
	Rhythm             Rhythm
	Names              entry.Names
	Log                *loglines.Logger
	AfterPong          func() // of tests
}

// Events are called by a connection, from goroutines of its own.
type Events interface {
	Away(away bool)                       // whether the server answers
	Pushed(name string)                   // another process has changed what is under a name
	Flushed(c *Conn)                      // everything may have changed
	Trusted(c *Conn, until int64)         // copies are trusted until then, in milliseconds of clock.Boot
	Map(c *Conn, m *slots.Map, err error) // what the server says of its cluster
	Slot(last int) (slot int, owns bool)  // one that the server owns: the last one, if it still does
	Lost(c *Conn)                         // the connection is over; also twice
}

// Server is what a server says of itself when a connection is made.
type Server struct {
	Name      string // "redis" or "valkey"
	Version   string
	Clustered bool // it is one of a cluster
	Tracking  bool // the connection has a feed
	Can       Abilities
	Refused   error // why the user may not run scripts
}

// Abilities are the ways in which a server compares before it writes. With SET IFEQ, which Redis
// 8.4 and Valkey 8.1 have, a server uses that alone: it pushes nothing to the writer, and needs no
// scripts, which Valkey 9.1 may be built without. Others run a script.
type Abilities struct {
	Eval bool // scripts
	IfEq bool // SET k v IFEQ old
}

// Conditional reports whether there is any: without, nothing is written on a condition but that
// there is no entry.
func (a Abilities) Conditional() bool { return a.Eval || a.IfEq }
