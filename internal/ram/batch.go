package ram

import "github.com/firncache/firn/internal/index"

// BatchWindow is how many operations of a batch are under way at once: enough
// to keep the memory system busy, few enough that what was prefetched is still
// there when it is used.
const BatchWindow = 32

// Window is the scratch space of one window of a batch.
type Window struct {
	hashes [BatchWindow]uint64
}

// Prepare hashes up to BatchWindow keys and starts to load what looking them up
// will touch: first all their buckets, then all their records. It is a hint;
// what it read is looked at again.
func (t *Tier) Prepare(w *Window, keys [][]byte) {
	for i, key := range keys {
		hash := t.hash(key)
		w.hashes[i] = hash
		s := t.shardOf(hash)
		t.region.Prefetch(s.table.HomeOffset(hash, s.table.Shape()))
	}
	for _, hash := range w.hashes[:len(keys)] {
		s := t.shardOf(hash)
		b := s.table.Home(hash, s.table.Shape())
		if m := b.Match(index.TagOf(hash)); m != 0 {
			off := t.place(b.Location(m.Next()))
			if off+128 <= t.region.Size() {
				t.region.Prefetch(off)
				t.region.Prefetch(off + 64)
			}
		}
	}
}

// GetPrepared is Get for key i of a prepared window.
func (t *Tier) GetPrepared(w *Window, i int, dst, key []byte) ([]byte, bool) {
	return t.getHashed(dst, key, w.hashes[i])
}

// SetPrepared is Set for key i of a prepared window.
func (t *Tier) SetPrepared(w *Window, i int, key, value []byte, deadline int64) error {
	return t.setHashed(w.hashes[i], key, value, deadline)
}
