package ram

import (
	"github.com/firncache/firn/internal/offheap"
	"github.com/firncache/firn/internal/policy"
	"github.com/firncache/firn/internal/ram/segments"
	"github.com/firncache/firn/internal/record"
)

// padBelow decides how a record that does not fit in the rest of its segment is
// stored: one smaller than 1/padBelow of a segment starts in the next one, so
// that small records are always in one piece; a larger one straddles, so that
// no segment is left half empty.
const padBelow = 16

// pads reports whether a record of this size leaves the rest of the open
// segment empty.
func (s *shard) pads(l *segments.Lane, size uint64) bool {
	rest := uint64(s.tier.segSize() - l.At)
	return size > rest && (size < uint64(s.tier.segSize())/padBelow || rest < record.MaxHeader)
}

// wants is the number of spare segments that appending size bytes to a lane
// takes.
func (s *shard) wants(q policy.Lane, size uint64) int {
	l := &s.lanes[q]
	var rest uint64
	if l.Seg != 0 && !s.pads(l, size) {
		rest = uint64(s.tier.segSize() - l.At)
	}
	if size <= rest {
		return 0
	}
	segSize := uint64(s.tier.segSize())
	return int((size - rest + segSize - 1) / segSize)
}

// appendRecord makes room for a record at the end of a lane and writes all of
// it. The caller has seen to wants. Nobody can find the record yet.
func (s *shard) appendRecord(q policy.Lane, r *newRecord) (loc uint32) {
	a := s.openCount(r)
	off := s.extend(q, r.size)
	s.tier.write(off, r)
	s.work.bytes += int(r.size)
	s.appended(off, r.deadline)
	s.newest, _ = s.tier.segmentAt(off)
	if a != nil {
		s.credit(a, q, off, r.size)
	}
	return uint32(off >> s.tier.unitShift)
}

// appended notes a record's deadline in the segment where it starts, now that all of
// the record is written.
func (s *shard) appended(off uint64, deadline int64) {
	s.noteDeadline(off, deadline)
	id, _ := s.tier.segmentAt(off)
	s.tier.segs[id].SweepShift = segments.MaxSweepShift // how many bytes expire soon is not known
	if s.tier.segs[id].Queue != policy.None {           // it straddles
		s.grade(id)
	}
}

// extend moves a lane's end by size bytes and returns where they begin.
func (s *shard) extend(q policy.Lane, size uint64) (off uint64) {
	l := &s.lanes[q]
	if l.Seg == 0 || s.pads(l, size) {
		s.open(q)
	}
	off = uint64(l.Seg)<<s.tier.segShift + uint64(l.At)
	s.queues[q].Bytes += size
	s.drainDebt += int64(size)
	for {
		seg := &s.tier.segs[l.Seg]
		n := min(size, uint64(s.tier.segSize()-l.At))
		seg.Live += uint32(n)
		l.At += uint32(n)
		if size -= n; size == 0 {
			seg.End = l.At
			return off
		}
		seg.End = l.At
		from := l.Seg
		s.open(q)
		next := &s.tier.segs[l.Seg]
		next.Head = uint32(off >> s.tier.unitShift)
		next.First = uint32(min(size, uint64(s.tier.segSize())))
		s.tier.segs[from].Cont.Store(l.Seg)
	}
}

// open seals a lane's segment and continues in a spare one.
func (s *shard) open(q policy.Lane) {
	s.seal(q)
	l := &s.lanes[q]
	l.Seg, l.At = s.spare.Pop(s.tier.segs), 0
	seg := &s.tier.segs[l.Seg]
	seg.Live, seg.First, seg.End, seg.Head = 0, 0, 0, 0
	seg.Cont.Store(0)
	seg.Lane, seg.Queue, seg.Earliest, seg.Latest = q, policy.None, 0, 0
	seg.Stamp, seg.Opened = s.ghosts.Clock(), s.tier.clock.now()
	s.tier.quotas.Unmark(l.Seg)
	seg.Owner.Store(s.number)
	s.held.Add(1)
	small, main := s.laneBytes()
	s.tier.meanRecordBytes.Store(uint64(small+main) / uint64(s.table.Len()+1))
}

// seal puts a lane's segment into its queue.
func (s *shard) seal(q policy.Lane) {
	l := &s.lanes[q]
	if l.Seg == 0 {
		return
	}
	id := l.Seg
	l.Seg, l.At = 0, 0
	seg := &s.tier.segs[id]
	seg.Queue = q
	s.queues[q].Push(s.tier.segs, id)
	if seg.Live == 0 {
		s.release(id)
		return
	}
	s.grade(id)
}

