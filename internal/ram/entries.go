package ram

import (
	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/index"
	"github.com/firncache/firn/internal/watch"
)

// find is the writer's search: the entry and the record of a key.
func (s *shard) find(hash uint64, key []byte) (b *index.Bucket, slot int, r stored, ok bool) {
	t, tag := s.tier, index.TagOf(hash)
	for b = s.table.Bucket(index.Home(hash, s.table.Shape())); b != nil; b = s.table.Next(b) {
		for m := b.Match(tag); m != 0; {
			slot = m.Next()
			off := t.place(b.Location(slot))
			t.region.PrefetchRange(off, min(t.meanRecordBytes.Load(), maxPrefetch)) // a Set is about to write there
			if s.sameKey(off, key) {
				return b, slot, t.recordAt(off), true
			}
		}
	}
	return nil, 0, r, false
}

// remove takes a record out of the tier, and notes it for OnEvict.
func (s *shard) remove(hash uint64, b *index.Bucket, slot int, r *stored, cause evicted.Cause) {
	s.noteEvicted(r, cause)
	s.takeOut(hash, b, slot, r)
}

// takeOut takes a record out of the tier. Its bytes are dead from then on.
func (s *shard) takeOut(hash uint64, b *index.Bucket, slot int, r *stored) {
	s.table.Remove(hash, b, slot)
	s.table.Shrink()
	s.kill(r.off, r.size)
	s.retireChunks()
}

// maxSurplus is how many chunks of the index are given back at once, at most.
const maxSurplus = 4

// retireChunks gives back some of the chunks that the index no longer needs, and returns
// how many.
func (s *shard) retireChunks() (n int) {
	for ; n < maxSurplus; n++ {
		chunk, ok := s.table.Surplus()
		if !ok {
			break
		}
		s.retire(chunk)
	}
	return n
}

// expire takes a record out that is past its grace.
func (s *shard) expire(hash uint64, b *index.Bucket, slot int, r *stored) {
	s.dropLowerCopy(hash, r)
	s.remove(hash, b, slot, r, evicted.Expired)
	s.count.Expired++
}

// dropLowerCopy takes the lower tier's copy of a record out that leaves the cache, where
// OnEvict is called for what leaves the lower tier: of one value it is called once.
func (s *shard) dropLowerCopy(hash uint64, r *stored) {
	if s.tier.Notifies(evicted.LowerEvicted) && s.tier.lower != nil && s.tier.mayHaveLowerCopy(r) {
		s.tier.lower.Invalidate(hash)
	}
}

// noteWrite is called when a Set has taken effect, before the lock is released. It invalidates the
// lower tier's copies if copied says that there may be one. It returns the watches that the write has
// ended, other than the writer's own: their CallWritten is due when the lock is released.
func (s *shard) noteWrite(hash uint64, key []byte, own *watch.Watch, copied bool) (ended *watch.Watch) {
	if s.watches.None() && !(copied && s.tier.lower != nil) {
		return nil
	}
	return s.noteWriteSlow(hash, key, own, copied)
}

// noteWriteSlow is noteWrite where there are watches or copies.
func (s *shard) noteWriteSlow(hash uint64, key []byte, own *watch.Watch, copied bool) (ended *watch.Watch) {
	if copied {
		s.invalidateLower(hash)
	}
	return s.watches.End(hash, key, own)
}

// invalidateLower ends the lower tier's copies of a key whose write has taken effect.
func (s *shard) invalidateLower(hash uint64) {
	if lower := s.tier.lower; lower != nil {
		lower.Invalidate(hash)
	}
}
