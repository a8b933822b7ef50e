package remote

import (
	"context"

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
	if args := cmd.Commands(); args[0] == "SET" || args[0] == "UNLINK" { // they are used anew when it has been sent
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
