package load

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/store"
)

// shards is how many shards a Group has, a power of two: many goroutines that load
// different keys seldom meet in one.
const shards = 64

// Group is the loads of a cache under some options: its own, or those of a part of its keys,
// which With makes a Group for. All of a cache share its loads under way. All methods are
// safe for concurrent use.
type Group struct {
	*engine
	cfg Config
	lifetimes
	limiter *limiter
	alarm   *alarm
	timeout error // of a load that took longer than HardTimeout
}

// engine is the loads under way of a cache, in shards by their key's hash.
type engine struct {
	store *store.Store
	span  func(ctx context.Context, keys int, background bool) (loading context.Context, end func(error))
	count counters
	log   logger

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

func (g *engine) shardOf(hash uint64) *shard { return &g.shards[hash%shards] }

// Open makes the group ready for use.
func (g *Group) Open(store *store.Store, cfg Config) {
	g.engine = &engine{store: store, span: cfg.Start}
	g.log.to = cfg.Log
	g.configure(cfg)
}

// With is a group of the same cache under other options.
func (g *Group) With(cfg Config) *Group {
	part := &Group{engine: g.engine}
	part.configure(cfg)
	return part
}

// WithTTL is the group for values that live for another time. When they are refreshed, and
// whether their deadlines slide, stays.
func (g *Group) WithTTL(ttl time.Duration) *Group {
	part := *g
	part.cfg.TTL, part.alarm = ttl, new(alarm) // which calls the group that it was set by first
	return &part
}

// Config is what the group was made with.
func (g *Group) Config() Config { return g.cfg }

// TTL is how long its values live.
func (g *Group) TTL() time.Duration { return g.cfg.TTL }

// DeadlineIn is when a value that is stored now, and lives for ttl, expires, 0 for never.
func (g *Group) DeadlineIn(ttl time.Duration) (int64, error) {
	if ttl == local.Forever {
		return 0, nil
	}
	return g.Deadline(g.store.Now(), ttl)
}

func (g *Group) configure(cfg Config) {
	g.cfg, g.lifetimes, g.limiter = cfg, cfg.lifetimes(), newLimiter(cfg.MaxLoads)
	g.alarm, g.timeout = new(alarm), cfg.timeoutError()
}

// Close ends and cancels every load, and lets none begin.
func (g *engine) Close() {
	for _, l := range g.endAll() {
		g.store.Fleet.Release(l.key, l.lease)
	}
}

// endAll ends every load, and returns what they have leased.
func (g *engine) endAll() (leases []keyLease) {
	defer g.hold(g.shards[:])() // all: a call may have loads in several
	for i := range g.shards {
		s := &g.shards[i]
		s.closed = true
		for f := range s.underWay {
			f.call.ctx.end(context.Canceled, local.ErrClosed)
			if l := f.takeLease(); l.Held() {
				leases = append(leases, keyLease{f.key, l})
			}
			g.endLocked(f, result{err: local.ErrClosed, closed: true})
		}
	}
	return leases
}

// hold locks shards in rising order, until release is called.
func (g *engine) hold(held []shard) (release func()) {
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
