package ram

import "github.com/firncache/firn/internal/evicted"

// DemoteCopy gives the lower tier a copy of a key's live record, as one that was read. It
// reports whether the lower tier has it now.
func (t *Tier) DemoteCopy(hash uint64, key []byte) bool {
	s := t.shardOf(hash)
	s.mu.Lock()
	_, _, r, ok := s.find(hash, key)
	ok = ok && !t.expired(&r)
	there := ok && s.demoteCopy(hash, &r, 1)
	d := s.demotions.at(r.off)
	s.unlockAndNotify()
	if there || !ok || d == nil {
		return there
	}
	s.finishDemotionsPatiently()
	return d.done
}

// SetQuietly is Set that adds the evicted records to ev, which the caller
// notifies later: it may be called under a lock.
func (t *Tier) SetQuietly(hash uint64, key, value []byte, deadline int64, ev *evicted.List) error {
	if deadline != 0 {
		t.expectExpiry()
	}
	r := t.newRecord(hash, key, value, deadline)
	s := t.shardOf(hash)
	s.mu.Lock()
	return t.store(s, &r, ev)
}
