package remote

import (
	"context"
	"fmt"

	"github.com/firncache/firn/internal/shared"
	"github.com/redis/rueidis"
)

// abilities are the ways in which a server compares before it writes.
//
//	              SET IFEQ   DELEX   DELIFEQ   EVAL
//	Redis 6, 7                                 yes
//	Redis 8.4     yes        yes               yes
//	Valkey 8.1    yes                          yes
//	Valkey 9.0    yes                yes       yes, unless built without Lua (9.1)
type abilities struct {
	eval    bool // scripts
	ifeq    bool // SET k v IFEQ old
	delex   bool // DELEX k IFEQ old
	delifeq bool // DELIFEQ k old
}

// conditional reports whether there is any: without, nothing is written on a condition but that
// there is no entry.
func (a abilities) conditional() bool { return a.eval || a.ifeq }

// learn asks a server, and tries what changes nothing. What it does not tell it cannot do; refused
// is why the user may not run scripts.
func (c *conn) learn(ctx context.Context) (a abilities, refused, err error) {
	none := c.w.t.prefix + string(besideKind) // there is no such key
	results := c.client.DoMulti(ctx,
		command("EVAL", "return 1", "0"),
		command("COMMAND", "DOCS", "set"),
		command("DELEX", none, "IFEQ", ""),
		command("DELIFEQ", none, ""),
		command("EVALSHA", extendScript.sha(), "1", none, "", "1"))
	for i := range results {
		if err := results[i].NonRedisError(); err != nil {
			return a, nil, err
		}
	}
	for _, i := range [...]int{0, 4} {
		if err := results[i].Error(); isServerError(err, "NOPERM") && refused == nil {
			refused = err
		}
	}
	a.eval = results[0].Error() == nil && refused == nil
	if docs, err := results[1].ToMessage(); err == nil {
		a.ifeq = mentions(docs, "IFEQ")
	}
	a.delex, a.delifeq = isAllowed(results[2].Error()), isAllowed(results[3].Error())
	return a, refused, nil
}

// isAllowed reports whether a server knows a command, and its user may use it. Whatever else it
// answers is of the present state, as of a cluster.
func isAllowed(err error) bool {
	return !isServerError(err, "NOPERM") && !isServerError(err, "unknown")
}

// mentions reports whether a text is anywhere in an answer.
func mentions(m rueidis.RedisMessage, text string) bool {
	if s, err := m.ToString(); err == nil {
		return s == text
	}
	if list, err := m.ToArray(); err == nil {
		for _, e := range list {
			if mentions(e, text) {
				return true
			}
		}
	}
	if pairs, err := m.AsMap(); err == nil {
		for _, e := range pairs {
			if mentions(e, text) {
				return true
			}
		}
	}
	return false
}

// can is what the wire's server can do, if need be after the attempt to connect that is under
// way. If there is none, the request that asks fails anyway.
func (w *wire) can(ctx context.Context) abilities {
	w = w.real()
	if c := w.state.Load().conn; c != nil {
		return c.server.can
	}
	within, cancel := context.WithTimeout(ctx, w.t.o.Timeout)
	defer cancel()
	c, err := w.present(within)
	if err != nil {
		return abilities{eval: true}
	}
	return c.server.can
}

// errUnconditional is the error of a write that the server cannot make.
func (w *wire) errUnconditional() error {
	return fmt.Errorf("%w: %s: it has neither scripts nor SET IFEQ: want EVAL and EVALSHA for the user, or Redis 8.4, or Valkey 8.1",
		shared.ErrUnavailable, w.addr)
}
