package ram

import (
	"time"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/index"
	"github.com/firncache/firn/internal/record"
)

// evictOrDemote takes a live record out because its room is needed, at a time. It is demoted if the lower
// tier accepts it, and evicted otherwise, for a cause. One that is over its quota, and was never
// read, is not offered. The lower tier has the record before its
// entry goes here, so that it is never in neither.
func (s *shard) evictOrDemote(e *entry, now int64, cause evicted.Cause) {
	to := rejected
	switch {
	case cause == evicted.OverQuota && !s.wasRead(&e.rec, e.freq()) && !s.tier.mayHaveLowerCopy(&e.rec): // a flood stays above
	case s.demotesInParts(&e.rec):
		to = s.beginDemotion(e.hash, &e.rec, e.freq(), false)
		if d := s.demotions.at(e.rec.off); d != nil {
			d.quota = cause == evicted.OverQuota
		}
	case s.demote(e.hash, &e.rec, e.freq(), s.tier.lowerCopy(&e.rec)):
		to = demoted
	}
	switch to {
	case demoted:
		s.noteAge(e.rec.off, now)
		s.remove(e.hash, e.bucket, e.slot, &e.rec, evicted.Demoted)
		s.count.Demoted++
	case rejected:
		s.noteAge(e.rec.off, now)
		s.evict(e.hash, e.bucket, e.slot, &e.rec, cause)
	}
}

// evict takes a record out because its room is needed, or for its namespace's quota.
func (s *shard) evict(hash uint64, b *index.Bucket, slot int, r *stored, cause evicted.Cause) {
	if cause == evicted.OverQuota {
		s.count.OverQuota++
		s.accountAt(r.off).CountEvicted()
	} else {
		s.count.Evicted++
	}
	s.remove(hash, b, slot, r, cause)
}

// demote offers a record to the lower tier, unless it is a negative entry; copied is what
// that may have of it. It reports whether the lower tier accepted it.
func (s *shard) demote(hash uint64, r *stored, freq int, copied record.Copy) bool {
	t := s.tier
	if t.lower == nil || t.deadline(r) < 0 {
		return false
	}
	key, value := s.keyValue(r)
	s.work.bytes += len(key) + len(value)
	return t.lower.Demote(hash, key, value, t.deadline(r), s.wasRead(r, freq), copied)
}

// wasRead reports whether the record was read since its key came here, or came here
// because it was read in the lower tier.
func (s *shard) wasRead(r *stored, freq int) bool {
	return freq > 0 || s.tier.header(r.off).version.Load()&wasRead != 0
}

// demoteCopy offers a copy of a record to the lower tier. It reports whether the lower
// tier accepted it, or had it. A long record is pending then: see finishDemotions.
func (s *shard) demoteCopy(hash uint64, r *stored, freq int) bool {
	t := s.tier
	if s.isObsolete(r) {
		return false
	}
	if s.demotesInParts(r) {
		return s.beginDemotion(hash, r, freq, true) == demoted
	}
	h := t.header(r.off)
	version := h.version.Load()
	h.version.Store(version | lowerCopy) // before there is one
	return s.demote(hash, r, freq, copyOf(version))
}

// demotesInParts reports whether the record is too long to be demoted under the lock.
func (s *shard) demotesInParts(r *stored) bool {
	return r.shape.KeyLen()+r.valueLen > s.tier.maxWhole
}

// beginDemotion begins the demotion in parts of a long record. finishDemotions does the
// rest. With stays the record is kept here.
func (s *shard) beginDemotion(hash uint64, r *stored, freq int, stays bool) demoteResult {
	if d := s.demotions.at(r.off); d != nil {
		d.stays = d.stays && stays
		return pending
	}
	deadline := s.tier.deadline(r)
	if deadline < 0 {
		return rejected
	}
	to, there := s.tier.lowerInParts.DemoteParts(hash, r.shape.KeyLen(), r.valueLen, deadline, s.wasRead(r, freq), s.tier.lowerCopy(r))
	switch {
	case there:
		return demoted
	case to == nil:
		return rejected
	}
	s.demotions = append(s.demotions, &pendingDemotion{hash: hash, off: r.off, to: to, stays: stays})
	return pending
}

// noteAge counts the age of a record that is about to leave because its room is needed, at a time: how
// long ago the segment where it starts was opened. So much later than that it came there as
// its lane took to fill the segment, which is a small part of what the lane takes in all.
func (s *shard) noteAge(off uint64, now int64) {
	id, _ := s.tier.segmentAt(off)
	age := now - s.tier.segs[id].Opened
	if age != s.leavers.age {
		s.countAges()
		s.leavers.age = age
	}
	s.leavers.n++
}

// countAges adds many records at once to the tier's distribution, whose memory all shards write
// to.
func (s *shard) countAges() {
	if s.leavers.n > 0 {
		s.tier.ages.AddN(time.Duration(s.leavers.age)*time.Millisecond, s.leavers.n)
		s.leavers.n = 0
	}
}
