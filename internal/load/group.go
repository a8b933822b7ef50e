package load

import (
	"sync"
	"sync/atomic"

	"github.com/firncache/firn/internal/tiered"
)

// Group is the loads of a cache. Under mu nothing is stored and nothing waited
// for: callers take it to join or leave a load, and a writer whose key is loaded.
// All methods are safe for concurrent use.
type Group struct {
	store Store
	cfg   Config
	lifetimes
	limiter limiter
	count   counters
	log     unstoredLog

	active   atomic.Int64 // loads under way
	mu       sync.Mutex
	joinable map[string]*flight   // by key
	underWay map[*flight]struct{} // joinable or not
	begun    uint64               // how many there have been
	closed   bool
}

// Open makes the group ready for use.
func (g *Group) Open(store Store, cfg Config) {
	g.store, g.cfg, g.lifetimes = store, cfg, cfg.lifetimes()
	g.limiter.open(cfg.MaxLoads)
	g.log.logger = cfg.Log
}

// Close ends and cancels every load, and lets none begin.
func (g *Group) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	for f := range g.underWay {
		f.call.cancel(tiered.ErrClosed)
		g.endLocked(f, result{err: tiered.ErrClosed, closed: true})
	}
}

// number is how many loads have begun.
func (g *Group) number() uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.begun
}

// Hold keeps the group locked until release is called, for tests.
func (g *Group) Hold() (release func()) {
	g.mu.Lock()
	return g.mu.Unlock
}

// VoidWatch makes the load of key one whose key was written, as a writer does that
// has not come to forget it yet, for tests.
func (g *Group) VoidWatch(key []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.joinable[string(key)].watch.Void()
}
