package ssd

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// Row 16: nor does a disk do nothing that is slow to read what Close waits for: a
// segment that is being cleaned.
func TestCloseWaitsForSlowReads(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		mem := vfstest.NewMem()
		f := vfstest.NewFaulty(mem)
		halfDead(t, w, f)
		w.tier.cfg.Patience = time.Second
		slow := f.Inject(vfstest.Rule{On: vfstest.OpRead, Name: format.LogName, Delay: w.tier.cfg.Patience * 9 / 10})
		synctest.Wait()
		w.tier.log.freeTarget = 4
		w.tier.work.wakeMaintenance()
		slow.AwaitHits(2) // the trailer, and the list
		began := time.Now()
		w.close(t)
		if took := time.Since(began); took < time.Second {
			t.Fatalf("Close took %v: the test shows nothing", took)
		}
		slow.Remove()
		w.reopen(t, smallConfig(mem, w))
		if lost := w.missing(t); len(lost) > 0 {
			t.Errorf("%d records are not found", len(lost))
		}
		w.close(t)
	})
}
