package ssd

import (
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// While the disk stands still the index takes no memory from RAM, which would
// have to evict for it what the disk does not take. It gets what it wants as soon
// as the disk goes on.
func TestIndexWaitsForDiskToGrow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, indexWaitsForDiskToGrow)
}

func indexWaitsForDiskToGrow(t *testing.T) {
	w := newWorld(t, 1)
	f := vfstest.NewFaulty(vfstest.NewMem())
	tier, err := Open(testConfig(f, w))
	if err != nil {
		t.Fatal(err)
	}
	w.tier, w.hasher = tier, tier.ids.Hasher
	var charged atomic.Int64
	if err := tier.Start(func(n int64) error { charged.Add(n); return nil }); err != nil {
		t.Fatal(err)
	}
	held := f.Inject(vfstest.Rule{On: vfstest.OpWrite, Name: format.LogName, Block: true})
	for i := 0; !tier.log.stalled.Load(); i++ {
		key := w.key(i)
		tier.Demote(w.hasher.Hash(key), key, make([]byte, 3000), 0, true, true)
	}
	before := charged.Load()
	tier.index.used.Store(tier.index.allowed.Load()) // it wants more from now on
	tier.work.wakeMaintenance()
	synctest.Wait()
	if n := charged.Load(); n != before {
		t.Errorf("while the disk stood still the index took %d bytes of RAM", n-before)
	}
	held.Remove()
	synctest.Wait()
	if n := charged.Load(); n <= before {
		t.Errorf("the index got no memory when the disk went on")
	}
	w.close(t)
}
