package shared

import "sync/atomic"

// Number is what the local tiers know of a number: a copy of it, of one moment.
type Number struct {
	ID ID
	NumberState
	Stamp Stamp  // of the epoch from before the request
	Kept  uint64 // the moment at which it was kept, by the count of who keeps it

	void, used atomic.Bool
}

// Void says that the number may be another by now.
func (n *Number) Void() { n.void.Store(true) }

// Voided reports whether Void was called: then nothing is known of the number any more.
func (n *Number) Voided() bool { return n.void.Load() }

// HoldsNumber reports whether a number, nil for none, is an answer without asking. It looks at
// the trust first: who is trusted has heard by then of what was voided.
func (t *Trust) HoldsNumber(n *Number) bool {
	if n == nil || !t.Holds(n.Stamp) || n.Voided() {
		return false
	}
	if !n.used.Load() { // which leaves the cache line to all readers
		n.used.Store(true)
	}
	return true
}

// TakeUsed reports whether the number was an answer since the last call.
func (n *Number) TakeUsed() bool { return n.used.Load() && n.used.Swap(false) }
