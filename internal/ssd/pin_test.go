package ssd

import (
	"bytes"
	"testing"
	"time"

	"github.com/firncache/firn/internal/vfs/vfstest"
)

// The buffer of a segment that somebody reads in is not used for another, however
// much is appended meanwhile.
func TestPinnedSegmentKeepsItsBytes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.reopen(t, testConfig(vfstest.NewMem(), w))
		w.put(t, w.key(0))
		l := w.tier.log
		l.mu.Lock()
		slot, serial := l.open.slot, l.open.serial
		l.mu.Unlock()
		seg := l.pin(slot, serial)
		begin, end := l.tail.Load(), seg.end
		before := bytes.Clone(seg.buf[:end])
		for i := 1; l.tail.Load()-begin < 4*uint64(len(seg.buf)) && i < 10_000; i++ {
			w.set(w.key(i), 0)
			if !w.demote(w.key(i)) {
				time.Sleep(time.Second) // until there is room
			}
		}
		l.mu.Lock()
		done := seg.done
		l.mu.Unlock()
		if !done {
			t.Fatal("the segment was not written: its buffer was wanted by nobody")
		}
		if !bytes.Equal(seg.buf[:end], before) {
			t.Error("the bytes changed while they were read")
		}
		l.unpin(seg)
		w.close(t)
	})
}
