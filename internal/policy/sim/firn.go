package sim

import "github.com/firncache/firn/internal/policy"

// Firn is the RAM tier as far as eviction is concerned: internal/policy on
// two lanes of segments.
type Firn struct {
	Capacity int64 // bytes, bookkeeping included
	Segments int64 // about how many segments the capacity has
	Charge   bool  // whether bookkeeping takes part of the capacity

	Inserted, Copied int64 // bytes

	tuner   *policy.Tuner
	ghosts  policy.Ghosts
	filling bool
	records []record
	lanes   [2]queue
	bytes   int64 // in both lanes
	entries int64
}

// record is a resident key, or a key that is not if lane is policy.None.
type record struct {
	size      int64
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

// NewFirn makes an empty tier over the given number of keys.
func NewFirn(keys int, capacity, segments int64, charge bool) *Firn {
	f := &Firn{Capacity: capacity, Segments: segments, Charge: charge, filling: true}
	f.tuner = policy.NewTuner(capacity)
	if charge {
		f.Capacity -= f.tuner.Bytes()
	}
	f.records = make([]record, keys)
	for i := range f.records {
		f.records[i].lane = policy.None
	}
	return f
}

// Access reads key, and stores it with so many bytes if it is absent.
func (f *Firn) Access(key int32, size int64) bool {
	r, hash := &f.records[key], hashOf(key)
	if r.lane != policy.None {
		r.frequency = min(r.frequency+1, policy.MaxFrequency)
		if f.tuner.Sampled(hash) {
			f.tuner.Hit(hash)
		}
		return true
	}
	if size > f.Capacity/4 {
		return false
	}
	if f.tuner.Sampled(hash) {
		f.tuner.Insert(hash, f.entries, f.filling)
	}
	f.makeRoom(size)
	to := policy.Main
	if !f.filling {
		to = f.ghosts.Lane(hash, f.stamp(policy.Small), f.stamp(policy.Main))
	}
	f.Inserted += size
	f.entries++
	*r = record{size: size}
	f.push(to, key)
	return false
}

func (f *Firn) makeRoom(size int64) {
	for f.bytes+size > f.Capacity {
		if f.filling {
			f.filling = false
			memory := make([]uint64, policy.GhostWords(f.entries, f.Capacity))
			f.ghosts = policy.NewGhosts(memory)
			if f.Charge {
				f.Capacity -= int64(8 * len(memory))
			}
		}
		f.evictSegment()
	}
}

func (f *Firn) stamp(l policy.Lane) uint32 {
	if q := &f.lanes[l]; len(q.segments) > 0 {
		return q.segments[0].stamp
	}
	return f.ghosts.Clock()
}

// push appends a record to a lane's newest segment, or to a new one.
func (f *Firn) push(to policy.Lane, key int32) {
	q, r := &f.lanes[to], &f.records[key]
	n := len(q.segments)
	if n == 0 || q.segments[n-1].bytes+r.size > f.Capacity/f.Segments {
		q.segments = append(q.segments, segment{stamp: f.ghosts.Clock()})
		n++
	}
	s := &q.segments[n-1]
	s.keys = append(s.keys, key)
	s.bytes += r.size
	q.bytes += r.size
	f.bytes += r.size
	r.lane = to
}

// evictSegment works off the segment at the tail of the victim lane.
func (f *Firn) evictSegment() {
	plan := f.tuner.Plan()
	from := plan.Victim(f.lanes[policy.Small].bytes, f.lanes[policy.Main].bytes)
	q := &f.lanes[from]
	s := q.segments[0]
	q.segments = q.segments[1:]
	for _, key := range s.keys {
		r := &f.records[key]
		to, frequency := plan.Next(from, r.frequency, f.lanes[policy.Small].bytes, f.lanes[policy.Main].bytes)
		q.bytes -= r.size
		f.bytes -= r.size
		if to == policy.None {
			r.lane = policy.None
			f.entries--
			f.ghosts.Evict(from, hashOf(key))
			continue
		}
		f.Copied += r.size
		r.frequency = frequency
		f.push(to, key)
	}
}

// hashOf is a hash of a key as good as the cache's.
func hashOf(key int32) uint64 {
	z := uint64(key) + 0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}
