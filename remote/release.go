package remote

import (
	"context"
	"sync"
	"time"

	"github.com/firncache/firn/internal/shared"
)

// releases are the leases to give up, by one goroutine, while there are any. What cannot be
// given up is over after its time.
type releases struct {
	mu      sync.Mutex
	waiting []heldLease
	idle    chan struct{} // closed when the goroutine has ended; nil if there was none
	closed  bool
}

// maxReleases is how many wait at most.
const maxReleases = 4096

// Release gives up what Lease has got. It does not wait.
func (t *Tier) Release(key []byte, leased shared.Expect) {
	if leased.Leased != 0 {
		l := t.leaseAt(key, leased)
		t.renewals.letGo(l)
		t.giveUp(l)
	}
}

// leaseAt is the lease that is held, in the place of the key's entry or beside it.
func (t *Tier) leaseAt(key []byte, leased shared.Expect) heldLease {
	if leased.Leased == leased.Version {
		return heldLease{t.entryName(key), leased.Leased}
	}
	return heldLease{t.besideName(key), leased.Leased}
}

func (t *Tier) giveUp(l heldLease) {
	r := &t.releases
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || len(r.waiting) >= maxReleases {
		return
	}
	if r.waiting = append(r.waiting, l); len(r.waiting) == 1 {
		r.idle = make(chan struct{})
		go t.giveUpAll(r.idle)
	}
}

// giveUpAll ends when nothing waits.
func (t *Tier) giveUpAll(idle chan struct{}) {
	defer close(idle)
	for l, ok := t.releases.first(); ok; l, ok = t.releases.next() {
		mine := shared.Expect{Version: l.lease, Leased: l.lease}
		_ = t.askName(t.dialing, l.name, func(w *wire) error { return w.delIf(t.dialing, l.name, mine) })
	}
}

func (r *releases) first() (heldLease, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.waiting[0], true
}

// next is after the first was given up.
func (r *releases) next() (heldLease, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting = r.waiting[1:]; len(r.waiting) == 0 {
		r.waiting = nil
		return heldLease{}, false
	}
	return r.waiting[0], true
}

// close takes no more, and waits a moment for those that there are. Then wait is for the
// goroutine.
func (r *releases) close(ctx context.Context, moment time.Duration) (wait func()) {
	r.mu.Lock()
	r.closed = true
	idle := r.idle
	r.mu.Unlock()
	if idle == nil {
		return func() {}
	}
	timer := time.NewTimer(moment)
	defer timer.Stop()
	select {
	case <-idle:
	case <-timer.C:
	case <-ctx.Done():
	}
	return func() { <-idle }
}
