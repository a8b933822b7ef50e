package ram

import (
	"sync/atomic"

	"github.com/firncache/firn/internal/policy"
)

// lanes is the number of lanes that records wait in: policy.Small and
// policy.Main. A segment that waits in none is policy.None.
const lanes = 2

// segment is a row of the table of segments. All fields but cont belong to
// the shard that holds the segment, under its mutex; of a free segment, to the
// pool. Segment numbers begin at 1: 0 is "none", as is location 0.
type segment struct {
	next, prev uint32 // neighbours in a queue or chain of segments
	live       uint32 // bytes of live records that lie here
	first      uint32 // where the first record that starts here starts
	end        uint32 // where the last record that starts here ends, or the segment's size
	head       uint32 // location of the record that continues into this segment, 0 for none

	// cont is the segment where the last record continues, 0 for none. Readers
	// of straddling records follow it without a lock.
	cont atomic.Uint32

	// owner is the number of the shard that keeps records here, 0 for none. Only
	// that shard, under its mutex, can be sure of it.
	owner atomic.Uint32

	lane       policy.Lane // the lane that filled it
	queue      policy.Lane // the queue it waits in: its lane's, or None
	grade      uint8       // the list of its shard's cleanable that it is in
	sweepShift uint8       // how soon after earliest it is swept: see sweepDue
	stamp      uint32      // the shard's clock of evictions when it was opened

	cleanNext, cleanPrev uint32 // neighbours in that list

	earliest int64 // no record here is past its grace before, in clock milliseconds; 0 for none
	latest   int64 // when the last one here will be
	opened   int64 // the time, in clock milliseconds
}

// chain is a list of segments linked through next, last in first out.
type chain struct {
	head uint32
	n    int
}

func (c *chain) push(segs []segment, id uint32) {
	segs[id].next = c.head
	c.head = id
	c.n++
}

func (c *chain) pop(segs []segment) uint32 {
	id := c.head
	c.head = segs[id].next
	c.n--
	return id
}

// queue is a list of sealed segments, oldest first.
type queue struct {
	head, tail uint32
	bytes      uint64 // of live records in the lane, its open segment included
}

func (q *queue) push(segs []segment, id uint32) {
	segs[id].prev, segs[id].next = q.tail, 0
	if q.tail != 0 {
		segs[q.tail].next = id
	} else {
		q.head = id
	}
	q.tail = id
}

// join puts another queue's segments behind those that are there.
func (q *queue) join(segs []segment, other *queue) {
	switch {
	case other.head == 0:
		return
	case q.head == 0:
		q.head = other.head
	default:
		segs[q.tail].next, segs[other.head].prev = other.head, q.tail
	}
	q.tail = other.tail
}

func (q *queue) remove(segs []segment, id uint32) {
	s := &segs[id]
	if s.prev != 0 {
		segs[s.prev].next = s.next
	} else {
		q.head = s.next
	}
	if s.next != 0 {
		segs[s.next].prev = s.prev
	} else {
		q.tail = s.prev
	}
}

// lane is the end of one of a shard's logs: where the next record goes.
type lane struct {
	seg uint32 // the open segment, 0 for none
	at  uint32 // the first free byte in it
}

// sweepDue reports whether looking through the segment is worth it.
func (seg *segment) sweepDue(now int64) bool {
	if seg.earliest == 0 || now < seg.earliest {
		return false
	}
	return now >= seg.latest || now-seg.earliest >= max(1000, (seg.latest-seg.earliest)>>seg.sweepShift)
}

// A sweepShift says how soon a segment is swept once its first record is past its
// grace: after the time until its last one is, halved so often.
const (
	minSweepShift = 4
	maxSweepShift = 63 // at once
)

// sweepShift is the least with which a segment is swept by then.
func sweepShift(earliest, latest, by int64) (n uint8) {
	for n = minSweepShift; n < maxSweepShift && earliest+(latest-earliest)>>n > by; n++ {
	}
	return n
}
