package load

import (
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/firncache/firn/internal/local"
)

// logger logs what no caller sees. It is called with no lock held: it calls the user's
// handler.
type logger struct {
	to       *slog.Logger // nil: slog.Default
	unstored atomic.Bool  // logged
	panicAt  atomic.Int64 // the store's time of the last panic that was logged, 0 before the first
	unlogged atomic.Int64 // panics since
}

func (l *logger) logger() *slog.Logger {
	if l.to == nil {
		return slog.Default()
	}
	return l.to
}

// noteUnstored logs once that loaded values are returned and not stored, for being too large.
func (l *logger) noteUnstored(err error) {
	if !errors.Is(err, local.ErrTooLarge) || l.unstored.Swap(true) { // otherwise there is nothing, or no room just now
		return
	}
	l.logger().Warn("firn: a loaded value is too large to be stored, and each call for it loads it; load_store_errors counts such values, and this is logged once", "error", err)
}

// panicEvery is how often a panic is logged at most, in the store's milliseconds.
const panicEvery = int64(10 * time.Second / time.Millisecond)

// panicked logs a panic of a loader without callers, and how many were not logged
// before it.
func (l *logger) panicked(p *panicked, now int64) {
	last := l.panicAt.Load()
	if last != 0 && now-last < panicEvery || !l.panicAt.CompareAndSwap(last, now) {
		l.unlogged.Add(1)
		return
	}
	l.logger().Error("firn: a loader panicked, and nobody waited for it; load_panics counts panics", "panic", p.value, "unlogged before", l.unlogged.Swap(0), "stack", string(p.stack))
}
