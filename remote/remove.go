package remote

import (
	"context"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/command"
	"github.com/firncache/firn/remote/internal/entry"
	"github.com/firncache/firn/remote/internal/wire"
	"github.com/redis/rueidis"
)

// Remove removes an entry. With an error it may not have been removed.
func (t *sharedTier) Remove(ctx context.Context, key []byte, expect shared.Expect) error {
	name := t.names.Entry(key)
	return t.cluster.Ask(ctx, name, func(w *wire.Wire, _ int) error {
		t.count.writes.Add(1)
		return t.delIf(ctx, w, name, expect)
	})
}

// removal removes an entry whatever there is. Without leases a removal is remembered for a while,
// by a tombstone: who had found nothing before, and loads since, does not find nothing again.
func (t *sharedTier) removal(ctx context.Context, w *wire.Wire, name string) rueidis.Completed {
	if !w.CanLease(ctx) {
		return command.Set(name, marker(entry.FlagTombstone, entry.NewVersion()), t.o.LeaseTime)
	}
	return command.New("UNLINK", name)
}

// remove removes an entry whatever there is. A server that has no memory for what is to remember
// it, forgets it without.
func (t *sharedTier) remove(ctx context.Context, w *wire.Wire, name string) error {
	err := w.Do(ctx, t.removal(ctx, w, name)).Error()
	if command.IsError(err, "OOM") {
		err = w.Do(ctx, command.New("UNLINK", name)).Error()
	}
	return w.ServerError(err)
}
