package remote

import (
	"context"
	"errors"

	"github.com/firncache/firn/internal/shared"
)

// Lease is for a process that is about to load a key.
func (t *Tier) Lease(ctx context.Context, dst, key []byte, have shared.Version) (shared.Expect, *shared.Found, error) {
	f, err := t.Read(ctx, dst, shared.Query{Key: key})
	switch {
	case errors.Is(err, shared.ErrNotFound):
		return shared.Expect{Version: f.Version}, nil, nil
	case err != nil:
		return shared.Expect{}, nil, err
	case have != 0 && f.Version == have:
		return shared.Expect{Version: have}, nil, nil
	}
	return shared.Expect{Version: f.Version}, &f, nil
}

// Release gives up what Lease has returned.
func (t *Tier) Release([]byte, shared.Expect) {}
