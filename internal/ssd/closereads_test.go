package ssd

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/vfs"
)

// Row 16: nor does a disk do nothing that is slow to read what Close waits for: a
// segment that is being recovered, or reclaimed.
func TestCloseWaitsForSlowReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const keys = 200
		w := newWorld(t, 1)
		mem := vfs.NewMem()
		w.reopen(t, testConfig(mem, w))
		for i := range keys {
			w.put(t, w.key(i))
		}
		w.written()
		h := w.heir()
		f := vfs.NewFaulty(mem.CrashClone(nil, vfs.Kill))
		cfg := testConfig(f, h)
		cfg.Patience = time.Second
		slow := f.Inject(vfs.Rule{On: vfs.OpRead, Name: logName, Delay: cfg.Patience * 9 / 10})
		if err := h.open(cfg); err != nil {
			t.Fatal(err)
		}
		slow.AwaitHits(slow.Hits() + 2) // the last segment is read; of the one before, the list is yet to be
		began := time.Now()
		h.close(t)
		if took := time.Since(began); took < cfg.Patience {
			t.Fatalf("Close took %v: the test shows nothing", took)
		}
		slow.Remove()
		h.reopen(t, cfg)
		if n := h.tier.Len(); n != keys {
			t.Errorf("%d records, want %d", n, keys)
		}
		h.close(t)
		w.close(t)
	})
}
