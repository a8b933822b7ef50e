package ssd

import (
	"testing"
	"testing/synctest"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// Where records come that fill most of a segment, the log is behind as long as the
// open segment has no room for one, and no other can be opened: whoever asks waits,
// and loses none.
func TestBehindForLargeRecords(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		f := vfstest.NewFaulty(vfstest.NewMem())
		w.reopen(t, testConfig(f, w))
		demote := func(key int, n int) bool {
			return w.tier.Demote(w.hasher.Hash(w.key(key)), w.key(key), make([]byte, n), 0, true, false)
		}
		const large = 60_000
		if !demote(0, large) {
			t.Fatal("no room")
		}
		synctest.Wait()
		held := f.Inject(vfstest.Rule{On: vfstest.OpWrite, Name: format.LogName, Block: true})
		if !demote(1, 8000) { // the first segment is full, and being written
			t.Fatal("no room in the second segment")
		}
		synctest.Wait()
		go func() { held.Remove() }()
		if _, ok := w.tier.Ready(0); !ok {
			t.Error("not ready when the disk had gone on")
		}
		if !demote(2, large) {
			t.Errorf("%+v: a large record was refused after Ready", w.tier.Stats())
		}
		w.close(t)
	})
}
