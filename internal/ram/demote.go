package ram

import (
	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/index"
	"github.com/firncache/firn/internal/policy"
	"github.com/firncache/firn/internal/ram/segments"
)

// evictOrDemote takes a live record out for want of room, at a time. It is demoted if the lower
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

// evict takes a record out for want of room, or for its namespace's quota.
func (s *shard) evict(hash uint64, b *index.Bucket, slot int, r *stored, cause evicted.Cause) {
	if cause == evicted.OverQuota {
		s.count.OverQuota++
		s.accountAt(r.off).quota.Load().evicted.Add(1)
	} else {
		s.count.Evicted++
	}
	s.remove(hash, b, slot, r, cause)
}

// demote offers a record to the lower tier, unless it is a negative entry; copied is what
// that may have of it. It reports whether the lower tier accepted it.
func (s *shard) demote(hash uint64, r *stored, freq int, copied Copy) bool {
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

// DemoteAll offers copies of all live records to the lower tier; whether it accepts
// them makes no difference. It begins with the coldest, as far as the queues tell:
// Small before Main, in both the oldest segments of every shard first. It locks one
// shard at a time, for one step at a time. Of records that are stored, moved or cleared
// meanwhile some may be left out, or offered twice. more is called before every step,
// with no lock held, and may wait until the lower tier has room; DemoteAll ends when it
// reports false, and then reports false itself. It tells OnEvict of nothing: records that
// leave in it are added to ev. Shards that the last pass of Mirror left whole are passed
// over, as there, while lost stays.
func (t *Tier) DemoteAll(lost uint64, more func() bool, ev *evicted.List) (all bool) {
	if t.lower == nil {
		return true
	}
	for q := range policy.Lane(segments.Lanes) {
		queues, longest := t.laneSegments(q, lost, ev)
		for i := range longest {
			for k, ids := range queues {
				if i >= len(ids) {
					continue
				}
				ok := t.shards[k].demoteSegment(ids[i], more, ev)
				t.shards[k].finishDemotions(ev, true)
				if !ok {
					return false
				}
			}
		}
	}
	return true
}

// laneSegments are the segments of one lane, oldest first, by shard, and the
// length of the longest list. Shards that are mirrored have none.
func (t *Tier) laneSegments(q policy.Lane, lost uint64, ev *evicted.List) (queues [][]uint32, longest int) {
	queues = make([][]uint32, len(t.shards))
	for k := range t.shards {
		queues[k] = t.shards[k].laneSegments(q, lost, ev)
		longest = max(longest, len(queues[k]))
	}
	return queues, longest
}

func (s *shard) laneSegments(q policy.Lane, lost uint64, ev *evicted.List) (ids []uint32) {
	s.mu.Lock()
	defer s.unlock(ev)
	if s.isMirrored(lost) {
		return nil
	}
	segs := s.tier.segs
	if id := s.drain.id; id != 0 && segs[id].Lane == q {
		ids = append(ids, id)
	}
	drained := len(ids)
	for id := s.queues[q].Head; id != 0 && !s.closed; id = s.after(q, &ids, drained) {
		ids = append(ids, id)
		if s.work.records++; s.stepDone() {
			s.unlock(ev)
			s.tier.pause()
			s.mu.Lock()
		}
	}
	if id := s.lanes[q].Seg; id != 0 {
		ids = append(ids, id)
	}
	return ids
}

// after is the segment in a queue behind the last one of ids, from which it takes those
// that have left the queue meanwhile.
func (s *shard) after(q policy.Lane, ids *[]uint32, least int) uint32 {
	for n := len(*ids); n > least; n-- {
		if seg := &s.tier.segs[(*ids)[n-1]]; seg.Owner.Load() == s.number && seg.Queue == q {
			return seg.Next
		}
		*ids = (*ids)[:n-1]
	}
	return s.queues[q].Head
}

// demoteSegment offers the live records that start in a segment, if it is still
// the shard's. It reports false once more does.
func (s *shard) demoteSegment(id uint32, more func() bool, ev *evicted.List) bool {
	var w walk
	if !more() {
		return false
	}
	s.mu.Lock()
	defer s.unlock(ev)
	if s.closed || s.tier.segs[id].Owner.Load() != s.number || s.dead.Head != 0 {
		return true
	}
	s.beginWalk(&w, id)
	defer s.endWalk(&w)
	for s.demoteStep(&w) {
		s.unlock(ev)
		s.tier.pause()
		ok := more()
		s.mu.Lock()
		if !ok {
			return false
		}
	}
	return true
}

// demoteStep does a step of demoteSegment, and reports whether there may be more.
func (s *shard) demoteStep(w *walk) (more bool) {
	return w.id != 0 && !s.closed && s.walkStep(w, func(e *entry) {
		if start, _ := s.tier.segmentAt(e.rec.off); start == w.id && !s.tier.pastGrace(&e.rec) {
			s.demoteCopy(e.hash, &e.rec, e.freq())
		}
	})
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
