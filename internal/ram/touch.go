package ram

import (
	"sync/atomic"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/offheap"
	"github.com/firncache/firn/internal/record"
)

// Touch gives the live record of a key with this hash another deadline, 0 for never. It
// reports false if there is none here. It is no write: the value stays, and so do the
// watches of the key; OnEvict is not told, and no hit is counted. A copy in the lower
// tier that would expire later is invalidated; one that expires earlier stays, and is
// replaced when the record is demoted. It fails as Set does, and then the deadline is
// what it was, or the record was evicted to make room.
func (t *Tier) Touch(hash uint64, key []byte, deadline int64) (ok bool, err error) {
	if deadline != 0 {
		t.expectExpiry()
	}
	r := newRecord{hash: hash, key: key, deadline: deadline}
	s := t.shardOf(hash)
	var ev evicted.List
	s.mu.Lock()
	ok, err = t.touch(s, &r, &ev)
	ev.Notify()
	return ok, err
}

// touch tries until the shard has the segments that the record takes, if it needs any. It
// is called with the shard locked, and unlocks it.
func (t *Tier) touch(s *shard, r *newRecord, ev *evicted.List) (ok bool, err error) {
	for !s.closed {
		found, missing := s.touchHere(r)
		if missing == 0 {
			if found && !s.watches.None() {
				s.watches.Touch(r.hash, r.key, r.deadline)
			}
			owes := s.owesDrainSteps()
			s.endWrite(r, ev)
			if owes > 0 {
				t.reclaimAhead(s, owes, ev)
			}
			if r.counts {
				t.holdQuota(s, r, ev)
			}
			return found, nil
		}
		if !t.fits(r) {
			break
		}
		s.unlock(ev)
		got, err := t.acquire(s, r, missing, ev)
		s.mu.Lock()
		s.addSpare(got)
		if err != nil {
			s.endWrite(r, ev)
			return false, err
		}
	}
	s.endWrite(r, ev)
	return false, t.refusal()
}

// touchHere gives the key's live record the deadline of r, if the shard has the segments
// for it, and otherwise tells how many are missing.
func (s *shard) touchHere(r *newRecord) (found bool, missing int) {
	t := s.tier
	b, slot, old, found := s.find(r.hash, r.key)
	if !found || t.expired(&old) {
		return false, 0
	}
	was := t.deadline(&old)
	if was == r.deadline {
		return true, 0
	}
	flags, invalidates := s.flagsOfTouched(&old, was, r.deadline)
	if s.movable(&old, r.deadline) {
		s.setDeadline(&old, r.deadline, flags)
	} else {
		*r = t.touchedRecord(r, s.value(&old))
		q := s.laneOf(old.off)
		if missing = s.wants(q, r.size) - s.spare.N; missing > 0 {
			return true, missing
		}
		r.version = flags
		b.SetLocation(slot, s.appendRecord(q, r))
		s.kill(old.off, old.size)
	}
	if invalidates {
		t.lower.Invalidate(r.hash)
	}
	return true, 0
}

// flagsOfTouched are the flags of a record whose deadline moves. A lower tier's copy that
// would outlive it is invalidated, so that no kill and no eviction brings the later
// deadline back.
func (s *shard) flagsOfTouched(r *stored, was, deadline int64) (flags uint32, invalidates bool) {
	flags = s.tier.header(r.off).version.Load() & recordFlags
	switch {
	case flags&lowerCopy == 0:
	case expiresSooner(deadline, was):
		return flags &^ (lowerCopy | olderCopy), s.tier.lower != nil
	default:
		flags |= olderCopy
		s.movedDeadlines++
	}
	return flags, false
}

// expiresSooner compares two deadlines, 0 for never.
func expiresSooner(a, b int64) bool { return a != 0 && (b == 0 || a < b) }

// movable reports whether the deadline can be moved in place: the record has one, and is
// not being demoted in parts, with the one that it had.
func (s *shard) movable(r *stored, deadline int64) bool {
	return r.shape.Expires() && deadline != 0 && s.demotions.at(r.off) == nil
}

// setDeadline moves a record's deadline in place, and sets its flags. Readers see from
// the version that it happens: it is odd meanwhile, as when the value is overwritten.
func (s *shard) setDeadline(r *stored, deadline int64, flags uint32) {
	t, h := s.tier, s.tier.header(r.off)
	s.noteDeadline(r.off, deadline)
	version := h.version.Load()
	offheap.StoreRelease32(&h.version, version+1)
	offheap.StoreFence()
	offheap.StoreRelease64(offheap.At[atomic.Uint64](t.region, r.off+r.shape.DeadlineOffset()), uint64(deadline))
	offheap.StoreRelease32(&h.version, (version+2)&^recordFlags|flags)
}

// touchedRecord is the record of a value that gets a deadline, loses it, or cannot stay
// where it is.
func (t *Tier) touchedRecord(r *newRecord, value []byte) newRecord {
	n := *r
	n.value = value
	n.shape = record.ShapeOf(len(r.key), len(value), r.deadline != 0)
	n.size = t.roundUp(record.Size(len(r.key), len(value), r.deadline != 0))
	return n
}
