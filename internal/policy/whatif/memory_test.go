package whatif

import (
	"runtime"
	"testing"
)

// What it takes of the Go heap is what it says, and not above what it was given, but for the little that an allocator rounds up more. It is not
// parallel: nobody else allocates.
func TestHeapIsWhatItSays(t *testing.T) {
	for _, bytes := range []int{MinBytes, 128 << 10, 256 << 10, 1 << 20} {
		var sims [16]*Simulation
		before := heap()
		for i := range sims {
			sims[i] = New(bytes, 0.01)
		}
		took := (heap() - before) / len(sims)
		if says := int(sims[0].Bytes()); took > says*105/100 || took < says*8/10 || took > bytes*105/100 {
			t.Errorf("one of %d bytes takes %d of the heap, and says %d", bytes, took, says)
		}
		runtime.KeepAlive(&sims)
	}
}

func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
