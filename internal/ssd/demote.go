package ssd

import (
	"github.com/firncache/firn/internal/ssd/format"
)

// Calls of the RAM tier, under the lock that orders the writes of a key.

// Prefetch begins to load the memory that the other calls with this hash will read.
func (t *Tier) Prefetch(hash uint64) { t.index.prefetch(t.ids.Of(hash)) }

// Demote takes over a record that leaves RAM. It reports whether the record
// lives on here. It does not wait for the disk: while the log is stalled, the record
// is refused. copied says that a record which is here under the hash may be the same:
// read from here, and not set since. Otherwise it is that of another key, and goes.
func (t *Tier) Demote(hash uint64, key, value []byte, deadline int64, read, copied bool) bool {
	x := t.ids.Of(hash)
	s := t.index.shardOf(x)
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.state.Load() != on { // asked under the lock, which emptying the index takes afterwards
		return false
	}
	_, found := s.find(x)
	if found && copied {
		t.count.alreadyOnSSD.Add(1)
		return true
	}
	if !t.admission.admit(hash, len(key)+len(value), read) {
		t.count.rejected.Add(1)
		return false
	}
	r := format.Record{Key: key, Value: value, Deadline: deadline}
	if deadline != 0 {
		r.Flags |= format.FlagExpires
		if !t.hasDeadlines.Load() {
			t.hasDeadlines.Store(true)
		}
	}
	if t.cfg.Compress {
		scratch := t.compress(&r)
		defer scratch.release()
	}
	return t.put(s, x, &r, found)
}

// put appends a record and makes the index name it, in place of another if there is
// one. The caller holds the shard's lock.
func (t *Tier) put(s *shard, x format.ID, r *format.Record, another bool) bool {
	if len(r.Key)+len(r.Value)+format.MaxRecordHeader > t.log.MaxRecord() {
		t.count.tooLarge.Add(1)
		return false
	}
	if !t.index.reserveSlot(s) {
		t.count.indexFull.Add(1)
		t.work.wakeMaintenance()
		return false
	}
	loc, size, ok := t.log.append(x, r, forDemote)
	if !ok {
		t.count.dropped.Add(1)
		t.work.wakeMaintenance()
		return false
	}
	if another {
		at, old, _ := s.search(s.FingerprintOf(x))
		t.dropEntry(s, x, at, old)
		t.count.collided.Add(1)
	}
	s.put(s.NewEntry(x, loc, size, format.IsWhole))
	t.count.demoted.Add(1)
	t.count.demotedBytes.Add(uint64(len(r.Key) + len(r.Value)))
	return true
}

// AdmitAll lets every record in from now on, as far as the budget goes: RAM is about
// to be emptied, and it holds the entries that the next process will want first.
func (t *Tier) AdmitAll() { t.admission.admitAll.Store(true) }
