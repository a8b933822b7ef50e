package load

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/firncache/firn/internal/tiered"
)

// shards is how many shards a Group has, a power of two: many goroutines that load
// different keys seldom meet in one.
const shards = 64

// Group is the loads of a cache, in shards by their key's hash. All methods are safe
// for concurrent use.
type Group struct {
	store Store
	cfg   Config
	lifetimes
	limiter limiter
	count   counters
	log     logger
	alarm   alarm
	timeout error // of a load that took longer than HardTimeout

	begun  atomic.Uint64 // how many loads there have been
	shards [shards]shard
}

// shard is the loads of the keys whose hashes end alike. Under mu nothing is stored and
// nothing waited for: callers take it to join or leave a load, and a writer whose key is
// loaded. It is taken with no other lock held; hold alone takes several.
type shard struct {
	mu       sync.Mutex
	joinable map[string]*flight       // by key
	underWay map[*flight]struct{}     // joinable or not
	failures atomic.Pointer[failures] // nil before the first
	active   atomic.Int64             // how many are under way
	closed   bool
	_        [16]byte
}

func (g *Group) shardOf(hash uint64) *shard { return &g.shards[hash%shards] }

// Open makes the group ready for use.
func (g *Group) Open(store Store, cfg Config) {
	g.store, g.cfg, g.lifetimes = store, cfg, cfg.lifetimes()
	g.limiter.open(cfg.MaxLoads)
	g.log.to = cfg.Log
	g.timeout = cfg.timeoutError()
}

// Close ends and cancels every load, and lets none begin.
func (g *Group) Close() {
	for _, l := range g.endAll() {
		g.store.Release(l.key, l.lease)
	}
}

// endAll ends every load, and returns what they have leased.
func (g *Group) endAll() (leases []keyLease) {
	defer g.hold(g.shards[:])() // all: a call may have loads in several
	for i := range g.shards {
		s := &g.shards[i]
		s.closed = true
		for f := range s.underWay {
			f.call.ctx.end(context.Canceled, tiered.ErrClosed)
			if l := f.takeLease(); l.Held() {
				leases = append(leases, keyLease{f.key, l})
			}
			g.endLocked(f, result{err: tiered.ErrClosed, closed: true})
		}
	}
	return leases
}

// hold locks shards in rising order, until release is called.
func (g *Group) hold(held []shard) (release func()) {
	for i := range held {
		held[i].mu.Lock()
	}
	return func() {
		for i := range held {
			held[i].mu.Unlock()
		}
	}
}

// Hold keeps the group locked until release is called, for tests.
func (g *Group) Hold() (release func()) { return g.hold(g.shards[:]) }

// HoldShard keeps a shard locked until release is called, for tests; ShardOf is that of
// a key.
func (g *Group) HoldShard(n int) (release func()) { return g.hold(g.shards[n : n+1]) }
func (g *Group) ShardOf(key []byte) int           { return int(g.store.Hash(key) % shards) }

// VoidWatch makes the load of key one whose key was written, as a writer does that
// has not come to forget it yet, for tests.
func (g *Group) VoidWatch(key []byte) {
	s := g.shardOf(g.store.Hash(key))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.joinable[string(key)].watch.Void()
}
