package ssd

import (
	"fmt"
	"time"

	"github.com/firncache/firn/internal/inside"
)

// Budget is how many bytes the tier's files may take.
func (t *Tier) Budget() int64 { return t.cfg.Bytes }

// Health is the tier's state, why it is that, in plain words, and since when; zero: since Open.
func (t *Tier) Health() (s inside.State, why string, since time.Time) {
	if t.state.Load() == closed {
		return inside.Offline, "the cache is closed", time.Time{}
	}
	if s, why, since = t.health.State(); s != inside.Online {
		return s, why, since
	}
	if stalled, waits, ok := t.log.WhenStalled(); ok {
		return inside.Stalled, fmt.Sprintf("the disk is behind: %d KiB wait to be written. Values that leave RAM wait for it up to %v, and are dropped then", waits>>10, t.cfg.MaxWriteStall), stalled
	}
	if t.index.LowOnMemory() {
		why = join("its index waits for memory from RAM", why)
	}
	if !t.admission.MayRewrite() {
		why = join("WriteBudget is spent: what would be moved to make room goes", why)
	}
	return inside.Online, why, since
}

func join(a, b string) string {
	if b == "" {
		return a
	}
	return a + "; " + b
}

// Segments appends the map of the log to buf: see inside.Inside. A tier that is off, or closed,
// has none.
func (t *Tier) Segments(buf []byte) []byte {
	if t.state.Load() != on {
		return buf
	}
	return t.log.AppendMap(buf)
}
