package sharedtest

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firncache/firn/internal/shared"
)

// Tier is a process's view of the server: a shared.Tier. Its fields are set before Open; the
// hooks may be called from many goroutines at once.
type Tier struct {
	Does    shared.Policy
	Timeout time.Duration // of a call; 0: one second

	OnRequest func(call, key string) // called before the server serves a request
	OnReply   func(call, key string) // called when it has, before the caller gets the reply
	OnPush    func(key string)       // called before a push is delivered

	server *Server
	local  shared.Local
	trust  *shared.Trust
	closed chan struct{}
	ending sync.Once
	up     chan struct{} // closed when the tier does not wait for a silent server

	calls   atomic.Int64
	offline atomic.Bool
	lose    atomic.Bool

	// Guarded by the server's mu.
	feed       *shared.Feed
	silent     bool
	pushes     []push
	held       bool // pushes wait
	delivering bool
	calledFor  map[string]int
	postpones  bool
	postponed  []func()
}

// push is a word that a key, or a number, has changed.
type push struct {
	key    string
	number bool
	id     shared.ID
}

// Tier is a new process.
func (s *Server) Tier() *Tier {
	return &Tier{server: s, closed: make(chan struct{}), up: make(chan struct{}), calledFor: map[string]int{}}
}

// Open opens the tier: it is connected from then on.
func (t *Tier) Open(local shared.Local) (*shared.Trust, error) {
	if t.local != nil {
		return nil, errors.New("serves another cache already")
	}
	t.local, t.trust = local, shared.NewTrust(1, local.Seals())
	t.trust.SetClock(func() int64 { return time.Now().UnixMilli() }, math.MaxInt64) // which is read always
	t.trust.Advance(1)
	t.server.mu.Lock()
	defer t.server.mu.Unlock()
	t.beginEpoch()
	t.server.tiers = append(t.server.tiers, t)
	return t.trust, nil
}

// beginEpoch begins an epoch whose copies are trusted.
func (t *Tier) beginEpoch() {
	t.feed = shared.NewFeed()
	t.feed.Extend(math.MaxInt64)
	t.trust.SetFeed(0, t.feed)
}

// Close ends the tier.
func (t *Tier) Close(context.Context) error {
	t.ending.Do(func() {
		close(t.closed)
		t.server.mu.Lock()
		defer t.server.mu.Unlock()
		for i, other := range t.server.tiers {
			if other == t {
				t.server.tiers = append(t.server.tiers[:i:i], t.server.tiers[i+1:]...)
			}
		}
	})
	return nil
}

func (t *Tier) Policy() shared.Policy {
	p := t.Does
	if p.Fingerprint == "" {
		p.Fingerprint = "test"
	}
	return p
}

func (t *Tier) Stats(n *shared.Stats) { n.Online, n.Tracking = !t.offline.Load(), true }

// Calls is how many requests were made; Called is how many of one call, as "Read".
func (t *Tier) Calls() int { return int(t.calls.Load()) }

func (t *Tier) Called(call string) int {
	t.server.mu.Lock()
	defer t.server.mu.Unlock()
	return t.calledFor[call]
}

// HoldPushes has pushes wait for DeliverPushes.
func (t *Tier) HoldPushes() {
	t.server.mu.Lock()
	defer t.server.mu.Unlock()
	t.held = true
}

// DeliverPushes delivers what waits, and what comes from now on.
func (t *Tier) DeliverPushes() {
	t.server.mu.Lock()
	t.held = false
	t.server.mu.Unlock()
	t.deliver()
}

// Disconnect loses the connection, and the pushes that were under way, and makes another. What
// was requested before is of the epoch from before.
func (t *Tier) Disconnect() {
	t.server.mu.Lock()
	t.pushes = nil
	t.beginEpoch()
	t.server.mu.Unlock()
	t.local.EpochChanged()
}

// SetOnline says whether requests are served, or fail.
func (t *Tier) SetOnline(online bool) { t.offline.Store(!online) }

// SetLosesReplies says whether requests are served, and fail all the same.
func (t *Tier) SetLosesReplies(lose bool) { t.lose.Store(lose) }

// Postpone has requests fail from now on that the server serves later: when ServePostponed is
// called, by which time the connection that they were sent on is no more the tier's.
func (t *Tier) Postpone() {
	t.server.mu.Lock()
	defer t.server.mu.Unlock()
	t.postpones = true
}

