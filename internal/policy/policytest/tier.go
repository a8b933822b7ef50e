// Package policytest runs the policy of the RAM tier without the tier, for the tests of both.
package policytest

import (
	"github.com/firncache/firn/internal/policy"
	"github.com/firncache/firn/internal/record"
)

// Tier is the RAM tier as far as eviction is concerned: internal/policy on
// two lanes of segments. Sizes are in bytes.
type Tier struct {
	Inserted, Copied int64 // bytes of new records, and of records copied by eviction

	size     func(key int32) int64
	capacity int64 // the rest, for records
	segment  int64 // size of a segment; one record may be larger
	tuner    *policy.Tuner
	ghosts   policy.Ghosts
	filling  bool
	records  []entry
	lanes    [2]queue
	bytes    int64 // in both lanes
	entries  int64
}

// entry is a key's state; its lane is policy.None if it is absent.
type entry struct {
	lane      policy.Lane
	frequency uint8
}

// queue is a lane: segments, the oldest first.
type queue struct {
	segments []segment
	bytes    int64
}

type segment struct {
	stamp uint32
	bytes int64
	keys  []int32
}

// segments is how many segments the simulated capacity has, the fewest that
// the RAM tier works with.
const segments = 256

// NewTier makes an empty tier that holds capacity bytes of records and
// bookkeeping. size is the bytes of a key's record.
func NewTier(keys int, capacity int64, size func(key int32) int64) *Tier {
	t := &Tier{size: size, capacity: capacity, segment: capacity / segments, filling: true}
	t.tuner = policy.NewTuner(capacity)
	t.capacity -= t.tuner.Bytes()
	t.records = make([]entry, keys)
	for i := range t.records {
		t.records[i].lane = policy.None
	}
	return t
}

// Evicts reports whether it has evicted something.
func (t *Tier) Evicts() bool { return !t.filling }

// Setting is what its tuner has chosen.
func (t *Tier) Setting() policy.Setting { return t.tuner.Setting() }

// Access reads key, and stores it if it is absent.
func (t *Tier) Access(key int32) bool {
	r, hash := &t.records[key], hashOf(key)
	if r.lane != policy.None {
		r.frequency = min(r.frequency+1, policy.MaxFrequency)
		if t.tuner.Sampled(hash) {
			t.tuner.Hit(hash)
		}
		return true
	}
	if t.size(key) > t.capacity/4 {
		return false
	}
	t.tuner.Insert(hash, t.entries, t.filling)
	t.makeRoom(t.size(key))
	to := policy.Main
	if !t.filling {
		to = t.ghosts.Lane(hash, t.stamp(policy.Small), t.stamp(policy.Main))
	}
	r.frequency = 0
	t.push(to, key)
	t.Inserted += t.size(key)
	t.entries++
	return false
}

func (t *Tier) makeRoom(size int64) {
	for t.bytes+size > t.capacity {
		if t.filling {
			t.filling = false
			memory := make([]uint64, policy.GhostWords(t.entries, t.capacity))
			t.ghosts = policy.NewGhosts(memory)
			t.capacity -= int64(8 * len(memory))
		}
		t.evictSegment()
	}
}

func (t *Tier) stamp(l policy.Lane) uint32 {
	if q := &t.lanes[l]; len(q.segments) > 0 {
		return q.segments[0].stamp
	}
	return t.ghosts.Clock()
}

// push appends a record to a lane's newest segment, or to a new one.
func (t *Tier) push(to policy.Lane, key int32) {
	q, size := &t.lanes[to], t.size(key)
	n := len(q.segments)
	if n == 0 || q.segments[n-1].bytes+size > t.segment {
		q.segments = append(q.segments, segment{stamp: t.ghosts.Clock()})
		n++
	}
	s := &q.segments[n-1]
	s.keys = append(s.keys, key)
	s.bytes += size
	q.bytes += size
	t.bytes += size
	t.records[key].lane = to
}

// evictSegment works off the segment at the tail of the victim lane.
func (t *Tier) evictSegment() {
	setting := t.tuner.Setting()
	small, main := &t.lanes[policy.Small], &t.lanes[policy.Main]
	from := setting.Victim(small.bytes, main.bytes)
	q := &t.lanes[from]
	keys := q.segments[0].keys
	q.segments = q.segments[1:]
	for _, key := range keys {
		r, size := &t.records[key], t.size(key)
		t.tuner.Drained(hashOf(key), r.frequency)
		to, frequency := setting.Next(from, r.frequency, small.bytes, main.bytes)
		q.bytes -= size
		t.bytes -= size
		if to == policy.None {
			r.lane = policy.None
			t.entries--
			t.ghosts.Evict(from, hashOf(key))
			continue
		}
		r.frequency = frequency
		t.push(to, key)
		t.Copied += size
	}
}

// hashOf is a hash of a key as good as the cache's.
func hashOf(key int32) uint64 { return record.Scramble(uint64(key) + 0x9E3779B97F4A7C15) }
