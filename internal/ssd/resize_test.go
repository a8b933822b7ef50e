package ssd

import (
	"errors"
	"fmt"
	"testing"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// resized is a tier of small segments under budgets that change, of records that leave
// some of its log empty.
func resized(w *world, mem *vfstest.Mem, bytes, memory int64) Config {
	cfg := testConfig(mem, w)
	cfg.Bytes, cfg.Memory = bytes, memory
	return cfg
}

// A log keeps all its records when RAMBytes rises, which takes room of the snapshot's from
// the segments, and lowers their number.
func TestMoreMemoryKeepsTheLog(t *testing.T) {
	t.Parallel()
	for _, end := range []ending{killed, closing} {
		inBubble(t, string(end), func(t *testing.T) {
			const keys = 1500
			w, mem := newWorld(t, 1), vfstest.NewMem()
			w.reopen(t, resized(w, mem, 16<<20, 1<<20))
			w.fill(t, keys)
			w.settle()
			files := w.end(t, mem, end)
			h := w.heir()
			h.reopen(t, resized(h, files, 16<<20, 2<<20))
			h.settle()
			h.wantAll(t)
			h.close(t)
			wantAtMost(t, files, 16<<20)
		})
	}
}

// wantAtMost wants files of a closed tier to take no more than so many bytes.
func wantAtMost(t *testing.T, files *vfstest.Mem, bytes int64) {
	t.Helper()
	if n := fileBytes(t, files); n > bytes {
		t.Fatalf("the files take %d bytes, want %d at most", n, bytes)
	}
}

// Budgets go up and down over restarts of every kind. Records that fit are kept, the
// files of a closed tier take no more than they may, and nothing old is found.
func TestBudgetsChange(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		inBubble(t, fmt.Sprint(seed), func(t *testing.T) {
			const keys = 600
			w, files := newWorld(t, seed), vfstest.NewMem()
			bytes, memory := int64(4<<20), int64(2<<20)
			w.reopen(t, resized(w, files, bytes, memory))
			for range 12 {
				w.steps(t, 400, keys)
				w.settle()
				bytesBefore, slotsBefore := w.live(), w.tier.log.Usable.Load()
				log := w.tier.log.Number()
				end := []ending{killed, closing}[w.rng.IntN(2)]
				old := w
				files = w.end(t, files, end)
				w = old.heir()
				w.rng, w.seq = old.rng, old.seq+1<<20
				bytes = 1<<20 + int64(w.rng.IntN(14))<<18
				memory = 1<<20 + int64(w.rng.IntN(6))<<19
				w.reopen(t, resized(w, files, bytes, memory))
				if w.rng.IntN(3) > 0 {
					w.settle()
				}
				w.checkResized(t, bytesBefore, slotsBefore, log, end)
				w.check(t, keys, false)
			}
			w.close(t)
			wantAtMost(t, files, bytes)
		})
	}
}

// checkResized wants a tier that was opened with other budgets to have the log that was
// there, and as much of what is alive there as has room. A log that is cleaned loses
// nothing before three quarters of each segment are alive (log.ChooseVictim), and five
// eighths of its bytes leave room for what a segment has beside records. With fewer slots
// than before none may be free at first, and one segment goes unmoved.
func (w *world) checkResized(t *testing.T, before, slots int64, log uint64, end ending) {
	t.Helper()
	l := w.tier.log
	if l.SegmentBytes() < format.MinSegment || l.Number() != log {
		t.Fatalf("%s: the log is another one: with %d bytes and a RAM budget of %d", end, w.tier.cfg.Bytes, w.tier.cfg.Memory)
	}
	segment, usable := int64(l.SegmentBytes()), l.Usable.Load()
	room := (usable - int64(l.FreeTarget) - 2) * segment
	least := min(before, room*5/8)
	if usable < slots {
		least -= segment
	}
	if n := w.live(); n < least {
		t.Errorf("%s: %d bytes of %d are left in %d segments with room for %d", end, n, before, usable, room)
	}
}

// live is how many bytes the records take that the tier took over and still has.
func (w *world) live() (bytes int64) {
	for key := range w.there {
		h := w.hasher.Hash([]byte(key))
		err := ErrChanged
		for errors.Is(err, ErrChanged) { // it is moved meanwhile
			_, err = w.tier.Peek(background, nil, []byte(key), h)
		}
		if ref, ok := w.tier.locate(h, false); ok && err == nil {
			bytes += int64(w.tier.log.Weight(ref.entry.Class()))
		}
	}
	return bytes
}
