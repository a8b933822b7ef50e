package ram

import (
	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/index"
	"github.com/firncache/firn/internal/offheap"
	"github.com/firncache/firn/internal/policy"
	"github.com/firncache/firn/internal/ram/segments"
	"github.com/firncache/firn/internal/watch"
)

// Clear removes every record that was there when it was called. One that is set
// meanwhile may stay. It reports false if the tier is closed.
func (t *Tier) Clear() bool {
	for i := range t.shards {
		t.shards[i].empty()
	}
	t.full.Store(false)
	t.simulateClear()
	return !t.closed.Load()
}

// empty removes every record of a shard: at once, or record by record if OnEvict
// is called for them.
func (s *shard) empty() {
	defer s.buryAll() // also when OnEvict panics
	notifies := s.tier.Notifies(evicted.Deleted)
	if notifies {
		s.removeAll()
	}
	var ev evicted.List
	s.mu.Lock()
	var ended *watch.Watch
	if !notifies { // else removeAll has ended those that there were
		ended = s.watches.EndOf(func(uint64) bool { return true }, nil) // first, as in delete
	}
	if !s.closed && (!notifies || s.table.Len() == 0) {
		s.clear()
	}
	s.unlock(&ev)
	ended.CallWritten()
	ev.Notify()
}

// clear empties a shard: nothing can be found any more. Its segments are dead, and buryStep
// gives them back.
func (s *shard) clear() {
	s.count.Cleared += uint64(s.table.Len())
	s.demotions.allDied()
	s.debitAll()
	s.table.Clear()
	s.epoch.Add(1) // for the next Set may reuse the index's chunks
	offheap.StoreFence()
	for w := s.walks; w != nil; w = w.next { // dead segments are in lists that are no more
		w.id = 0
	}
	if id := s.drain.id; id != 0 {
		s.tier.segs[id].Live = 0
		s.release(id)
	}
	for q := range policy.Lane(segments.Lanes) {
		s.seal(q)
		s.dead.Join(s.tier.segs, &s.queues[q])
		s.queues[q] = segments.Queue{}
	}
	s.cleanable = segments.Cleanable{}
}

// buryAll does buryStep until there is nothing to do.
func (s *shard) buryAll() {
	for more := true; more; s.tier.pause() {
		var ev evicted.List
		s.mu.Lock()
		more = !s.closed && s.buryStep()
		s.unlock(&ev)
		ev.Notify()
	}
}

// buryStep does a step of the giving back of dead segments, and of what the index no longer
// needs. It reports whether there may be more.
func (s *shard) buryStep() (more bool) {
	for !s.stepDone() {
		switch {
		case s.dead.Head != 0:
			s.bury(s.dead.Head)
		case s.table.Shrink():
			s.work.records++ // an empty bucket hashes none
		case s.retireChunks() == 0:
			return false
		}
	}
	return true
}

// bury gives the first dead segment back. The lists that it was in, which were full of
// dead ones, are gone.
func (s *shard) bury(id uint32) {
	seg := &s.tier.segs[id]
	s.dead.Head = seg.Next
	seg.Live, seg.Queue, seg.Grade, seg.CleanPrev, seg.CleanNext = 0, policy.None, 0, 0, 0
	s.disown(id)
}

// removeAll removes the records that are there when it begins, a step at a time, and calls
// OnEvict for them now and then, with the shard unlocked.
func (s *shard) removeAll() {
	var ev evicted.List
	for at, first := uint64(0), true; first || at != 0; first = false {
		if at = s.removeFrom(at, &ev); ev.Full() || at == 0 {
			ev.Notify()
		}
		s.tier.pause()
	}
}

// removeFrom does a step of removeAll, from a position on, and returns where the next one
// begins. It ends the watches of the keys that it passes, whether or not they have a record: a
// load from before Clear must not store behind the walk, and what one stores ahead of it goes.
func (s *shard) removeFrom(at uint64, ev *evicted.List) (next uint64) {
	var ended *watch.Watch
	s.mu.Lock()
	if !s.closed {
		next = s.eachFrom(at, func(hash uint64, loc uint32) {
			if b, slot, ok := s.table.Find(hash, loc); ok {
				ended = s.watches.EndHash(hash, ended) // first, as in delete
				r := s.tier.recordAt(s.tier.place(loc))
				s.dropLowerCopy(hash, &r)
				s.noteEvicted(&r, evicted.Deleted)
				s.table.Remove(hash, b, slot) // without Shrink, else the entries still to come crowd into few buckets
				s.kill(r.off, r.size)
				s.count.Cleared++
			}
		})
	}
	ended = s.watches.EndOf(func(hash uint64) bool {
		p := index.Position(hash)
		return p >= at && (p < next || next == 0)
	}, ended)
	s.unlock(ev)
	ended.CallWritten()
	return next
}
