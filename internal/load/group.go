package load

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firncache/firn/internal/ram"
	"github.com/firncache/firn/internal/tiered"
)

// ErrTimeout says that a loader took longer than HardTimeout.
var ErrTimeout = errors.New("firn: load timed out")

// Func fetches the value of a key: see firn.LoadFunc.
type Func = func(ctx context.Context, key []byte) ([]byte, error)

// MultiFunc fetches the values of many keys: see firn.MultiLoadFunc.
type MultiFunc = func(ctx context.Context, keys [][]byte) ([][]byte, error)

// Options are firn.LoadingOptions, field by field, which says what they mean.
type Options struct {
	TTLJitter    float64
	NegativeTTL  time.Duration
	RefreshAfter time.Duration
	StaleFor     time.Duration
	FailSafe     time.Duration
	SoftTimeout  time.Duration
	HardTimeout  time.Duration
	MaxLoads     int
}

// Grace is how long an expired value can be an answer, in milliseconds.
func (o *Options) Grace() int64 { return max(millis(o.StaleFor), millis(o.FailSafe)) }

// Config is what a Group is made of.
type Config struct {
	Options
	TTL time.Duration // of values whose loader asks for no other
	Log *slog.Logger  // nil: slog.Default
}

// Store is what a Group needs of the tiers, and has of tiered.Store, which says
// what each does.
type Store interface {
	Peek(ctx context.Context, dst, key []byte) (value []byte, deadline int64, state tiered.State)
	PeekRAM(dst, key []byte) (value []byte, deadline int64, state tiered.State)
	DeadlineInRAM(key []byte) (deadline int64, ok bool)

	Watch(w *ram.Watch, key []byte)
	Unwatch(w *ram.Watch)
	SetIf(w *ram.Watch, key, value []byte, deadline int64, left *ram.Left) error
	DeleteIf(w *ram.Watch, key []byte, left *ram.Left) error

	Now() int64
	Passed(moment int64) bool
}

// Group is the loads of a cache. Under mu nothing is stored and nothing waited
// for: whoever joins or leaves a load takes it, and a writer whose key is loaded.
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
