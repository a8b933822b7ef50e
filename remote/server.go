package remote

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/entry"
	"github.com/redis/rueidis"
)

// server is what a server says of itself when a connection is made.
type server struct {
	name     string // "redis" or "valkey"
	version  string
	mode     string // "standalone", inCluster or "sentinel"
	tracking bool   // the connection has a feed
	can      abilities
}

// inCluster is the mode of a server of a cluster.
const inCluster = "cluster"

// fatal is the error of a server that does not get better by waiting: of the options, or of the
// server's configuration.
type fatal struct{ err error }

func (f fatal) Error() string { return f.err.Error() }
func (f fatal) Unwrap() error { return f.err }

func fatalf(format string, args ...any) error { return fatal{fmt.Errorf(format, args...)} }

// inspect checks what a new connection's server is, and whether the user may do what the tier
// has to.
func (c *conn) inspect(ctx context.Context, tracking bool) (server, error) {
	s, err := c.identify(ctx)
	if err != nil {
		return s, err
	}
	s.tracking = tracking
	if err := c.tryRights(ctx, s); err != nil {
		return s, err
	}
	if s.mode != inCluster { // where there is one database
		c.token = c.readToken(ctx)
	}
	var refused error
	s.can, refused, err = c.learn(ctx)
	if err != nil || s.can.conditional() {
		return s, err
	}
	switch leases := c.w.t.o.Leases; {
	case leases == LeasesOn:
		err = fatalf("Options.Leases: on: %w", c.w.errUnconditional())
	case leases == LeasesAuto && refused != nil:
		err = fatalf("loads are stored and leased by it: %w: want the right, or LeasesOff in Options.Leases", refused)
	}
	return s, err
}

// identify is of HELLO, or of INFO where there is none.
func (c *conn) identify(ctx context.Context) (s server, err error) {
	says, err := c.client.Do(ctx, command("INFO", "server")).ToString()
	if err != nil {
		return s, err
	}
	s.name, s.version, s.mode = "redis", infoField(says, "redis_version"), infoField(says, "redis_mode")
	if v := infoField(says, "valkey_version"); v != "" {
		s.name, s.version = "valkey", v
	}
	if s.mode == "sentinel" {
		return s, fatalf("is a sentinel: want the address of a primary")
	}
	role, err := c.client.Do(ctx, command("INFO", "replication")).ToString()
	if err != nil {
		return s, err
	}
	if says, err = c.client.Do(ctx, command("INFO", "cluster")).ToString(); err == nil && infoField(says, "cluster_enabled") == "1" {
		s.mode = inCluster
	}
	if infoField(role, "role") == "slave" && s.mode != inCluster {
		return s, fatalf("is a replica: want the address of a primary")
	}
	return s, nil
}

// tryRights tries the commands that the tier uses, on a key that does not exist. None changes
// anything.
func (c *conn) tryRights(ctx context.Context, s server) error {
	k := c.w.t.names.Probe()
	tries := [][]string{
		{"PING"}, {"GETRANGE", k, "0", "0"}, {"SET", k, "", "XX", "PX", "1000"}, {"UNLINK", k},
		{"SCAN", "0", "MATCH", globEscape(k), "COUNT", "1"},
	}
	if c.w.t.o.Leases != LeasesOff {
		tries = append(tries, []string{"PTTL", k})
	}
	if s.mode == inCluster {
		tries = append(tries, []string{"CLUSTER", "MYID"}, []string{"CLUSTER", "INFO"}, []string{"CLUSTER", "SLOTS"})
	}
	cmds := make([]rueidis.Completed, len(tries))
	for i, try := range tries {
		cmds[i] = command(try...)
	}
	for i, result := range c.client.DoMulti(ctx, cmds...) {
		err := result.Error()
		switch {
		case err == nil || rueidis.IsRedisNil(err):
		case isServerError(err, "NOPERM"):
			return fatalf("%s of keys %s*: %w", tries[i][0], c.w.t.names.Prefix, err)
		case isServerError(err, "MOVED"), isServerError(err, "ASK"), isServerError(err, "OOM"),
			isServerError(err, "CLUSTERDOWN"), isServerError(err, "MISCONF"), isServerError(err, "NOREPLICAS"):
			// of the present state; what is asked gets the same answer
		default:
			return err
		}
	}
	return nil
}

// isServerError reports whether a server has answered with an error that begins so.
func isServerError(err error, kind string) bool {
	var e *rueidis.RedisError
	return errors.As(err, &e) && strings.HasPrefix(e.Error(), kind)
}

// explain says of a connection that could not be made what is wrong, and whether waiting helps.
func explain(w *wire, err error) error {
	var already fatal
	user := w.t.o.Username
	if user == "" {
		user = "default"
	}
	switch {
	case errors.As(err, &already):
	case isServerError(err, "WRONGPASS"), isServerError(err, "NOAUTH"), strings.Contains(err.Error(), "without any password configured"):
		err = fatalf("Options.Username, Password: user %q: %w", user, err)
	case strings.Contains(err.Error(), "NOPERM"):
		err = fatalf("Options.Username: user %q lacks a right: %w", user, err)
	case isServerError(err, "DENIED"):
		err = fatal{err}
	case isCertificate(err):
		err = fatalf("Options.TLS: %w", err)
	case errors.Is(err, context.DeadlineExceeded):
		err = fmt.Errorf("no answer within %v, Options.DialTimeout", w.t.o.DialTimeout)
	}
	return &connectError{w.addr, err}
}

// connectError is why a connection could not be made.
type connectError struct {
	addr string
	err  error
}

func (e *connectError) Error() string { return "remote: " + e.addr + ": " + e.err.Error() }
func (e *connectError) Unwrap() error { return e.err }

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
	none := c.w.t.names.Prefix + string(entry.KindBeside) // there is no such key
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

// errUnconditional is the error of a write that the server cannot make.
func (w *wire) errUnconditional() error {
	return fmt.Errorf("%w: %s: it has neither scripts nor SET IFEQ: want EVAL and EVALSHA for the user, or Redis 8.4, or Valkey 8.1",
		shared.ErrUnavailable, w.addr)
}
