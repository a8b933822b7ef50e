package ram

import (
	"math"

	"github.com/firncache/firn/internal/index"
	"github.com/firncache/firn/internal/policy"
	"github.com/firncache/firn/internal/record"
)

// setLimit sets the budget. Segments get the part of it that neither the lower tier,
// nor the bookkeeping, nor the ghosts to come take.
func (t *Tier) setLimit(bytes int64) {
	t.pool.Lock()
	defer t.pool.Unlock()
	t.setLimitLocked(bytes)
}

func (t *Tier) setLimitLocked(bytes int64) {
	t.bytes.Store(bytes)
	own := bytes - t.reserved.Load()
	t.pool.Aim(int((own - t.overhead.Load() - t.keptForGhosts()) / t.segmentCost()))
	t.maxRecord.Store(min(bytes/4, own/2, t.largestRecord()))
	t.pool.NoteEvent()
}

// largestRecord is the most bytes that a key and its value may have together to
// find room when every other record is evicted: of the segments that a write may use,
// the shards' indexes keep some even then.
func (t *Tier) largestRecord() int64 {
	segments := t.pool.ForWrites() - index.LeastChunks*len(t.shards)
	return int64(max(segments, 1))<<t.segShift - record.MaxHeader
}

// MaxRecord is the most bytes that a key and its value may have together: a
// quarter of the budget, or half of the part that the lower tier leaves if that is
// less; near the least budget, as many as find room beside the bookkeeping.
func (t *Tier) MaxRecord() int64 { return t.maxRecord.Load() }

func (t *Tier) fits(r *newRecord) bool {
	return int64(len(r.key))+int64(len(r.value)) <= t.MaxRecord() && len(r.key) <= record.MaxKey && t.fitsQuota(r)
}

// Bounds are the least and the largest budget that SetBytes accepts now.
func (t *Tier) Bounds() (least, most int64) { return t.minBytes(), t.maxBytes() }

// Bytes is the budget.
func (t *Tier) Bytes() int64 { return t.bytes.Load() }

// LeastBytes is Bounds's least while nothing is reserved.
func (t *Tier) LeastBytes() int64 { return t.minOwn() }

// minBytes is the smallest budget that the tier can shrink to.
func (t *Tier) minBytes() int64 { return t.reserved.Load() + t.minOwn() }

// minOwn is the part of the budget that the lower tier must leave: bookkeeping, and
// eight segments for each shard.
func (t *Tier) minOwn() int64 {
	return max(MinBytes, t.overhead.Load()+int64(len(t.shards))*8*t.segmentCost())
}

func (t *Tier) maxBytes() int64 { return t.overhead.Load() + int64(len(t.segs)-1)*t.segmentCost() }

// ghostBytes is the size of the ghosts of a shard with so many entries.
func (t *Tier) ghostBytes(entries int64) int64 {
	own := t.bytes.Load() - t.reserved.Load()
	return min(8*int64(policy.GhostWords(entries, own/int64(len(t.shards)))), int64(t.ghostMax))
}

// keptForGhosts is the part of the budget that shards without ghosts may need for
// them: were it used for records, these would have to leave, all at once, when
// eviction begins. The caller holds the pool's lock.
func (t *Tier) keptForGhosts() int64 { return int64(t.ghostless) * t.ghostBytes(math.MaxInt32) }
