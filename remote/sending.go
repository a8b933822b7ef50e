package remote

import (
	"context"
	"errors"
	"fmt"

	"github.com/firncache/firn/internal/shared"
	"github.com/redis/rueidis"
)

// keepRemoval keeps a name to remove: what could not be asked of the server, or has an unknown
// outcome.
func (t *Tier) keepRemoval(name string) { t.keeper(name).removals.keep(name) }

// removal removes a name whatever there is. Without leases a removal is remembered for a
// while, by a tombstone: who had found nothing before, and loads since, does not find nothing
// again. A number is removed by another one.
func (t *Tier) removal(ctx context.Context, w *wire, name string) rueidis.Completed {
	switch kind, _, _ := t.cutName(name); {
	case kind == numberKind:
		return command("SET", name, newNumberValue())
	case kind == entryKind && !w.leases(ctx):
		return setCommand(name, marker(flagTombstone, newVersion()), t.o.LeaseTime)
	}
	return command("UNLINK", name)
}

// sendRemovals sends what is kept, if it was not sent. One caller does, and the others wait, for
// two requests' time at most. When it returns nil, what it has found was sent.
func (w *wire) sendRemovals(ctx context.Context) error {
	if w.removals.unsent.Load() == 0 {
		return nil
	}
	within, cancel := context.WithTimeout(ctx, 2*w.t.o.Timeout)
	defer cancel()
	err := w.sendAll(within)
	if err != nil && ctx.Err() == nil && within.Err() != nil {
		return w.unavailable(errRemoving)
	}
	return err
}

var errRemoving = errors.New("removals are sent first, and take their time")

// sendAll is sendRemovals until the context ends.
func (w *wire) sendAll(ctx context.Context) error {
	for w.removals.unsent.Load() > 0 {
		s, mine := w.removals.begin()
		if mine {
			w.removals.end(s, w.sendUnsent(ctx))
		}
		select {
		case <-s.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if s.err != nil && (mine || errors.Is(s.err, shared.ErrUnavailable)) {
			return s.err
		}
	}
	return nil
}

// sendUnsent is for the sender.
func (w *wire) sendUnsent(ctx context.Context) error {
	for {
		batch := w.removals.next(maxBatch)
		if len(batch) == 0 {
			return nil
		}
		cmds := make([]rueidis.Completed, len(batch))
		for i, k := range batch {
			cmds[i] = w.t.removal(ctx, w, k.name)
		}
		for i, result := range w.tryMulti(ctx, cmds) {
			err := result.Error()
			switch {
			case isServerError(err, "OOM"):
				err = w.try(ctx, command("UNLINK", batch[i].name)).Error()
			case isRedirect(err):
				err = w.t.removeElsewhere(ctx, batch[i].name)
			}
			if err = w.settle(batch[i], err); err != nil {
				return err
			}
		}
	}
}

// settle takes the answer to a removal. It returns an error if there was none.
func (w *wire) settle(k *removal, err error) error {
	var server *rueidis.RedisError
	switch {
	case err == nil:
		w.removals.sent(k)
		w.t.awaits.wake(k.name)
		return nil
	case !errors.As(err, &server):
		return err
	case isBusy(server.Error()):
		return w.serverError(err)
	}
	w.removals.refuse(k)
	return nil
}

// resend sends what is kept once the server answers: first, one of those that it has refused.
func (w *wire) resend() {
	defer w.resending.Store(false)
	before := w.removals.kept.Load()
	w.removals.retry(1)
	if w.sendAll(w.t.dialing) == nil && w.removals.kept.Load() < before {
		w.removals.retry(maxKept)
		_ = w.sendAll(w.t.dialing) // its error has been told to who removed
	}
}

// onPong follows each answered heartbeat. It does not wait.
func (w *wire) onPong() {
	w.breaker.pong()
	if w.removals.kept.Load() > 0 && !w.resending.Swap(true) {
		w.ends.Go(w.resend)
	}
}

// noteUnsent logs that removals are lost with the tier.
func (t *Tier) noteUnsent() {
	var s shared.Stats
	if t.Stats(&s); s.KeptRemovals > 0 {
		t.o.Log.Warn("firn/remote: closed before removals could be sent", "removals", s.KeptRemovals)
	}
}

// unread is the error of a read of what is to be removed.
func (w *wire) unread(cmd rueidis.Completed) error {
	if w.removals.kept.Load() == 0 {
		return nil
	}
	args := cmd.Commands()
	if (args[0] == "GET" || args[0] == "GETRANGE") && w.removals.has(args[1]) {
		return fmt.Errorf("%w: %s: a removal of the key was refused, and is to come first", shared.ErrUnavailable, w.addr)
	}
	return nil
}
