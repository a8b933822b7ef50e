package remote

import (
	"context"

	"github.com/firncache/firn/internal/clock"
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/wire"
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
	f, err := t.checks.Do(ctx, of, clock.Boot()-int64(t.o.Staleness), func(ctx context.Context) (shared.Found, error) {
		mine = true
		return t.readKey(ctx, nil, shared.Query{Key: []byte(of.key), Have: of.have})
	})
	if err == nil && !mine {
		f.Stamp = 0
	}
	f.Value = append(dst, f.Value...)
	return f, err
}

// enterChecks is EnterCheck for a part of a batch, if it has a check.
func (t *sharedTier) enterChecks(ctx context.Context, w *wire.Wire, queries []shared.Query, part []item) (leave func(), err error) {
	for _, it := range part {
		if queries[it.i].Have != 0 {
			return w.EnterCheck(ctx)
		}
	}
	return func() {}, nil
}
