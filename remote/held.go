package remote

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/firncache/firn/internal/shared"
)

// heldLease is a lease that this process has: the name under which it lies, and its version.
type heldLease struct {
	name  string
	lease shared.Version
}

func (l heldLease) expect() shared.Expect { return shared.Expect{Version: l.lease, Leased: l.lease} }

// holding is the leases that this process has. One goroutine, while there are any, extends those that
// are held for long, so that a load slower than Options.LeaseTime stores its value, and gives up those
// that are to be. What cannot be given up is over after its time. every, extend and giveUp are set
// before any call.
type holding struct {
	every          time.Duration
	extend, giveUp func(heldLease)

	mu     sync.Mutex
	held   map[heldLease]uint64 // numbered as they came
	last   uint64               // the number given last
	ticked uint64               // likewise, at the last tick
	over   []heldLease          // to be given up
	wake   chan struct{}        // closed for those, and for close; nil while the goroutine does not run
	idle   chan struct{}        // closed when the last goroutine has ended
	closed bool
}

const (
	maxOver      = 4096 // that wait to be given up
	heldTogether = 64   // are extended or given up at a time

	// extendTime is what a lease may take of two rounds that extend all: 35 to 70 µs each were
	// measured, with 64 at a time.
	extendTime = 200 * time.Microsecond
)

// hold has a lease be extended until it is let go.
func (h *holding) hold(l heldLease) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	if h.held == nil {
		h.held = map[heldLease]uint64{}
	}
	h.last++
	h.held[l] = h.last
	h.start()
}

// life is how long a lease lives if nothing extends it: longer than LeaseTime while so many are held
// that they are not all extended in time. Others wait LeaseTime for it all the same, and then store
// what they load.
func (h *holding) life(leaseTime time.Duration) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return leaseTime + time.Duration(len(h.held))*extendTime
}

// letGo ends hold.
func (h *holding) letGo(l heldLease) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.held, l)
}

// release is letGo of one that is to be given up. It does not wait.
func (h *holding) release(l heldLease) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.held, l)
	if h.closed || len(h.over) >= maxOver {
		return
	}
	h.start()
	if h.over = append(h.over, l); len(h.over) == 1 {
		close(h.wake)
	}
}

// has reports whether a lease is held.
func (h *holding) has(l heldLease) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, ok := h.held[l]
	return ok
}

// start is called with mu held.
func (h *holding) start() {
	if h.wake == nil {
		h.wake, h.idle = make(chan struct{}), make(chan struct{})
		go h.run(h.wake, h.idle)
	}
}

func (h *holding) run(wake <-chan struct{}, idle chan<- struct{}) {
	defer close(idle)
	tick := time.NewTicker(h.every)
	defer tick.Stop()
	for wake != nil {
		var over, due []heldLease
		select {
		case <-wake:
		case <-tick.C:
			due = h.due()
		}
		over, wake = h.next()
		together(over, h.giveUp)
		together(due, h.extend)
	}
}

// due are the leases that were held at the last tick already, the oldest first.
func (h *holding) due() []heldLease {
	numbers, due := h.heldSinceTick()
	slices.SortFunc(due, func(a, b heldLease) int { return cmp.Compare(numbers[a], numbers[b]) })
	return due
}

// heldSinceTick are the leases that were held at the last tick already, and their numbers. It ticks.
func (h *holding) heldSinceTick() (numbers map[heldLease]uint64, due []heldLease) {
	h.mu.Lock()
	defer h.mu.Unlock()
	numbers = map[heldLease]uint64{}
	for l, n := range h.held {
		if n <= h.ticked {
			due, numbers[l] = append(due, l), n
		}
	}
	h.ticked = h.last
	return numbers, due
}

// next are those to be given up. With nil the goroutine ends.
func (h *holding) next() (over []heldLease, wake <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	over, h.over = h.over, nil
	switch {
	case len(h.held) == 0 && (h.closed || len(over) == 0):
		h.wake = nil
	case len(over) > 0:
		h.wake = make(chan struct{})
	}
	return over, h.wake
}

// close takes no more, and waits a moment for those that are to be given up. Then wait is for the
// goroutine.
func (h *holding) close(ctx context.Context, moment time.Duration) (wait func()) {
	h.mu.Lock()
	if clear(h.held); !h.closed && h.wake != nil && len(h.over) == 0 {
		close(h.wake)
	}
	h.closed = true
	idle := h.idle
	h.mu.Unlock()
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

// together calls do for leases, some at a time.
func together(leases []heldLease, do func(heldLease)) {
	var all sync.WaitGroup
	places := make(chan struct{}, heldTogether)
	for _, l := range leases {
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			do(l)
		})
	}
	all.Wait()
}
