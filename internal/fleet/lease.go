package fleet

import (
	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/shared"
)

// Asking is what a load requests from the shared tier.
type Asking uint8

// The requests.
const (
	AskValue Asking = iota // a value; it is not to be loaded
	AskLease               // a value, or a lease to load it
	AskAnew                // a lease to load a value again, or another value than the local tiers have
)

// Lease is what a load knows of the entry in the shared tier, from before its loader is
// called: what it stores is to replace that alone. The zero Lease knows nothing.
type Lease struct {
	expect shared.Expect
	known  bool
	anew   bool  // there may be an older value, though it is not known
	began  int64 // by Trust's clock: the loader begins after it
	salt   shared.Stamp
	err    error // why it is not known; nil: the call skips the shared tier
}

// IsKnown reports whether the shared tier said what is there.
func (l Lease) IsKnown() bool { return l.known }

// Held reports whether the lease is to be released if it is not used.
func (l Lease) Held() bool { return l.expect.Leased != 0 }

// Asked is what came of asking the shared tier for a load.
type Asked struct {
	Value    []byte // the caller's own
	Deadline int64
	State    local.State
	Lease    Lease
	Leased   bool  // by another process
	Err      error // the tier is unavailable, and Policy.Degraded wants no load in its place

	negatives bool // negative entries are answers
}

// is makes a what was found the answer.
func (a *Asked) is(found *localCopy, now int64) {
	a.Value, a.Deadline, a.State = found.value, found.deadline, found.state
	if a.State == local.Negative && -a.Deadline <= now {
		a.State = local.Miss
	}
}
