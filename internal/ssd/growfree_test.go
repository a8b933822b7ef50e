package ssd

import (
	"testing"
	"testing/synctest"

	"github.com/firncache/firn/internal/record"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// Who asks RAM for memory may be in there when the cache is forgotten: RAM's memory
// goes after Free, and Free waits for that.
func TestFreeWaitsForGrowth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.most = 1
		tier, err := Open(testConfig(vfstest.NewMem(), w))
		if err != nil {
			t.Fatal(err)
		}
		w.tier, w.hasher = tier, record.NewHasher(tier.Seed())
		started, asked, answer := false, false, make(chan struct{})
		err = tier.Start(func(int64) error {
			if started {
				asked = true
				<-answer
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		started = true
		for i := 0; !asked; i++ {
			w.set(w.key(i%4500), 0)
			w.demote(w.key(i % 4500))
			synctest.Wait()
		}
		if err := tier.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		freed := make(chan struct{})
		go func() {
			defer close(freed)
			tier.Free()
		}()
		synctest.Wait()
		select {
		case <-freed:
			t.Error("Free did not wait")
		default:
		}
		close(answer)
		<-freed
	})
}
