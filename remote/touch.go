package remote

import (
	"context"
	"errors"

	"github.com/firncache/firn/internal/shared"
)

// maxTouches is how often an entry is touched that is written all the time.
const maxTouches = 8

// Touch writes an entry again with another deadline. One that has ended is not found, though it
// may be there for its grace.
func (t *sharedTier) Touch(ctx context.Context, key []byte, deadline int64) (written shared.Written, err error) {
	for range maxTouches {
		f, err := t.Read(ctx, nil, shared.Query{Key: key})
		if err != nil {
			return written, err
		}
		if now, _ := t.storeTimes(); f.Deadline != 0 && f.Deadline <= now {
			return written, shared.ErrNotFound // also a negative entry
		}
		written, err = t.Write(ctx, shared.Entry{Key: key, Value: f.Value, Deadline: deadline}, shared.Expect{Version: f.Version})
		if !errors.Is(err, shared.ErrChanged) {
			return written, err
		}
	}
	return written, shared.ErrChanged
}
