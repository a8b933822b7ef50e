package ram

import (
	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/record"
)

// Touch gives the live record of a key with this hash another deadline, 0 for never. It
// reports false if there is none here. It is no write: the value stays, and so do the
// watches of the key; OnEvict is not called, and no hit is counted. A copy in the lower
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
			t.finishAppend(s, r, nil, ev)
			return found, nil
		}
		if !t.fits(r) {
			break
		}
		if err = s.refill(r, missing, ev); err != nil {
			s.endWrite(r, ev)
			return false, err
		}
	}
	s.endWrite(r, ev)
	return false, t.refusal()
}

// touchHere gives the key's live record the deadline of r, if the shard has the segments
// for it, and otherwise returns how many are missing.
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

// touchedRecord is the record of a value that gets a deadline, loses it, or cannot stay
// where it is.
func (t *Tier) touchedRecord(r *newRecord, value []byte) newRecord {
	n := *r
	n.value = value
	n.shape = record.ShapeOf(len(r.key), len(value), r.deadline != 0)
	n.size = t.roundUp(record.Size(len(r.key), len(value), r.deadline != 0))
	return n
}
