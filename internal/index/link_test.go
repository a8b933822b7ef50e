package index

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/firncache/firn/internal/offheap"
)

// Chains hold wherever in the region their chunks lie: links count a table's own
// buckets. These lie beyond 256 GiB, of which next to nothing is touched.
func TestLinksFarOut(t *testing.T) {
	t.Parallel()
	if !offheap.Growable {
		t.Skip("address space costs memory in this build")
	}
	const shift, size = 17, 257 << 30
	r, err := offheap.Reserve(size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Release() })
	const first = 256 << 30 >> shift
	w := &world{t: t, live: map[uint32]bool{}, chunks: first + 1}
	w.table.Init(Memory{Region: r, ChunkShift: shift}, first, make([]atomic.Uint32, 64), w.hashAll)
	rng := rand.New(rand.NewPCG(7, 8))
	for i := range 20_000 {
		hash := rng.Uint64()
		if i%10 == 0 {
			hash = 0xabcd_0000_0042 // one chain of 200 buckets
		}
		w.insert(hash)
	}
	w.check()
	for loc := range w.live {
		w.remove(loc)
		if len(w.live) == 100 {
			break
		}
	}
	w.check()
	for at, b := range r.Bytes(0, 8<<20) {
		if b != 0 {
			t.Fatalf("byte %d was written to, which is not the table's", at)
		}
	}
}
