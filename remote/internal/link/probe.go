package link

import (
	"context"

	"github.com/firncache/firn/remote/internal/slots"
)

// Probe connects to a server once, and returns what it is.
func Probe(ctx context.Context, s *Settings, addr string) (Server, error) {
	c, err := Dial(ctx, s, addr, unheard{})
	if err != nil {
		return Server{}, err
	}
	c.Kill()
	return c.Server, nil
}

// unheard are the events of a connection that is made for a look alone.
type unheard struct{}

func (unheard) Away(bool)                      {}
func (unheard) Pushed(string)                  {}
func (unheard) Flushed(*Conn)                  {}
func (unheard) Trusted(*Conn, int64)           {}
func (unheard) Map(*Conn, *slots.Map, error)   {}
func (unheard) Slot(int) (slot int, owns bool) { return 0, false }
func (unheard) Lost(*Conn)                     {}
