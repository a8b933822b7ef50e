package wire

import (
	"context"

	"github.com/firncache/firn/remote/internal/command"
	"github.com/redis/rueidis"
)

// Guided is a wire for requests of a slot that is on its way to the server: it says so before
// each, and has no feed.
func (w *Wire) Guided() *Wire {
	g := &Wire{Addr: w.Addr, common: w.common, via: w}
	g.state.Store(&state{err: ErrNotConnected})
	return g
}

// Real is the wire itself.
func (w *Wire) Real() *Wire {
	if w.via != nil {
		return w.via
	}
	return w
}

// doGuided is DoMulti by way of the wire itself, without the answers to ASKING.
func (w *Wire) doGuided(ctx context.Context, cmds ...rueidis.Completed) []rueidis.RedisResult {
	all := make([]rueidis.Completed, 0, 2*len(cmds))
	for _, cmd := range cmds {
		all = append(all, command.New("ASKING"), cmd)
	}
	results := w.via.DoMulti(ctx, all...)
	for i := range cmds {
		results[i] = results[2*i+1]
	}
	return results[:len(cmds)]
}
