package policy

import "sync/atomic"

// ring is a lossy queue of hashes: many may add at once, one drains. What
// comes when it is full overwrites the oldest.
type ring struct {
	added   atomic.Uint64
	drained uint64
	places  []atomic.Uint64
}

func (r *ring) add(hash uint64) {
	r.places[(r.added.Add(1)-1)%uint64(len(r.places))].Store(hash)
}

// drain calls each with the hashes added since the last call, in order. A place
// that was reserved but not yet written gives an old hash; that is harmless.
func (r *ring) drain(each func(hash uint64)) {
	added := r.added.Load()
	if n := uint64(len(r.places)); added-r.drained > n {
		r.drained = added - n
	}
	for ; r.drained < added; r.drained++ {
		each(r.places[r.drained%uint64(len(r.places))].Load())
	}
}
