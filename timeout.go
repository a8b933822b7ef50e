package firn

import (
	"context"
	"time"
)

// softTimeout is closed when LoadingOptions.SoftTimeout is over; without one it
// is nil. The caller calls stop when it does not wait any more.
func (c *Cache) softTimeout() (over <-chan struct{}, stop func() bool) {
	if c.loading.SoftTimeout == 0 {
		return nil, func() bool { return false }
	}
	ch := make(chan struct{})
	return ch, time.AfterFunc(c.loading.SoftTimeout, func() { close(ch) }).Stop
}

// hardTimeout is a loader's context: it ends with LoadingOptions.HardTimeout.
func (c *Cache) hardTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.loading.HardTimeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, c.loading.HardTimeout, ErrLoadTimeout)
}
