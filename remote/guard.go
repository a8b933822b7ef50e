package remote

import (
	"context"
	"errors"
	"fmt"

	"github.com/firncache/firn/internal/shared"
	"github.com/redis/rueidis"
)

// do sends a command and waits for its answer: until the context ends, or Options.Timeout
// for each started MiB of the command. Its errors are the context's, ErrUnavailable, or the
// server's. The command is used up, also by an error.
//
// It fails at once while the server is away. Own writes wake those who wait for them.
func (w *wire) do(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	if w.via != nil {
		return w.doMultiGuided(ctx, cmd)[0]
	}
	name := written(cmd)
	result := w.send(ctx, cmd)
	if result.Error() == nil {
		w.t.awaits.wake(name)
	}
	return result
}

// doMulti is do of several commands, at most maxBatch, that are sent together.
func (w *wire) doMulti(ctx context.Context, cmds ...rueidis.Completed) []rueidis.RedisResult {
	if w.via != nil {
		return w.doMultiGuided(ctx, cmds...)
	}
	names := make([]string, len(cmds))
	for i, cmd := range cmds {
		names[i] = written(cmd)
	}
	results := w.sendMulti(ctx, cmds)
	for i := range results {
		if results[i].Error() == nil {
			w.t.awaits.wake(names[i])
		}
	}
	return results
}

// written is the name that a command writes, which the server does not announce to its writer; "" for
// none. What scripts write is announced.
func written(cmd rueidis.Completed) string {
	if args := cmd.Commands(); args[0] == "SET" || args[0] == "UNLINK" { // they are reused once it has been sent
		return args[1]
	}
	return ""
}

func errorResults(n int, err error) []rueidis.RedisResult {
	results := make([]rueidis.RedisResult, n)
	for i := range results {
		results[i] = rueidis.NewErrorResult(err)
	}
	return results
}

// notePresence logs that the server went away, or is back.
func (w *wire) notePresence(away bool) {
	if away {
		w.t.o.Log.Warn("firn/remote: requests fail at once until the server answers", "server", w.addr)
	} else {
		w.t.o.Log.Info("firn/remote: the server answers again", "server", w.addr)
	}
}

// serverError is an error of a server's answer as the store knows them; others stay.
func (w *wire) serverError(err error) error {
	var e *rueidis.RedisError
	if err == nil || !errors.As(err, &e) || errors.Is(err, shared.ErrUnavailable) {
		return err
	}
	if !isRedirect(e) {
		w.t.noteRefused(w.real(), e)
	}
	return w.unavailable(err)
}

func (w *wire) unavailable(err error) error {
	var c *connectError
	if errors.As(err, &c) {
		err = c.err // it has the address, too
	}
	return fmt.Errorf("%w: %s: %w", shared.ErrUnavailable, w.addr, err)
}

// guided is a wire for requests of a slot that is on its way to the server: it says so before
// each, and gives no stamps.
func (w *wire) guided() *wire { return &wire{t: w.t, addr: w.addr, via: w} }

// real is the wire itself.
func (w *wire) real() *wire {
	if w.via != nil {
		return w.via
	}
	return w
}

// doMultiGuided is doMulti by way of the wire itself.
func (w *wire) doMultiGuided(ctx context.Context, cmds ...rueidis.Completed) []rueidis.RedisResult {
	return answersOf(w.via.doMulti(ctx, withAsking(cmds)...))
}

func withAsking(cmds []rueidis.Completed) []rueidis.Completed {
	all := make([]rueidis.Completed, 0, 2*len(cmds))
	for _, cmd := range cmds {
		all = append(all, command("ASKING"), cmd)
	}
	return all
}

// answersOf are the answers without those to ASKING.
func answersOf(results []rueidis.RedisResult) []rueidis.RedisResult {
	for i := range len(results) / 2 {
		results[i] = results[2*i+1]
	}
	return results[:len(results)/2]
}
