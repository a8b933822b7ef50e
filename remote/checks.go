package remote

import (
	"context"
	"fmt"

	"github.com/firncache/firn/internal/shared"
)

// checkOf names a check: who wants to check the same copy shares the answer, if that was asked for
// within the bound.
type checkOf struct {
	key  string
	have shared.Version
}

// check is Read of a suspect copy. Another caller's answer has no stamp: a push that came after it,
// and before this caller began to watch the key, would not void the copy.
func (t *sharedTier) check(ctx context.Context, dst []byte, q shared.Query) (shared.Found, error) {
	of, mine := checkOf{string(q.Key), q.Have}, false
	f, err := t.checks.Do(ctx, of, bootNanos()-int64(t.o.Staleness), func(ctx context.Context) (shared.Found, error) {
		mine = true
		return t.readKey(ctx, nil, shared.Query{Key: []byte(of.key), Have: of.have})
	})
	if err == nil && !mine {
		f.Stamp = 0
	}
	f.Value = append(dst, f.Value...)
	return f, err
}

// enterCheck waits, for a request's time, until few enough checks are on their way.
func (w *wire) enterCheck(ctx context.Context) (leave func(), err error) {
	w = w.real()
	select {
	case w.checking <- struct{}{}:
		return w.leaveCheck, nil
	default:
	}
	within, cancel := context.WithTimeout(ctx, w.t.o.Timeout)
	defer cancel()
	select {
	case w.checking <- struct{}{}:
		return w.leaveCheck, nil
	case <-w.done:
		return nil, w.unavailable(errClosed)
	case <-within.Done():
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("%w: %s: too many copies are checked", shared.ErrUnavailable, w.addr)
}

// enterChecks is enterCheck for a part of a batch, if it has a check.
func (w *wire) enterChecks(ctx context.Context, queries []shared.Query, part []item) (leave func(), err error) {
	for _, it := range part {
		if queries[it.i].Have != 0 {
			return w.enterCheck(ctx)
		}
	}
	return func() {}, nil
}

func (w *wire) leaveCheck() { <-w.checking }
