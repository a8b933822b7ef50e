package ssd

import (
	"sync/atomic"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/ssd/index"
	"github.com/firncache/firn/internal/ssd/log"
)

// countLive counts the record of an entry as alive, which the index has from now on.
// An appended record is counted already.
func (t *Tier) countLive(e format.Entry) {
	t.log.AddAlive(t.index.Location(e), int64(t.log.Weight(e.Class())))
	t.countPart(e)
}

// countPart is countLive for an entry of a record that was just appended: the log has
// counted its weight.
func (t *Tier) countPart(e format.Entry) {
	if e.Class() == format.PartClass {
		t.live.parts.Add(1)
	}
}

// countDead counts the record of an entry as dead: the index has it no more.
func (t *Tier) countDead(e format.Entry) {
	t.log.AddAlive(t.index.Location(e), -int64(t.log.Weight(e.Class())))
	if e.Class() == format.PartClass {
		t.live.parts.Add(-1)
	}
}

// dropEntry takes the entry of an id, at a place of its shard's table, out, and with a
// head its parts. The caller holds mu.
func (t *Tier) dropEntry(s *index.Shard, x format.ID, at int, e format.Entry) {
	s.RemoveAt(at)
	t.countDead(e)
	if e.Class() == format.HeadClass {
		t.dropParts(s, x, t.maxParts())
	}
}

// dropParts takes the first n parts of a value out of the index. The caller holds mu.
func (t *Tier) dropParts(s *index.Shard, owner format.ID, n int) {
	for i := range n {
		if at, e, ok := s.Search(s.FingerprintOf(t.ids.Part(owner, i))); ok && e.Class() == format.PartClass {
			s.RemoveAt(at)
			t.countDead(e)
		}
	}
}

// dropOwner takes the value out that a part belongs to, if that is still there: the ids
// of its key and of its parts lie apart by known steps. The caller holds mu.
func (t *Tier) dropOwner(s *index.Shard, part format.ID) bool {
	x, at, e, ok := t.ownerOf(s, part)
	if ok {
		t.dropEntry(s, x, at, e)
	}
	return ok
}

// ownerOf is the entry of the head of the value that a part belongs to, with its id, and its
// place in the shard's table. The caller holds mu.
func (t *Tier) ownerOf(s *index.Shard, part format.ID) (x format.ID, at int, e format.Entry, ok bool) {
	for i := range t.maxParts() {
		x = t.ids.Owner(part, i)
		if at, e, ok = s.Search(s.FingerprintOf(x)); ok && e.Class() == format.HeadClass {
			return x, at, e, true
		}
	}
	return 0, 0, 0, false
}

// isOrphan reports whether a record is a part of a value that has no head, nor is to
// get one. The caller holds mu.
func (t *Tier) isOrphan(s *index.Shard, r *format.Record) bool {
	if r.Kind() != format.IsPart {
		return false
	}
	k, ok := format.ParsePartKey(r.Key)
	if !ok {
		return true
	}
	_, there := s.Find(k.Owner)
	return !there && t.live.descents.Load() == 0
}

// dropSlot takes every entry out that names a slot, and counts them.
func (t *Tier) dropSlot(slot int, count *atomic.Uint64) {
	t.index.Each(func(x format.ID, e format.Entry) format.Entry {
		if in, _ := t.log.Place(t.index.Location(e)); in != slot {
			return e
		}
		t.countDead(e)
		count.Add(1)
		return 0
	})
}

// fillShard fills an empty shard of the index with entries, which ascend, or with as
// many of them as it has memory for: the others count as evicted.
func (t *Tier) fillShard(s *index.Shard, entries []uint64) {
	for !t.index.Fill(s, entries) {
		most := len(entries) * 3 / 4
		t.count.evicted.Add(uint64(len(entries) - most))
		entries = entries[:most]
	}
	for _, w := range entries {
		t.countLive(format.Entry(w))
	}
}

// evictEntry takes a listed record out, whose entry is at a place of the shard's table,
// and with a part its value. It reports false if that was gone. The caller holds mu.
func (t *Tier) evictEntry(s *index.Shard, l *format.Listed, at int, e format.Entry, expired bool) bool {
	t.dropEntry(s, l.ID, at, e)
	if l.Kind == format.IsPart && !t.dropOwner(s, l.ID) {
		return false
	}
	t.leavers(expired).Add(1)
	return true
}

// leavers counts records that are dropped, being past their grace or not.
func (t *Tier) leavers(expired bool) *atomic.Uint64 {
	if expired {
		return &t.count.expired
	}
	return &t.count.evicted
}

// entryOfRecord finds the entry that names a record of a segment, and its place in the
// shard's table. The caller holds mu.
func (t *Tier) entryOfRecord(s *index.Shard, v *log.Victim, l format.Listed) (at int, e format.Entry, ok bool) {
	at, e, ok = s.Search(s.FingerprintOf(l.ID))
	return at, e, ok && s.Location(e) == t.log.Location(v.Slot, int(l.Offset))
}