// ServePostponed serves them, and ends Postpone. Every tier gets pushes of what they change, this
// one too.
func (t *Tier) ServePostponed() {
	t.server.mu.Lock()
	t.postpones = false
	t.server.author = nil
	for _, serve := range t.postponed {
		serve()
	}
	t.postponed = nil
	t.server.mu.Unlock()
	t.server.deliver()
}

// SetSilent says whether requests wait for ever: for their context, the timeout, or Close.
func (t *Tier) SetSilent(silent bool) {
	t.server.mu.Lock()
	defer t.server.mu.Unlock()
	if t.silent = silent; !silent {
		close(t.up)
		t.up = make(chan struct{})
	}
}

// Lapse has copies be suspect, as when nothing was heard of the server for too long; Resume
// has them be trusted again.
func (t *Tier) Lapse()  { t.present().Extend(math.MinInt64) }
func (t *Tier) Resume() { t.present().Extend(math.MaxInt64) }

func (t *Tier) present() *shared.Feed {
	t.server.mu.Lock()
	defer t.server.mu.Unlock()
	return t.feed
}

// deliver delivers the pushes that are not held, in their order, unless another goroutine
// does.
func (t *Tier) deliver() {
	for {
		t.server.mu.Lock()
		if t.held || len(t.pushes) == 0 || t.delivering {
			t.server.mu.Unlock()
			return
		}
		p := t.pushes[0]
		t.pushes, t.delivering = t.pushes[1:], true
		t.server.mu.Unlock()
		t.tell(p)
		t.server.mu.Lock()
		t.delivering = false
		t.server.settled.Broadcast()
		t.server.mu.Unlock()
	}
}

// awaitPushes returns when no push that was made before is under way.
func (t *Tier) awaitPushes() {
	t.server.mu.Lock()
	defer t.server.mu.Unlock()
	for !t.held && (t.delivering || len(t.pushes) > 0) {
		t.server.settled.Wait()
	}
}

func (t *Tier) tell(p push) {
	if t.OnPush != nil {
		t.OnPush(p.key)
	}
	if p.number {
		t.local.InvalidateNumber(p.id)
	} else {
		t.local.Invalidate([]byte(p.key))
	}
}

// request makes one: serve is done by the server, with its lock held.
func (t *Tier) request(ctx context.Context, call, key string, serve func()) error {
	t.calls.Add(1)
	if t.OnRequest != nil {
		t.OnRequest(call, key)
	}
	if err := t.reach(ctx); err != nil {
		return err
	}
	t.server.mu.Lock()
	t.calledFor[call]++
	if t.postpones {
		t.postponed = append(t.postponed, serve)
		t.server.mu.Unlock()
		return shared.ErrUnavailable
	}
	t.server.author = t
	serve()
	t.server.mu.Unlock()
	t.server.deliver()
	if t.lose.Load() {
		return shared.ErrUnavailable
	}
	if t.OnReply != nil {
		t.OnReply(call, key)
	}
	return nil
}

// reach waits until the server can be reached.
func (t *Tier) reach(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if t.isClosed() || t.offline.Load() {
		return shared.ErrUnavailable
	}
	t.server.mu.Lock()
	silent, up := t.silent, t.up
	t.server.mu.Unlock()
	if !silent {
		return nil
	}
	timeout := t.Timeout
	if timeout == 0 {
		timeout = time.Second
	}
	late := time.NewTimer(timeout)
	defer late.Stop()
	select {
	case <-up:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-t.closed:
	case <-late.C:
	}
	return shared.ErrUnavailable
}

func (t *Tier) isClosed() bool {
	select {
	case <-t.closed:
		return true
	default:
		return false
	}
}

// stamp is that of a request made now. The caller holds the server's mu.
func (t *Tier) stamp() shared.Stamp { return t.feed.Stamp(0) }

// toServer is a deadline in the server's time, and when the entry is gone.
func (t *Tier) toServer(deadline int64) (at, until int64) {
	if deadline == 0 {
		return 0, 0
	}
	offset := shared.UnixOffset(time.Now, t.local.Now)
	if deadline < 0 {
		return deadline - offset, offset - deadline
	}
	return deadline + offset, deadline + offset + t.local.Grace()
}

// toLocal is a deadline of the server in the store's time.
func (t *Tier) toLocal(deadline int64) int64 {
	offset := shared.UnixOffset(time.Now, t.local.Now)
	switch {
	case deadline == 0:
		return 0
	case deadline < 0:
		return min(deadline+offset, -1)
	}
	return max(deadline-offset, 1)
}

// Shared is the tier for firn.Options.Shared.
func (t *Tier) Shared() shared.Tier { return t }
