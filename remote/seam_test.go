package remote_test

import (
	"context"
	"sync"

	"github.com/firncache/firn/internal/shared"
)

// seam stands between a cache and its tier: it holds calls at moments that no scheduler
// would choose, and tells of what the tier says by itself.
type seam struct {
	shared.Tier

	mu     sync.Mutex
	holds  map[moment]*hold
	pushes map[string]*pushes
	epochs int
	more   *sync.Cond // an epoch has begun
}

// moment is where a call is held.
type moment int

const (
	asked    moment = iota // the key is watched, and nothing is sent yet
	replied                // a read has come back, and is not yet stored
	written                // a write is acknowledged, and is not yet stored
	leased                 // the lease is won, and the loader not yet called
	numbered               // a number has come back
)

// pushes are awaited of a key.
type pushes struct {
	left int
	come chan struct{} // closed when none is left
}

// hold holds the first call that comes to a moment.
type hold struct {
	reached chan struct{} // closed when it is there
	release chan struct{} // closed by the test to let it go on
}

func newSeam(tier shared.Tier) *seam {
	s := &seam{Tier: tier, holds: map[moment]*hold{}, pushes: map[string]*pushes{}}
	s.more = sync.NewCond(&s.mu)
	return s
}

// hold holds the next call at a moment.
func (s *seam) hold(m moment) *hold {
	h := &hold{make(chan struct{}), make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holds[m] = h
	return h
}

func (s *seam) at(m moment) {
	s.mu.Lock()
	h := s.holds[m]
	delete(s.holds, m)
	s.mu.Unlock()
	if h != nil {
		close(h.reached)
		<-h.release
	}
}

// pushed is closed when the key is invalidated the next time.
func (s *seam) pushed(key string) <-chan struct{} { return s.pushedTimes(key, 1) }

// pushedTimes is pushed of more than one time.
func (s *seam) pushedTimes(key string, n int) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &pushes{n, make(chan struct{})}
	s.pushes[key] = p
	return p.come
}

// epoch is how many epochs have ended.
func (s *seam) epoch() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.epochs
}

// awaitEpoch waits until one has ended that had not when epoch was asked.
func (s *seam) awaitEpoch(before int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.epochs == before {
		s.more.Wait()
	}
}

func (s *seam) Open(local shared.Local) (*shared.Trust, error) { return s.Tier.Open(seen{local, s}) }

func (s *seam) Read(ctx context.Context, dst []byte, q shared.Query) (shared.Found, error) {
	s.at(asked)
	f, err := s.Tier.Read(ctx, dst, q)
	s.at(replied)
	return f, err
}

func (s *seam) Write(ctx context.Context, e shared.Entry, expect shared.Expect) (shared.Written, error) {
	s.at(asked)
	w, err := s.Tier.Write(ctx, e, expect)
	s.at(written)
	return w, err
}

func (s *seam) Lease(ctx context.Context, dst []byte, q shared.Query) (shared.Expect, *shared.Found, error) {
	e, f, err := s.Tier.Lease(ctx, dst, q)
	s.at(leased)
	return e, f, err
}

func (s *seam) Number(ctx context.Context, id shared.ID, renew bool) (shared.NumberState, shared.Stamp, error) {
	n, stamp, err := s.Tier.Number(ctx, id, renew)
	s.at(numbered)
	return n, stamp, err
}

// seen is the store as the tier sees it.
type seen struct {
	shared.Local
	s *seam
}

func (l seen) Invalidate(key []byte) {
	l.Local.Invalidate(key)
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	if p := l.s.pushes[string(key)]; p != nil {
		if p.left--; p.left == 0 {
			close(p.come)
			delete(l.s.pushes, string(key))
		}
	}
}

func (l seen) EpochChanged() {
	l.Local.EpochChanged()
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	l.s.epochs++
	l.s.more.Broadcast()
}

// Shared is the tier for firn.Options.Shared.
func (s *seam) Shared() shared.Tier { return s }
