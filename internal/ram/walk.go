package ram

import "github.com/firncache/firn/internal/index"

// eachLive calls fn for every live record of which some byte lies in the
// segment; fn may remove or move it. The segment is not released meanwhile.
func (s *shard) eachLive(id uint32, fn func(*entry)) {
	for at, more := s.tier.segs[id].first, true; more; {
		at, more = s.eachLiveStep(id, at, fn)
	}
}

// eachLiveStep is a step of eachLive: it looks at a few records, from the one that
// starts at at, and tells where the next one starts and whether there may be more
// that live. The first step takes that which continues into the segment, too.
func (s *shard) eachLiveStep(id, at uint32, fn func(*entry)) (next uint32, more bool) {
	t := s.tier
	s.walking = id
	seg, from := &t.segs[id], at
	if at == seg.first && seg.head != 0 {
		s.lookUpLater(t.place(seg.head))
	}
	base := uint64(id) << t.segShift
	for at < seg.end && at-from < walkBytes && s.batch.n < t.maxWalk {
		at += uint32(min(s.lookUpLater(base+uint64(at)), uint64(t.segSize())))
	}
	s.lookUp(fn)
	s.walking = 0
	return at, at < seg.end && seg.live > 0
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
	return r.size
}

// lookUp calls fn for the records of the batch that are live.
func (s *shard) lookUp(fn func(*entry)) {
	w := &s.batch
	for i := range w.n {
		hash, rec := w.hashes[i], w.recs[i]
		if b, slot, live := s.table.Find(hash, uint32(rec.off>>s.tier.unitShift)); live {
			w.entry = entry{hash, b, slot, rec}
			fn(&w.entry)
		}
	}
	w.n = 0
}
