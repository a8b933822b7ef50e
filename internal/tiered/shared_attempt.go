package tiered

import (
	"context"
	"errors"

	"github.com/firncache/firn/internal/shared"
)

// seenShared is what an Attempt has seen of its key, and what it will expect to find. A copy
// that is trusted will do for the look: if it is not the latest, the write fails with
// ErrChanged, and the next look finds it dropped.
type seenShared struct {
	ctx    context.Context // of Look, for the write
	expect shared.Expect
}

// lookAtShared is Look with a shared tier.
func (s *Store) lookAtShared(ctx context.Context, a *Attempt, dst []byte) (value []byte, deadline int64, ok bool, err error) {
	hash, call := a.watch.Hash(), callOf(ctx)
	have := sharedCopy{value: dst}
	if !call.SkipLocal {
		if have, err = s.copyOf(ctx, hash, dst, a.key); err != nil {
			return dst, 0, false, err
		}
	}
	seen := answer{have, true}
	if !have.answers() || have.shortened() {
		seen, err = s.ask(ctx, hash, len(dst), a.key, &have, &call)
	}
	if err != nil && !errors.Is(err, shared.ErrNotFound) {
		return dst, 0, false, s.sharedError(&shared.Entry{Key: a.key}, err)
	}
	a.seen = seenShared{ctx, shared.Expect{Version: seen.version}}
	if value, err = seen.found(dst, nil); err != nil {
		return dst, 0, false, nil
	}
	return value, seen.deadline, true, nil
}

// attemptShared writes what an Attempt has made of what it saw. That the key was written here
// meanwhile is for the shared tier to say: it knows the version.
func (s *Store) attemptShared(a *Attempt, w *change) error {
	ctx, hash := a.seen.ctx, a.watch.Hash()
	if w.op == removeIf {
		return s.removeShared(ctx, hash, a.key, a.seen.expect)
	}
	return s.writeShared(ctx, hash, shared.Entry{Key: a.key, Value: w.value, Deadline: w.deadline}, a.seen.expect)
}
