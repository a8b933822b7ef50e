package remote

import (
	"sync"
	"time"

	"github.com/firncache/firn/internal/shared"
)

// heldLease is a lease that this process has: the name under which it lies, and its version.
type heldLease struct {
	name  string
	lease shared.Version
}

// renewals are the leases that this process holds. One goroutine, while there are any, has those
// be extended that are held for long, so that a load slower than Options.LeaseTime stores its
// value. every, extend and ended are set before any call.
type renewals struct {
	every  time.Duration
	extend func(due []heldLease)

	mu    sync.Mutex
	held  map[heldLease]bool // true from the first tick on; nil while there are none
	ended chan struct{}      // closed by close
	ends  sync.WaitGroup
}

// hold has a lease be extended until it is let go.
func (r *renewals) hold(l heldLease) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isClosed() {
		return
	}
	if r.held == nil {
		r.held = map[heldLease]bool{}
		r.ends.Go(r.run)
	}
	r.held[l] = false
}

// letGo ends hold.
func (r *renewals) letGo(l heldLease) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.held, l)
}

// has reports whether a lease is held.
func (r *renewals) has(l heldLease) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.held[l]
	return ok
}

// run ends when nothing is held.
func (r *renewals) run() {
	tick := time.NewTicker(r.every)
	defer tick.Stop()
	for {
		select {
		case <-r.ended:
			return
		case <-tick.C:
		}
		due, more := r.due()
		if !more {
			return
		}
		r.extend(due)
	}
}

// due are the leases that were held at the last tick already.
func (r *renewals) due() (due []heldLease, more bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.held) == 0 {
		r.held = nil
		return nil, false
	}
	for l, again := range r.held {
		if r.held[l] = true; again {
			due = append(due, l)
		}
	}
	return due, true
}

func (r *renewals) isClosed() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

// close extends no more.
func (r *renewals) close() {
	r.mu.Lock()
	if !r.isClosed() {
		close(r.ended)
	}
	r.mu.Unlock()
	r.ends.Wait()
}
