package fleet

import (
	"bytes"
	"context"
	"errors"

	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/shared"
)

// Attempt is local.Attempt, with what it has seen in the shared tier.
type Attempt struct {
	local.Attempt
	seen sight
}

// sight is what an Attempt has seen of its key, and what it will expect to find. A copy
// that is trusted will do for the look: if it is not the latest, the write fails with
// ErrChanged, and the next look finds it dropped.
type sight struct {
	ctx    context.Context // of Look, for the write
	expect shared.Expect
}

// Look is Look with a shared tier.
func (s *Fleet) Look(ctx context.Context, a *Attempt, dst []byte) (value []byte, deadline int64, ok bool, err error) {
	have := localCopy{value: dst}
	if !callOf(ctx).SkipLocal {
		if have, err = s.copyOf(ctx, a.Watch.Hash(), dst, a.Key); err != nil {
			return dst, 0, false, err
		}
	}
	seen, err := s.see(ctx, a, len(dst), &have)
	if err != nil || seen.state != local.Fresh {
		return dst, 0, false, err
	}
	return seen.value, seen.deadline, true, nil
}

// see is what the shared tier has of an attempt's key, and notes that the attempt has
// seen it. have is the copy, behind n bytes.
func (s *Fleet) see(ctx context.Context, a *Attempt, n int, have *localCopy) (seen answer, err error) {
	if seen = (answer{*have, true}); !have.answers() || have.shortened() {
		call := callOf(ctx)
		seen, err = s.fetch(ctx, a.Watch.Hash(), n, a.Key, have, &call)
	}
	if errors.Is(err, shared.ErrNotFound) {
		seen.state, err = local.Miss, nil
	}
	a.seen = sight{ctx, shared.Expect{Version: seen.version}}
	return seen, s.writeError(&shared.Entry{Key: a.Key}, err)
}

// Forget forgets what an attempt has seen, at its end.
func Forget(a *Attempt) { a.seen = sight{} }

// Replace writes what an attempt has made of what it saw. That the key was written here
// meanwhile is for the shared tier to say: it knows the version.
func (s *Fleet) Replace(a *Attempt, value []byte, deadline int64) error {
	return s.writeServer(a.seen.ctx, a.Watch.Hash(), shared.Entry{Key: a.Key, Value: value, Deadline: deadline}, a.seen.expect)
}

// Remove is Replace by nothing.
func (s *Fleet) Remove(a *Attempt) error {
	return s.removeServer(a.seen.ctx, a.Watch.Hash(), a.Key, a.seen.expect)
}

// DeleteIfEqual is Store.DeleteIfEqual with a shared tier.
func (s *Fleet) DeleteIfEqual(ctx context.Context, key, stored []byte) error {
	var a Attempt
	s.local.Begin(&a.Attempt, key) // and then look: a write is either seen or noticed
	defer s.local.End(&a.Attempt)
	b := local.GetScratch()
	defer local.PutScratch(b)
	have := localCopy{value: b.Bytes[:0]}
	if !callOf(ctx).SkipLocal {
		have = s.peekCopy(ctx, a.Watch.Hash(), b.Bytes[:0], key, (*local.Store).PeekAny)
	}
	seen, err := s.see(ctx, &a, 0, &have)
	b.Bytes = seen.value
	if err != nil || seen.state != local.Fresh && seen.state != local.Stale || !bytes.Equal(seen.value, stored) {
		return err
	}
	return local.UnlessChanged(s.Remove(&a))
}
