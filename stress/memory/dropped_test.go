package memory

import (
	"runtime"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/offheap"
)

// Caches that nobody closes go with the last reference to them: 50 of 64 MiB
// take less address space than five.
func TestDroppedWithoutCloseAddressSpace(t *testing.T) {
	if !offheap.Growable {
		t.Skip("what lies on the Go heap is the collector's to keep or to give back")
	}
	start := measure(t).Address
	for i := range 50 {
		c, err := firn.Open(firn.Options{RAMBytes: 64 << 20, MaxRAMBytes: 64 << 20})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.SetWithTTL([]byte("k"), []byte("v"), []time.Duration{firn.Forever, time.Hour}[i%2]); err != nil {
			t.Fatal(err)
		}
		c = nil
		runtime.GC()
	}
	for watchdog := time.Now().Add(2 * time.Minute); measure(t).Address-start >= 5*64<<20; runtime.GC() {
		if time.Now().After(watchdog) {
			t.Fatalf("%d MiB of address space are left", (measure(t).Address-start)>>20)
		}
	}
}
