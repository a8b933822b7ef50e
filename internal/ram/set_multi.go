package ram

import (
	"github.com/firncache/firn/internal/index"
	"github.com/firncache/firn/internal/offheap"
	"github.com/firncache/firn/internal/record"
)

// ahead is how many Sets of a batch lie between two of its stages: enough for memory
// to answer, few enough that what it gave is still in the processor's cache.
const ahead = 8

// underway is a Set of a batch on its way: the hash of its key, and where its first
// bucket lies.
type underway struct{ hash, home uint64 }

// SetMulti is Set for many keys, one after the other, so that the waiting for memory
// overlaps: a key's bucket is loaded while the key 2·ahead places before it is set, and
// its record while the one ahead places before it is. With each, that returns
// every value's deadline. It stores as many as it can, and returns the first error, and
// which key's it is.
func (t *Tier) SetMulti(keys, values [][]byte, deadline int64, each func() int64) (at int, first error) {
	expires := deadline != 0 || each != nil
	if expires {
		t.expectExpiry()
	}
	var way [2 * ahead]underway // key i is at i modulo 2·ahead
	for i, n := -2*ahead, len(keys); i < n; i++ {
		hash := way[uint(i)%(2*ahead)].hash
		if j := i + 2*ahead; j < n {
			k := &way[uint(j)%(2*ahead)]
			k.hash = t.Hash(keys[j])
			k.home = t.shardOf(k.hash).home(k.hash)
			t.region.Prefetch(k.home)
		}
		if j := i + ahead; j >= 0 && j < n {
			t.prefetchReplaced(&way[uint(j)%(2*ahead)], len(keys[j])+len(values[j]), expires)
		}
		if i < 0 {
			continue
		}
		if each != nil {
			deadline = each()
		}
		if t.causes.Load() != 0 { // OnEvict may have run since, and may use the caller's buffers
			hash = t.Hash(keys[i])
		}
		s := t.shardOf(hash)
		s.mu.Lock()
		done, copied := s.overwriteInPlace(hash, keys[i], values[i], deadline)
		if done && !s.notifies(copied) {
			s.mu.Unlock()
			t.observeStore(hash, len(keys[i]), len(values[i]), deadline)
			continue
		}
		if err := t.setRest(s, done, copied, hash, keys[i], values[i], deadline); err != nil && first == nil {
			at, first = i, err
		}
	}
	return at, first
}

// prefetchReplaced starts to load the record that a Set of so many bytes overwrites, or
// the second bucket if it may be there. It is a hint: the Set reads everything again.
func (t *Tier) prefetchReplaced(k *underway, bytes int, expires bool) {
	b := offheap.At[index.Bucket](t.region, k.home)
	if m := b.Match(index.TagOf(k.hash)); m != 0 {
		header := record.ShapeOf(0, 0, expires).HeaderLen()
		t.prefetchRecord(t.place(b.Location(m.Next())), uint64(header+bytes), expires)
	} else if next := t.shardOf(k.hash).table.Next(b); next != nil {
		offheap.PrefetchValue(next)
	}
}
