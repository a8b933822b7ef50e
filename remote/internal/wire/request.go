package wire

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/command"
	"github.com/firncache/firn/remote/internal/link"
	"github.com/redis/rueidis"
)

// MaxBatch is how many commands are sent together at most: from 2,000 on the transport would
// make another connection, which the feed does not know.
const MaxBatch = 256

// Do sends a command and waits for its answer: until the context ends, or Options.Timeout
// for each started MiB of the command. Its errors are the context's, ErrUnavailable, or the
// server's. The command is used up, also by an error.
//
// It fails at once while the server is away. Own writes wake the callers that wait for them.
func (w *Wire) Do(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	if w.via != nil {
		return w.doGuided(ctx, cmd)[0]
	}
	name := command.Written(cmd)
	result := w.send(ctx, cmd)
	if result.Error() == nil {
		w.common.Owner.Wrote(name)
	}
	return result
}

// DoMulti is Do of several commands, at most MaxBatch, that are sent together.
func (w *Wire) DoMulti(ctx context.Context, cmds ...rueidis.Completed) []rueidis.RedisResult {
	if w.via != nil {
		return w.doGuided(ctx, cmds...)
	}
	names := make([]string, len(cmds))
	for i, cmd := range cmds {
		names[i] = command.Written(cmd)
	}
	results := w.sendMulti(ctx, cmds)
	for i := range results {
		if results[i].Error() == nil {
			w.common.Owner.Wrote(names[i])
		}
	}
	return results
}

// Run runs a script.
func (w *Wire) Run(ctx context.Context, s *command.Script, name string, args ...string) rueidis.RedisResult {
	r := w.Do(ctx, s.Known(name, args...))
	if e, ok := rueidis.IsRedisErr(r.Error()); ok && e.IsNoScript() {
		r = w.Do(ctx, s.Whole(name, args...))
	}
	return r
}

// send sends a command over the present connection.
func (w *Wire) send(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	within, cancel := w.patience.with(ctx, w.common.TimeoutOf(command.Size(cmd)))
	defer cancel()
	c, seen, err := w.enter(ctx, within)
	if err != nil {
		return rueidis.NewErrorResult(err)
	}
	result := c.Do(within, cmd)
	if err := result.NonRedisError(); err != nil {
		return rueidis.NewErrorResult(w.failed(ctx, within, c, seen, err))
	}
	return result
}

// sendMulti is send of several.
func (w *Wire) sendMulti(ctx context.Context, cmds []rueidis.Completed) []rueidis.RedisResult {
	size := 0
	for _, cmd := range cmds {
		size += command.Size(cmd)
	}
	within, cancel := w.patience.with(ctx, w.common.TimeoutOf(size))
	defer cancel()
	c, seen, err := w.enter(ctx, within)
	if err != nil {
		return slices.Repeat([]rueidis.RedisResult{rueidis.NewErrorResult(err)}, len(cmds))
	}
	results := c.DoMulti(within, cmds...)
	for i := range results {
		if err := results[i].NonRedisError(); err != nil {
			results[i] = rueidis.NewErrorResult(w.failed(ctx, within, c, seen, err))
		}
	}
	return results
}

// enter is the connection for a request, and what had come over it.
func (w *Wire) enter(ctx, within context.Context) (c *link.Conn, seen int64, err error) {
	if w.presence.away.Load() {
		return nil, 0, w.Failed(ctx, ErrAway)
	}
	if c, err = w.present(within); err != nil {
		return nil, 0, w.failed(ctx, within, nil, 0, err)
	}
	return c, c.Pulse(), nil
}

// failed is Failed of a request whose time may have been over. If so, and nothing has come meanwhile,
// no request after it waits, until a heartbeat, which is sent at once, is answered.
func (w *Wire) failed(ctx, within context.Context, c *link.Conn, seen int64, err error) error {
	if within.Err() != nil && ctx.Err() == nil && (c == nil || c.Pulse() == seen) {
		w.presence.set(true)
		w.Poke()
	}
	return w.Failed(ctx, err)
}

// Failed is the error of a request whose outcome is unknown.
func (w *Wire) Failed(ctx context.Context, err error) error {
	if ctxErr := ctx.Err(); ctxErr != nil {
		return ctxErr
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: %s: no answer in time", shared.ErrUnavailable, w.Addr)
	}
	return w.Unavailable(err)
}

// ServerError is an error of a server's answer as the store knows them; others stay.
func (w *Wire) ServerError(err error) error {
	var e *rueidis.RedisError
	if err == nil || !errors.As(err, &e) || errors.Is(err, shared.ErrUnavailable) {
		return err
	}
	if !command.IsRedirect(e) {
		w.Real().noteRefused(e)
	}
	return w.Unavailable(err)
}

// Unavailable is an error that says of the server why it is not used.
func (w *Wire) Unavailable(err error) error {
	var c *link.ConnectError
	if errors.As(err, &c) {
		err = c.Err // it has the address, too
	}
	return fmt.Errorf("%w: %s: %w", shared.ErrUnavailable, w.Addr, err)
}
