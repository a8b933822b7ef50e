package ram

import (
	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/policy"
	"github.com/firncache/firn/internal/ram/segments"
)

// DemoteAll offers copies of all live records to the lower tier; whether it accepts
// them makes no difference. It begins with the coldest, in the order of the queues:
// Small before Main, in both the oldest segments of every shard first. It locks one
// shard at a time, for one step at a time. Of records that are stored, moved or cleared
// meanwhile some may be left out, or offered twice. more is called before every step,
// with no lock held, and may wait until the lower tier has room; DemoteAll ends when it
// reports false, and then reports false itself. It does not call OnEvict: records that
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
