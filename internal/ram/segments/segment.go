// Package segments has the table of a region's segments: the lists that they wait in, the pool of
// the free ones, and the segments that are worth cleaning.
package segments

import (
	"math"
	"math/bits"
	"sync/atomic"

	"github.com/firncache/firn/internal/policy"
)

// Lanes is the number of lanes that records wait in: policy.Small and
// policy.Main. A segment that waits in none is policy.None.
const Lanes = 2

// Segment is a row of the table of segments. All fields but Cont belong to
// the shard that holds the segment, under its mutex; of a free segment, to the
// pool. Segment numbers begin at 1: 0 is "none", as is location 0.
type Segment struct {
	Next, Prev uint32 // neighbours in a queue or chain of segments
	Live       uint32 // bytes of live records that lie here
	First      uint32 // where the first record that starts here starts
	End        uint32 // where the last record that starts here ends, or the segment's size
	Head       uint32 // location of the record that continues into this segment, 0 for none

	// Cont is the segment where the last record continues, 0 for none. Readers
	// of straddling records follow it without a lock.
	Cont atomic.Uint32

	// Owner is the number of the shard that keeps records here, 0 for none. Only
	// that shard, under its mutex, can be sure of it.
	Owner atomic.Uint32

	Lane       policy.Lane // the lane that filled it
	Queue      policy.Lane // the queue it waits in: its lane's, or None
	Grade      uint8       // the list of its shard's Cleanable that it is in
	SweepShift uint8       // how soon after Earliest it is swept: see SweepDue
	Stamp      uint32      // the shard's clock of evictions when it was opened

	CleanNext, CleanPrev uint32 // neighbours in that list

	Earliest int64 // no record here is past its grace before, in clock milliseconds; 0 for none
	Latest   int64 // when the last one here will be
	Opened   int64 // the time, in clock milliseconds
}

// Chain is a list of segments linked through Next, last in first out.
type Chain struct {
	head uint32
	N    int
}

func (c *Chain) Push(segs []Segment, id uint32) {
	segs[id].Next = c.head
	c.head = id
	c.N++
}

func (c *Chain) Pop(segs []Segment) uint32 {
	id := c.head
	c.head = segs[id].Next
	c.N--
	return id
}

// Queue is a list of sealed segments, oldest first.
type Queue struct {
	Head, Tail uint32
	Bytes      uint64 // of live records in the lane, its open segment included
}

func (q *Queue) Push(segs []Segment, id uint32) {
	segs[id].Prev, segs[id].Next = q.Tail, 0
	if q.Tail != 0 {
		segs[q.Tail].Next = id
	} else {
		q.Head = id
	}
	q.Tail = id
}

// Join puts another queue's segments behind those that are there.
func (q *Queue) Join(segs []Segment, other *Queue) {
	switch {
	case other.Head == 0:
		return
	case q.Head == 0:
		q.Head = other.Head
	default:
		segs[q.Tail].Next, segs[other.Head].Prev = other.Head, q.Tail
	}
	q.Tail = other.Tail
}

func (q *Queue) Remove(segs []Segment, id uint32) {
	s := &segs[id]
	if s.Prev != 0 {
		segs[s.Prev].Next = s.Next
	} else {
		q.Head = s.Next
	}
	if s.Next != 0 {
		segs[s.Next].Prev = s.Prev
	} else {
		q.Tail = s.Prev
	}
}

// Lane is the end of one of a shard's logs: where the next record goes.
type Lane struct {
	Seg uint32 // the open segment, 0 for none
	At  uint32 // the first free byte in it
}

// SweepDue reports whether looking through the segment is worth it.
func (seg *Segment) SweepDue(now int64) bool {
	if seg.Earliest == 0 || now < seg.Earliest {
		return false
	}
	return now >= seg.Latest || now-seg.Earliest >= max(1000, (seg.Latest-seg.Earliest)>>seg.SweepShift)
}

// A sweepShift says how soon a segment is swept once its first record is past its
// grace: after the time until its last one is, halved so often.
const (
	MinSweepShift = 4
	MaxSweepShift = 63 // at once
)

// SweepShift is the least with which a segment is swept by then.
func SweepShift(earliest, latest, by int64) (n uint8) {
	for n = MinSweepShift; n < MaxSweepShift && earliest+(latest-earliest)>>n > by; n++ {
	}
	return n
}

// Remaining are bytes of records by the time that they have left: each place is for
// twice the time of the one before.
type Remaining [64]uint64

func (r *Remaining) Add(millis int64, size uint64) { r[bits.Len64(uint64(max(millis, 0)))%64] += size }

// Before is a time before which fewer than so many bytes go: the last such power of
// two.
func (r *Remaining) Before(size uint64) (millis int64) {
	for i, n := range r {
		if n >= size {
			return 1 << max(i-1, 0)
		}
		size -= n
	}
	return math.MaxInt64 / 2
}
