package ssd

import "github.com/firncache/firn/internal/ssd/format"

// Room is how many bytes of records the tier has room for, 0 while it is offline, whether it
// has evicted for want of room, and how many reads have found a value. It takes no lock.
func (t *Tier) Room() (bytes int64, evicting bool, hits uint64) {
	if t.state.Load() == on {
		each := t.log.SegmentBytes() - format.SegmentHeaderLen - format.TrailerLen
		bytes = (t.log.Usable.Load() - int64(t.log.FreeTarget)) * int64(each)
	}
	return bytes, t.count.evicted.Load()+t.count.reinserted.Load() > 0, t.count.hits.Load()
}
