package remote

import (
	"context"

	"github.com/redis/rueidis"
)

// clear removes the keys that a pattern matches, of which a server's SCAN tells a few hundred at a
// time.
func (w *wire) clear(ctx context.Context, pattern string) error {
	for cursor := uint64(0); ; {
		entry, err := w.do(ctx, command("SCAN", itoa(cursor), "MATCH", pattern, "COUNT", "512")).AsScanEntry()
		if err != nil {
			return w.serverError(err)
		}
		if err := w.unlink(ctx, entry.Elements); err != nil {
			return err
		}
		if cursor = entry.Cursor; cursor == 0 {
			return nil
		}
	}
}

// unlink removes keys, each with a command of its own: they may be of several slots.
func (w *wire) unlink(ctx context.Context, names []string) error {
	for len(names) > 0 {
		n := min(len(names), maxBatch)
		cmds := make([]rueidis.Completed, n)
		for i, name := range names[:n] {
			cmds[i] = command("UNLINK", name)
		}
		for _, result := range w.doMulti(ctx, cmds...) {
			if err := result.Error(); err != nil {
				return w.serverError(err)
			}
		}
		names = names[n:]
	}
	return nil
}
