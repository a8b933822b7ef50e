package ssd

import (
	"fmt"
	"time"

	"github.com/firncache/firn/internal/inside"
	"github.com/firncache/firn/internal/ssd/format"
)

// Budget is how many bytes the tier's files may take.
func (t *Tier) Budget() int64 { return t.cfg.Bytes }

// Health is the tier's state, why it is that, in plain words, and since when; zero: since Open.
func (t *Tier) Health() (s inside.State, why string, since time.Time) {
	if t.state.Load() == closed {
		return inside.Offline, "the cache is closed", time.Time{}
	}
	if s, why, since = t.health.tell(); s != inside.Online {
		return s, why, since
	}
	if stalled, waits, ok := t.log.whenStalled(); ok {
		return inside.Stalled, fmt.Sprintf("the disk is behind: %d KiB wait to be written. Values that leave RAM wait for it, up to %v, and then do not get here", waits>>10, t.cfg.MaxWriteStall), stalled
	}
	if t.index.LowOnMemory() {
		why = join("its index waits for memory from RAM", why)
	}
	if !t.admission.mayRewrite() {
		why = join("WriteBudget is spent: what would be moved to make room goes", why)
	}
	return inside.Online, why, since
}

// tell is Health as far as the faults of the disk go.
func (h *health) tell() (s inside.State, why string, since time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.cause == nil:
		return inside.Online, h.story.online(), h.story.since
	case h.story.trying:
		return inside.Recovering, h.story.offline(h.cause), h.story.since
	}
	return inside.Offline, h.story.offline(h.cause), h.story.since
}

func join(a, b string) string {
	if b == "" {
		return a
	}
	return a + "; " + b
}

// whenStalled reports whether the log is stalled, since when, and how many bytes wait for the
// writer.
func (l *log) whenStalled() (since time.Time, waits uint64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.stalled.Load() {
		return since, 0, false
	}
	return l.stalledSince, l.tail.Load() - l.flushed.Load(), true
}

// slotsAtOnce is how many slots are looked at in one hold of the log's lock.
const slotsAtOnce = 1024

// Segments appends the map of the log to buf: see inside.Inside. A tier that is off, or closed,
// has none.
func (t *Tier) Segments(buf []byte) []byte {
	if t.state.Load() != on {
		return buf
	}
	l := t.log
	for from := 0; from < len(l.slots); from += slotsAtOnce {
		l.mu.Lock()
		for i := from; i < min(from+slotsAtOnce, len(l.slots)); i++ {
			if l.slotWords[i].Serial.Load() != 0 || !l.isSurplus(i) {
				buf = append(buf, segmentByte(&l.slots[i], &l.slotWords[i]))
			}
		}
		l.mu.Unlock()
	}
	return buf
}

// segmentByte is a slot's byte in the map. The caller holds log.mu.
func segmentByte(s *slot, w *format.SlotWords) byte {
	switch {
	case s.bad:
		return inside.SegmentFailing
	case w.Serial.Load() == 0:
		return inside.SegmentFree
	case !s.sealed:
		return inside.SegmentOpen
	}
	live, all := max(s.alive.Load(), 0), int64(max(w.Written.Load(), 1))
	return byte(min((100*live+all-1)/all, 100)) // 0 only if nothing lives
}
