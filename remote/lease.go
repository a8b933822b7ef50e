package remote

import (
	"context"
	"errors"

	"github.com/firncache/firn/internal/shared"
)

// Lease is asked before a key is loaded.
func (t *Tier) Lease(ctx context.Context, dst []byte, q shared.Query) (shared.Expect, *shared.Found, error) {
	f, err := t.Read(ctx, dst, shared.Query{Key: q.Key})
	switch {
	case errors.Is(err, shared.ErrNotFound):
		return shared.Expect{Version: f.Version}, nil, nil
	case err != nil:
		return shared.Expect{}, nil, err
	case q.Have != 0 && f.Version == q.Have:
		return shared.Expect{Version: q.Have}, nil, nil
	}
	return shared.Expect{Version: f.Version}, &f, nil
}

// Await waits until the entry that was to be expected with ErrLeased is there no more.
func (t *Tier) Await(context.Context, []byte, shared.Expect) error { return nil }

// Release gives up what Lease has got.
func (t *Tier) Release([]byte, shared.Expect) {}
