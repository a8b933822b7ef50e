package ram

import (
	"github.com/firncache/firn/internal/index"
	"github.com/firncache/firn/internal/offheap"
)

// BatchWindow is how many operations of a batch are under way at once: enough
// to keep the memory system busy, few enough that prefetched lines are still in the
// processor's cache when they are used.
const BatchWindow = 32

// Window is the scratch space of one window of a batch.
type Window struct {
	hashes [BatchWindow]uint64
}

// Hash is the hash of key i of a prepared window.
func (w *Window) Hash(i int) uint64 { return w.hashes[i] }

// Prepare hashes up to BatchWindow keys and starts to load the memory that their
// lookups will touch: first all their buckets, then all their records, as many bytes
// of each as records have on average. It is a hint: Set, to which the keys go next,
// reads everything again.
func (t *Tier) Prepare(w *Window, keys [][]byte) {
	var buckets [BatchWindow]*index.Bucket
	for i, key := range keys {
		hash := t.Hash(key)
		w.hashes[i] = hash
		s := t.shardOf(hash)
		off := s.table.Offset(index.Home(hash, s.table.Shape()))
		t.region.Prefetch(off)
		buckets[i] = offheap.At[index.Bucket](t.region, off)
	}
	size := min(t.meanRecordBytes.Load(), maxPrefetch)
	for i, hash := range w.hashes[:len(keys)] {
		b := buckets[i]
		if m := b.Match(index.TagOf(hash)); m != 0 {
			t.region.PrefetchRange(t.place(b.Location(m.Next())), size)
		}
	}
}
