package remote

import (
	"context"

	"github.com/firncache/firn/internal/shared"
)

// ReadMulti reads many keys.
func (t *Tier) ReadMulti(ctx context.Context, queries []shared.Query, each func(i int, f shared.Found, err error)) {
	for i, q := range queries { // TODO: in one go
		f, err := t.Read(ctx, nil, q)
		each(i, f, err)
	}
}

// WriteMulti writes many entries.
func (t *Tier) WriteMulti(ctx context.Context, entries []shared.Entry, each func(i int, w shared.Written, err error)) {
	for i, e := range entries { // TODO: in one go
		w, err := t.Write(ctx, e, shared.Anything)
		each(i, w, err)
	}
}

// RemoveMulti removes many entries.
func (t *Tier) RemoveMulti(ctx context.Context, keys [][]byte, each func(i int, err error)) {
	for i, key := range keys { // TODO: in one go
		each(i, t.Remove(ctx, key, shared.Anything))
	}
}