// kill takes a record's bytes out of the account: it can no longer be found.
// Segments that hold nothing else go back to the pool.
func (s *shard) kill(off, size uint64) {
	s.debit(off, size)
	if len(s.demotions) > 0 {
		s.demotions.died(off)
	}
	id, in := s.tier.segmentAt(off)
	s.queues[s.tier.segs[id].Lane].Bytes -= size
	for {
		seg := &s.tier.segs[id]
		n := min(size, uint64(s.tier.segSize()-in))
		size -= n
		next := uint32(0)
		if size > 0 { // the links of a straddling record die with it
			next = seg.Cont.Load()
			seg.Cont.Store(0)
			s.tier.segs[next].Head = 0
		}
		seg.Live -= uint32(n)
		if id != s.walking {
			s.releaseOrGrade(id)
		}
		if size == 0 {
			return
		}
		id, in = next, 0
	}
}

// releaseOrGrade is called when fewer bytes of a segment are live. It releases a dead
// one, unless it is open, and puts any other into the list of its new grade.
func (s *shard) releaseOrGrade(id uint32) {
	seg, drained := &s.tier.segs[id], id == s.drain.id
	switch {
	case seg.Queue == policy.None && !drained:
	case seg.Live == 0:
		s.release(id)
	case !drained:
		s.grade(id)
	}
}

// release gives a segment without live records back to the pool.
func (s *shard) release(id uint32) {
	seg := &s.tier.segs[id]
	if seg.Queue != policy.None {
		s.dequeue(id)
	}
	if id == s.drain.id {
		s.drain.id = 0
		s.drain.ended++
	}
	s.cleanable.Move(s.tier.segs, id, 0)
	s.disown(id)
}

// disown gives a segment back that is in no list any more.
func (s *shard) disown(id uint32) {
	for w := s.walks; w != nil; w = w.next {
		if w.id == id {
			w.id = 0
		}
	}
	s.tier.segs[id].Owner.Store(0)
	s.held.Add(-1)
	s.retire(id)
}

// retire gives a segment back to the pool, through the epoch: a reader of it will
// notice that before its bytes change.
func (s *shard) retire(id uint32) {
	s.epoch.Add(1)
	offheap.StoreFence()
	s.tier.pool.Give(id)
	s.work.records++
}

// noteDeadline notes in the record's segment when it is past its grace.
func (s *shard) noteDeadline(off uint64, deadline int64) {
	end := s.tier.graceDeadline(deadline)
	if end == 0 {
		return
	}
	id, _ := s.tier.segmentAt(off)
	seg := &s.tier.segs[id]
	if seg.Earliest == 0 || end < seg.Earliest {
		seg.Earliest = end
	}
	seg.Latest = max(seg.Latest, end)
	for w := s.walks; w != nil; w = w.next {
		if w.id == id {
			w.note(end)
		}
	}
}

// laneBytes are the bytes of live records in the two lanes.
func (s *shard) laneBytes() (small, main int64) {
	return int64(s.queues[policy.Small].Bytes), int64(s.queues[policy.Main].Bytes)
}

// grade puts a sealed segment into the list of its cleaning cost.
func (s *shard) grade(id uint32) { s.cleanable.Move(s.tier.segs, id, s.gradeOf(id)) }

func (s *shard) gradeOf(id uint32) uint8 {
	most := uint64(s.tier.segSize() / 8 * 5)
	if uint64(s.tier.segs[id].Live) > most {
		return 0
	}
	n := s.cleaningCost(id)
	if n > most {
		return 0
	}
	return 1 + uint8(n*segments.Grades/(most+1))
}

// cleaningCost is the number of bytes that cleaning a segment copies: the records of
// which some byte lies there, as a whole. It changes only when one of them dies, and
// then the segment's live bytes change, too.
func (s *shard) cleaningCost(id uint32) uint64 {
	t, seg := s.tier, &s.tier.segs[id]
	n := uint64(seg.Live)
	if seg.Head != 0 {
		r := t.recordAt(t.place(seg.Head))
		n += r.size - uint64(seg.First)
	}
	if next := seg.Cont.Load(); next != 0 {
		off := t.place(t.segs[next].Head)
		if start, in := t.segmentAt(off); start == id { // otherwise it is the record that head names
			r := t.recordAt(off)
			n += r.size - uint64(t.segSize()-in)
		}
	}
	return n
}

func (s *shard) addSpare(c segments.Chain) {
	for c.N > 0 {
		s.spare.Push(s.tier.segs, c.Pop(s.tier.segs))
	}
}

// returnSpare gives back segments that were acquired and then not needed.
func (s *shard) returnSpare() {
	for s.spare.N > 0 {
		s.tier.pool.Give(s.spare.Pop(s.tier.segs))
	}
}
