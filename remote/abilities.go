package remote

import (
	"context"
	"fmt"
	"strings"

	"github.com/firncache/firn/internal/shared"
)

// abilities are the ways in which a server compares before it writes. With SET IFEQ, which Redis
// 8.4 and Valkey 8.1 have, a server uses that alone: it pushes nothing to the writer, and needs no
// scripts, which Valkey 9.1 may be built without. Others run a script.
type abilities struct {
	eval bool // scripts
	ifeq bool // SET k v IFEQ old
}

// conditional reports whether there is any: without, nothing is written on a condition but that
// there is no entry.
func (a abilities) conditional() bool { return a.eval || a.ifeq }

// learn asks a server, and tries what changes nothing. refused is why the user may not run scripts.
func (c *conn) learn(ctx context.Context) (a abilities, refused, err error) {
	none := c.w.t.prefix + string(besideKind) // there is no such key
	results := c.client.DoMulti(ctx,
		command("COMMAND", "DOCS", "set"),
		command("EVAL", "return 1", "0"),
		command("EVALSHA", replaceScript.sha(), "1", none, "", "", "1"))
	for i := range results {
		if err := results[i].NonRedisError(); err != nil {
			return a, nil, err
		}
		if err := results[i].Error(); i > 0 && isServerError(err, "NOPERM") && refused == nil {
			refused = err
		}
	}
	if docs, err := results[0].ToAny(); err == nil {
		a.ifeq = strings.Contains(fmt.Sprint(docs), "IFEQ")
	}
	a.eval = results[1].Error() == nil && refused == nil
	return a, refused, nil
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
