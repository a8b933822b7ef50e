package ssd

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// A cache that was closed is freed when the collector finds it, by a goroutine of
// the runtime's: not by one of the bubble in which the cache was used.
func TestFreedOutsideItsBubble(t *testing.T) {
	collected := make(chan struct{})
	synctest.Test(t, func(t *testing.T) {
		c, err := firn.Open(firn.Options{RAMBytes: 1 << 20, SSD: harness.On(firn.SSDOptions{Bytes: 4 << 20}, vfstest.NewMem())})
		if err != nil {
			t.Fatal(err)
		}
		key, value := harness.Numbered(1)
		if err := c.Set(key, value); err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		runtime.AddCleanup(c, func(done chan struct{}) { close(done) }, collected)
	})
	for deadline := time.Now().Add(30 * time.Second); ; {
		runtime.GC()
		select {
		case <-collected:
			runtime.GC()
			return
		case <-time.After(time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatal("the cache is not collected")
		}
	}
}
