package ram

import "time"

// leavers are records that a shard took out for want of room, all of the same age, which the
// tier's distribution is still to be told of.
type leavers struct {
	age int64 // milliseconds
	n   uint64
}

// noteAge counts the age of a record that is about to leave for want of room, at a time: how
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

// countAges tells the tier's distribution, whose memory all shards write to, of many records
// at once.
func (s *shard) countAges() {
	if s.leavers.n > 0 {
		s.tier.ages.AddN(time.Duration(s.leavers.age)*time.Millisecond, s.leavers.n)
		s.leavers.n = 0
	}
}
