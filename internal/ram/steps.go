package ram

import "github.com/firncache/firn/internal/index"

// stepDone reports whether a step's work was done in this hold.
func (s *shard) stepDone() bool {
	return s.work.records >= s.tier.maxWalk || s.work.bytes >= stepBytes
}

// stepsMerges is how many steps' records a step may look at if removing records shrinks the
// index, which then hashes others.
const stepsMerges = 3

// stepExceeded reports whether the records that were found for a step are too much for it.
func (s *shard) stepExceeded() bool {
	return s.work.records >= stepsMerges*s.tier.maxWalk || s.work.bytes >= stepBytes
}

// beginWalk begins a walk that is not a drain's.
func (s *shard) beginWalk(w *walk, id uint32) {
	*w = walk{id: id, next: s.walks}
	s.walks = w
}

// endWalk forgets a walk.
func (s *shard) endWalk(w *walk) {
	at := &s.walks
	for *at != w {
		at = &(*at).next
	}
	*at = w.next
}

// walkStep is a step of a walk: it looks at a few records and calls fn for those that live;
// fn may remove or move them. It reports whether there may be more that live. A segment
// without any is released, unless it is open.
func (s *shard) walkStep(w *walk, fn func(*entry)) (more bool) {
	t, id, at := s.tier, w.id, w.at
	s.walking = id
	seg, base := &t.segs[id], uint64(id)<<t.segShift
	if at == 0 {
		if at = seg.First; seg.Head != 0 {
			s.lookUpLater(t.place(seg.Head))
		}
	}
	for at < seg.End && s.batch.n < t.maxWalk {
		at += uint32(min(s.lookUpLater(base+uint64(at)), uint64(t.segSize())))
	}
	if left, ok := s.lookUp(fn); ok {
		_, at = t.segmentAt(left)
	}
	s.walking, w.at = 0, at
	more = at < seg.End && seg.Live > 0
	s.releaseOrGrade(id)
	return more
}

// lookUpLater adds the record at off to the batch, and returns its size.
func (s *shard) lookUpLater(off uint64) uint64 {
	w := &s.batch
	r := s.tier.recordAt(off)
	hash := s.tier.Hash(s.key(&r))
	s.tier.region.Prefetch(s.table.Offset(index.Home(hash, s.table.Shape())))
	if below := s.tier.lower; below != nil {
		below.Prefetch(hash)
	}
	if s.walking == s.drain.id && s.drain.leavesGhosts {
		s.prefetchGhost(hash)
	}
	w.recs[w.n], w.hashes[w.n] = r, hash
	w.n++
	s.work.records++
	return r.size
}

// lookUp calls fn for the records of the batch that are live. If that becomes too much for
// a step, it leaves the rest out, which begins at left.
func (s *shard) lookUp(fn func(*entry)) (left uint64, ok bool) {
	w := &s.batch
	n := w.n
	w.n = 0
	for i := range n {
		hash, rec := w.hashes[i], w.recs[i]
		if i > 0 && s.stepExceeded() {
			return rec.off, true
		}
		if b, slot, live := s.table.Find(hash, uint32(rec.off>>s.tier.unitShift)); live {
			w.entry = entry{hash, b, slot, rec}
			fn(&w.entry)
		}
	}
	return 0, false
}

// eachFrom is a step of a walk through all records of the shard, by the index, in which
// records may be moved meanwhile: it calls fn for some from a position on, and fn may
// remove them. next is the position where the next step begins, 0 at the end.
func (s *shard) eachFrom(at uint64, fn func(hash uint64, loc uint32)) (next uint64) {
	found, next := s.table.From(at)
	for i, p := range found {
		if i > 0 && p.Position > found[i-1].Position && s.stepExceeded() {
			return p.Position
		}
		fn(p.Hash(), p.Location)
	}
	return next
}
