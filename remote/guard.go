package remote

import (
	"context"
	"slices"

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
	names := written(cmd)
	result := w.send(ctx, cmd)
	if result.Error() == nil {
		w.t.awaits.wake(names...)
	}
	return result
}

// doMulti is do of several commands, at most maxBatch, that are sent together.
func (w *wire) doMulti(ctx context.Context, cmds ...rueidis.Completed) []rueidis.RedisResult {
	if w.via != nil {
		return w.doMultiGuided(ctx, cmds...)
	}
	names := make([][]string, len(cmds))
	for i, cmd := range cmds {
		names[i] = written(cmd)
	}
	results := w.sendMulti(ctx, cmds)
	for i := range results {
		if results[i].Error() == nil {
			w.t.awaits.wake(names[i]...)
		}
	}
	return results
}

// written are the names that a command writes, which the server does not announce to its writer.
// Those of scripts are announced.
func written(cmd rueidis.Completed) []string {
	args := cmd.Commands() // which are used anew when it has been sent
	switch args[0] {
	case "SET":
		return []string{args[1]}
	case "DEL", "UNLINK":
		return slices.Clone(args[1:])
	}
	return nil
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
