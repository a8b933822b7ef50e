package ssd

import (
	"testing"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// tiny is a tier of which the log is mostly headers, so that the index is a large part
// of what Close writes.
var tiny = with(testConfig, func(cfg *Config) { cfg.Bytes, cfg.Memory = 2<<20, 8<<20 })

// fillTiny gives a tier more of the shortest records than it has room for.
func (w *world) fillTiny(t *testing.T) {
	t.Helper()
	w.most = 1
	for i := range 5 {
		w.fill(t, 20_000+4000*i)
		w.settle()
	}
}

// The index is saved however short the records are, beside as many segments as there is
// room for, and the machine may go down.
func TestIndexOfShortRecordsIsSaved(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, mem := started(t, 1, tiny)
		w.fillTiny(t)
		entries := w.tier.Len()
		if n := 8 * int64(entries); n < testConfig(mem, w).Bytes/16 {
			t.Fatalf("an index of %d bytes has room anywhere", n)
		}
		w.close(t)
		wantAtMost(t, mem, 2<<20)
		for range 3 {
			w.reopen(t, inBoot(tiny, "another boot")(mem, w))
			if n := w.tier.Len(); n < entries*98/100 || w.tier.source != fromSnapshot {
				t.Errorf("%d records of %d, from %s", n, entries, w.tier.source)
			}
			w.settle()
			w.close(t)
			wantAtMost(t, mem, 2<<20)
		}
		if n := w.tier.count.reclaimed.Load(); n > 2 {
			t.Errorf("%d segments were reclaimed by a process that wrote nothing", n)
		}
	})
}

// An index that cannot be saved is an error of Close, and all of its entries count as not
// saved.
func TestIndexNotSavedIsAnError(t *testing.T) {
	for _, on := range []vfstest.Kind{vfstest.OpCreate, vfstest.OpTruncate, vfstest.OpWrite, vfstest.OpSync, vfstest.OpRename} {
		inBubble(t, on.String(), func(t *testing.T) {
			w, _, f := startedFaulty(t, 1, testConfig)
			w.fill(t, 100)
			w.settle()
			f.Inject(vfstest.Rule{On: on, Name: format.SnapshotTempName, Err: vfs.ErrNoSpace})
			wantErr(t, w.tier.Close(background), vfs.ErrNoSpace)
			if n, bytes := w.tier.Lost(); n != 100 || bytes == 0 {
				t.Errorf("%d of 100 records, of %d bytes, count as not saved", n, bytes)
			}
			w.tier.Free()
		})
	}
}
