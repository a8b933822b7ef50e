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
	have := sharedCopy{value: dst}
	if !callOf(ctx).SkipLocal {
		if have, err = s.copyOf(ctx, a.watch.Hash(), dst, a.key); err != nil {
			return dst, 0, false, err
		}
	}
	seen, err := s.seeShared(ctx, a, len(dst), &have)
	if err != nil || seen.state != Fresh {
		return dst, 0, false, err
	}
	return seen.value, seen.deadline, true, nil
}

// seeShared is what the shared tier has of an attempt's key, and notes that the attempt has
// seen it. have is the copy, behind n bytes.
func (s *Store) seeShared(ctx context.Context, a *Attempt, n int, have *sharedCopy) (seen answer, err error) {
	if seen = (answer{*have, true}); !have.answers() || have.shortened() {
		call := callOf(ctx)
		seen, err = s.ask(ctx, a.watch.Hash(), n, a.key, have, &call)
	}
	if errors.Is(err, shared.ErrNotFound) {
		seen.state, err = Miss, nil
	}
	a.seen = seenShared{ctx, shared.Expect{Version: seen.version}}
	return seen, s.sharedError(&shared.Entry{Key: a.key}, err)
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
