package ssd

import (
	"github.com/firncache/firn/internal/record"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/ssd/index"
	"github.com/firncache/firn/internal/ssd/log"
)

// Calls of the RAM tier, under the lock that orders the writes of a key.

// Prefetch begins to load the memory that the other calls with this hash will read.
func (t *Tier) Prefetch(hash uint64) { t.index.Prefetch(t.ids.Of(hash)) }

// Demote takes over a record that leaves RAM. It reports whether the record
// lives on here. It does not wait for the disk: while the log is stalled, the record
// is refused. copied describes a record that is here under the hash: one that is not the
// same is replaced, but an older copy stays if the record is refused.
func (t *Tier) Demote(hash uint64, key, value []byte, deadline int64, read bool, copied record.Copy) bool {
	x := t.ids.Of(hash)
	s := t.index.ShardOf(x)
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if t.state.Load() != on { // asked under the lock, which emptying the index takes afterwards
		return false
	}
	_, found := s.Find(x)
	if !found || copied != record.SameCopy {
		if t.accept(s, x, hash, &format.Record{Key: key, Value: value, Deadline: deadline}, read, copied) {
			return true
		}
		if !found || copied == record.NoCopy {
			return false
		}
	}
	t.count.alreadyOnSSD.Add(1)
	return true
}

// accept takes a record over if it is admitted, and there is room. The caller holds the
// shard's lock.
func (t *Tier) accept(s *index.Shard, x format.ID, hash uint64, r *format.Record, read bool, copied record.Copy) bool {
	if !t.admitsShare(t.shares.Of(r.Key), len(r.Key)+len(r.Value)) {
		return false
	}
	if !t.admission.Admit(hash, len(r.Key)+len(r.Value), read) {
		t.count.rejected.Add(1)
		return false
	}
	if r.Deadline != 0 {
		r.Flags |= format.FlagExpires
		if !t.hasDeadlines.Load() {
			t.hasDeadlines.Store(true)
		}
	}
	if t.cfg.Compress {
		buf := t.compress(r)
		defer release(buf)
	}
	return t.put(s, x, r, copied)
}

// put appends a record and makes the index name it, in place of another if there is
// one. The caller holds the shard's lock.
func (t *Tier) put(s *index.Shard, x format.ID, r *format.Record, copied record.Copy) bool {
	if len(r.Key)+len(r.Value)+format.MaxRecordHeader > t.log.MaxRecord() {
		t.count.tooLarge.Add(1)
		return false
	}
	if !t.index.ReserveSlot(s) {
		t.count.indexFull.Add(1)
		t.work.wakeMaintenance()
		return false
	}
	loc, size, ok := t.log.Append(x, r, log.ForDemote)
	if !ok {
		t.count.dropped.Add(1)
		t.work.wakeMaintenance()
		return false
	}
	t.countShare(t.shares.Of(r.Key), loc, size)
	t.dropReplaced(s, x, copied)
	s.Put(s.NewEntry(x, loc, size, format.IsWhole))
	t.count.demoted.Add(1)
	t.count.demotedBytes.Add(uint64(len(r.Key) + len(r.Value)))
	return true
}

// dropReplaced takes the entry of an id out that a record is about to replace, if there
// is one: a copy of it, or another key's.
func (t *Tier) dropReplaced(s *index.Shard, x format.ID, copied record.Copy) {
	at, e, found := s.Search(s.FingerprintOf(x))
	if !found {
		return
	}
	t.dropEntry(s, x, at, e)
	if copied == record.NoCopy {
		t.count.collided.Add(1)
	} else {
		t.count.invalidated.Add(1)
	}
}

// AdmitAll lets every record in from now on, as far as the budget goes: RAM is about
// to be emptied, and it holds the entries that the next process will want first.
func (t *Tier) AdmitAll() { t.admission.AdmitAll.Store(true) }
