package remote

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/firncache/firn/remote/internal/command"
	"github.com/firncache/firn/remote/internal/entry"
	"github.com/firncache/firn/remote/internal/wire"
)

// Clear removes every entry that is there, from all servers: again if slots have moved meanwhile,
// perhaps to one that was done.
func (t *sharedTier) Clear(ctx context.Context) error {
	if err := t.cluster.Known(ctx); err != nil {
		return err
	}
	for range maxClears {
		before := t.cluster.Moves()
		for _, w := range t.cluster.Owners() {
			if err := t.clear(ctx, w); err != nil {
				return err
			}
		}
		if t.cluster.Moves() == before {
			break
		}
	}
	return nil
}

// clear removes the entries that a server's SCAN lists, a few hundred at a time.
func (t *sharedTier) clear(ctx context.Context, w *wire.Wire) error {
	entries := t.names.Prefix + string(entry.KindEntry)
	for cursor := uint64(0); ; {
		scan, err := w.Do(ctx, command.New("SCAN", strconv.FormatUint(cursor, 10), "MATCH", command.AllNames(entries), "COUNT", "512")).AsScanEntry()
		if err != nil {
			return w.ServerError(err)
		}
		keys := make([][]byte, len(scan.Elements))
		for i, name := range scan.Elements {
			keys[i] = []byte(strings.TrimPrefix(name, entries))
		}
		t.RemoveMulti(ctx, keys, func(_ int, failed error) { err = cmp.Or(err, failed) })
		if cursor = scan.Cursor; cursor == 0 || err != nil {
			return err
		}
	}
}

// maxClears is how often servers are cleared whose slots move all the time.
const maxClears = 8
