package sim

import "github.com/firncache/firn/internal/policy"

// Firn is the RAM tier as far as eviction is concerned: internal/policy on
// two lanes of segments. Sizes are in bytes.
type Firn struct {
	Inserted, Copied int64 // bytes of new records, and of records copied by eviction

	size     func(key int32) int64
	capacity int64 // the rest, for records
	segment  int64 // size of a segment; one record may be larger
	tuner    *policy.Tuner
	ghosts   policy.Ghosts
	filling  bool
	records  []record
	lanes    [2]queue
	bytes    int64 // in both lanes
	entries  int64
}

// record is a key's state; its lane is policy.None if it is absent.
type record struct {
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

// NewFirn makes an empty tier that holds capacity bytes of records and
// bookkeeping. size is the bytes of a key's record.
func NewFirn(keys int, capacity int64, size func(key int32) int64) *Firn {
	f := &Firn{size: size, capacity: capacity, segment: capacity / segments, filling: true}
	f.tuner = policy.NewTuner(capacity)
	f.capacity -= f.tuner.Bytes()
	f.records = make([]record, keys)
	for i := range f.records {
		f.records[i].lane = policy.None
	}
	return f
}

// Evicts reports whether it has evicted something.
func (f *Firn) Evicts() bool { return !f.filling }

// Setting is what its tuner has chosen.
func (f *Firn) Setting() policy.Setting { return f.tuner.Setting() }

// Access reads key, and stores it if it is absent.
func (f *Firn) Access(key int32) bool {
	r, hash := &f.records[key], hashOf(key)
	if r.lane != policy.None {
		r.frequency = min(r.frequency+1, policy.MaxFrequency)
		if f.tuner.Sampled(hash) {
			f.tuner.Hit(hash)
		}
		return true
	}
	if f.size(key) > f.capacity/4 {
		return false
	}
	f.tuner.Insert(hash, f.entries, f.filling)
	f.makeRoom(f.size(key))
	to := policy.Main
	if !f.filling {
		to = f.ghosts.Lane(hash, f.stamp(policy.Small), f.stamp(policy.Main))
	}
	r.frequency = 0
	f.push(to, key)
	f.Inserted += f.size(key)
	f.entries++
	return false
}

func (f *Firn) makeRoom(size int64) {
	for f.bytes+size > f.capacity {
		if f.filling {
			f.filling = false
			memory := make([]uint64, policy.GhostWords(f.entries, f.capacity))
			f.ghosts = policy.NewGhosts(memory)
			f.capacity -= int64(8 * len(memory))
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
	q, size := &f.lanes[to], f.size(key)
	n := len(q.segments)
	if n == 0 || q.segments[n-1].bytes+size > f.segment {
		q.segments = append(q.segments, segment{stamp: f.ghosts.Clock()})
		n++
	}
	s := &q.segments[n-1]
	s.keys = append(s.keys, key)
	s.bytes += size
	q.bytes += size
	f.bytes += size
	f.records[key].lane = to
}

// evictSegment works off the segment at the tail of the victim lane.
func (f *Firn) evictSegment() {
	setting := f.tuner.Setting()
	small, main := &f.lanes[policy.Small], &f.lanes[policy.Main]
	from := setting.Victim(small.bytes, main.bytes)
	q := &f.lanes[from]
	keys := q.segments[0].keys
	q.segments = q.segments[1:]
	for _, key := range keys {
		r, size := &f.records[key], f.size(key)
		f.tuner.Drained(hashOf(key), r.frequency)
		to, frequency := setting.Next(from, r.frequency, small.bytes, main.bytes)
		q.bytes -= size
		f.bytes -= size
		if to == policy.None {
			r.lane = policy.None
			f.entries--
			f.ghosts.Evict(from, hashOf(key))
			continue
		}
		r.frequency = frequency
		f.push(to, key)
		f.Copied += size
	}
}

// hashOf is a hash of a key as good as the cache's.
func hashOf(key int32) uint64 {
	z := uint64(key) + 0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}
