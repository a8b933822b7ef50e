package coherence

import (
	"sync"
	"sync/atomic"
)

// stripes is how many stripes there are. Two keys of one stripe only keep each
// other from being filled in.
const stripes = 256

// stripe guards the fronts' entries of the keys that hash to it.
type stripe struct {
	mu    sync.Mutex    // held while an entry is put into a front or deleted
	state atomic.Uint64 // writes begun, times writeBegun; plus writes under way
	_     [48]byte
}

const (
	writesUnderWay = 1<<20 - 1
	writeBegun     = 1 << 20
)

// begin counts a write in. The caller holds mu.
func (s *stripe) begin() { s.state.Add(writeBegun + 1) }

// end counts a write out.
func (s *stripe) end() { s.state.Add(^uint64(0)) }

// Fill is the state of a key's stripe before its bytes were read.
type Fill struct {
	stripe *stripe
	state  uint64
}

// BeginFill is called before the bytes of key are read. A front is attached.
func (t *Table) BeginFill(key []byte) Fill {
	s := t.attached.Load().stripe(key)
	return Fill{s, s.state.Load()}
}

// Lock reports whether the bytes have not changed since BeginFill. Then it keeps
// them from it until Unlock is called, and the front may be filled.
func (f Fill) Lock() bool {
	if f.state&writesUnderWay != 0 {
		return false
	}
	f.stripe.mu.Lock()
	if f.stripe.state.Load() == f.state {
		return true
	}
	f.stripe.mu.Unlock()
	return false
}

// Written is f for a caller who has written the key once since BeginFill, and knows the bytes by
// that: its own write is no change.
func (f Fill) Written() Fill {
	f.state += writeBegun
	return f
}

// Unlock ends a Lock that returned true.
func (f Fill) Unlock() { f.stripe.mu.Unlock() }
