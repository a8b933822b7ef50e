package remote

import (
	"context"
	"log/slog"
	"slices"

	"github.com/firncache/firn/internal/shared"
	"github.com/redis/rueidis"
)

// do sends a command and waits for its answer: until the context ends, or Options.Timeout
// for each started MiB of the command. Its errors are the context's, ErrUnavailable, or the
// server's. The command is used up, also by an error.
//
// What it goes through, doMulti too:
//
//	do        kept removals are sent first; their names are not read
//	request   own writes wake who waits for them, and cancel kept removals
//	try       the breaker
//	send      the connection, the timeout
func (w *wire) do(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	if w.via != nil {
		return w.doMultiGuided(ctx, cmd)[0]
	}
	err := w.sendRemovals(ctx)
	if err == nil {
		err = w.unread(cmd)
	}
	if err != nil {
		return rueidis.NewErrorResult(err)
	}
	return w.request(ctx, cmd)
}

// doMulti is do of several commands, at most maxBatch, that are sent together.
func (w *wire) doMulti(ctx context.Context, cmds ...rueidis.Completed) []rueidis.RedisResult {
	if w.via != nil {
		return w.doMultiGuided(ctx, cmds...)
	}
	if err := w.sendRemovals(ctx); err != nil {
		return errorResults(len(cmds), err)
	}
	if w.removals.kept.Load() == 0 {
		return w.requestMulti(ctx, cmds)
	}
	results := make([]rueidis.RedisResult, len(cmds))
	at, rest := []int(nil), []rueidis.Completed(nil)
	for i, cmd := range cmds {
		if err := w.unread(cmd); err != nil {
			results[i] = rueidis.NewErrorResult(err)
			continue
		}
		at, rest = append(at, i), append(rest, cmd)
	}
	if len(rest) > 0 {
		for i, r := range w.requestMulti(ctx, rest) {
			results[at[i]] = r
		}
	}
	return results
}

func (w *wire) request(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	names := written(cmd)
	result := w.try(ctx, cmd)
	if result.Error() == nil {
		w.noteWritten(names)
	}
	return result
}

func (w *wire) requestMulti(ctx context.Context, cmds []rueidis.Completed) []rueidis.RedisResult {
	names := make([][]string, len(cmds))
	for i, cmd := range cmds {
		names[i] = written(cmd)
	}
	results := w.tryMulti(ctx, cmds)
	for i := range results {
		if results[i].Error() == nil {
			w.noteWritten(names[i])
		}
	}
	return results
}

// noteWritten follows the success of an own write, which the server does not announce.
func (w *wire) noteWritten(names []string) {
	if len(names) > 0 {
		w.removals.cancel(names...)
		w.t.awaits.wake(names...)
	}
}

// written are the names that a command writes. Those of scripts are announced.
func written(cmd rueidis.Completed) []string {
	args := cmd.Commands() // which are used anew when it has been sent
	switch args[0] {
	case "SET", "DELEX", "DELIFEQ":
		return []string{args[1]}
	case "DEL", "UNLINK":
		return slices.Clone(args[1:])
	}
	return nil
}

func (w *wire) try(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	if !w.breaker.allow() {
		return rueidis.NewErrorResult(w.failed(ctx, errBreaker))
	}
	began := w.breaker.begin()
	result := w.send(ctx, cmd)
	w.breaker.note(outcomeOf(ctx, result.Error()), began)
	return result
}

func (w *wire) tryMulti(ctx context.Context, cmds []rueidis.Completed) []rueidis.RedisResult {
	if !w.breaker.allow() {
		return errorResults(len(cmds), w.failed(ctx, errBreaker))
	}
	began := w.breaker.begin()
	results := w.sendMulti(ctx, cmds)
	o := unknown
	for i := range results {
		o = max(o, outcomeOf(ctx, results[i].Error()))
	}
	w.breaker.note(o, began)
	return results
}

func errorResults(n int, err error) []rueidis.RedisResult {
	results := make([]rueidis.RedisResult, n)
	for i := range results {
		results[i] = rueidis.NewErrorResult(err)
	}
	return results
}

// guardStats adds the figures of the breaker and of kept removals.
func (w *wire) guardStats(s *shared.Stats) {
	s.BreakerOpened += w.breaker.opened.Load()
	if w.breaker.load() != breakerClosed {
		s.BreakersOpen++
	}
	w.removals.stats(s)
}

// noteBreaker logs a change of the breaker's state. Its attempts while the server does not
// answer are of interest to those who look for a fault.
func (w *wire) noteBreaker(from, to breakerState) {
	level, text := slog.LevelDebug, "firn/remote: one request tries the server"
	switch {
	case to == breakerClosed:
		level, text = slog.LevelInfo, "firn/remote: requests are answered again"
	case from == breakerClosed:
		level, text = slog.LevelWarn, "firn/remote: requests fail at once until the server answers"
	}
	w.t.o.Log.Log(w.t.dialing, level, text, "server", w.addr, "breaker", to.String(), "was", from.String())
}
