package policy

import "sync/atomic"

// ring is a lossy queue of hashes: many may add at once, one drains. What comes when it
// is full is dropped, with no store to memory that all processors share: a cache whose
// reads all hit is left alone.
type ring struct {
	places []atomic.Uint64

	_       [64]byte // the slice is never written, and read by all
	added   atomic.Uint64
	drained atomic.Uint64
	_       [64]byte
}

func (r *ring) add(hash uint64) {
	n := uint64(len(r.places))
	if r.added.Load()-r.drained.Load() >= n {
		return
	}
	r.places[(r.added.Add(1)-1)%n].Store(hash)
}

// drain calls each with hashes that were added, in order, drainMost at most. A place that
// was reserved but not yet written, or twice by adders that met at the ring's end, gives
// another hash; that is harmless.
func (r *ring) drain(each func(hash uint64)) {
	n, from, to := uint64(len(r.places)), r.drained.Load(), r.added.Load()
	to = min(to, from+drainMost)
	for at := from; at < to; at++ {
		each(r.places[at%n].Load())
	}
	if to != from {
		r.drained.Store(to)
	}
}

// drainMost bounds the work of an insert, which holds a shard's lock.
const drainMost = 64
