package wire

import (
	"context"
	"fmt"

	"github.com/firncache/firn/internal/shared"
)

// maxChecks is how many checks of suspect copies a server gets at a time: after an
// interruption all copies are suspect at once, and other requests are not to wait behind them.
const maxChecks = 64

// EnterCheck waits, for a request's time, until few enough checks are on their way.
func (w *Wire) EnterCheck(ctx context.Context) (leave func(), err error) {
	w = w.Real()
	select {
	case w.checking <- struct{}{}:
		return w.leaveCheck, nil
	default:
	}
	within, cancel := context.WithTimeout(ctx, w.common.Timeout)
	defer cancel()
	select {
	case w.checking <- struct{}{}:
		return w.leaveCheck, nil
	case <-w.done:
		return nil, w.Unavailable(ErrClosed)
	case <-within.Done():
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("%w: %s: too many copies are checked", shared.ErrUnavailable, w.Addr)
}

func (w *Wire) leaveCheck() { <-w.checking }
