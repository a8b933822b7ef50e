package firn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/firncache/firn/internal/coherence"
	"github.com/firncache/firn/internal/curve"
	"github.com/firncache/firn/internal/hot"
	"github.com/firncache/firn/internal/load"
	"github.com/firncache/firn/internal/memory"
	"github.com/firncache/firn/internal/store"
	"github.com/firncache/firn/internal/testseam"
	"github.com/firncache/firn/internal/typed"
	"github.com/firncache/firn/stats"
)

// Cache is a byte cache. All methods are safe for concurrent use.
type Cache struct {
	store store.Store
	off   bool // nothing is kept
	loads load.Group
	typed typedState
	told  told

	recent curve.Recent // for Curve

	listeners listeners
	adaptive  *memory.Budget // nil without Options.LeastRAMBytes
}

// hotShare is the part of RAMBytes that hot values may take, of all typed caches together; a
// hot.FullShare of it once RAM is full.
const hotShare = 4

// typedState is a cache's state of the typed caches on it.
type typedState struct {
	spaces  typed.Namespaces
	configs sync.Map // of *typedConfig by its type: those without options
	fronts  coherence.Table
	hot     hot.Budget // of hot values

	hotByDefault atomic.Int32 // typed caches that have some without TypedOptions.HotValues

	tags   typed.Tags
	tagged atomic.Bool // there may be values with tags

	mismatches, decodeErrors, tagMisses, tagOverflows atomic.Uint64
}

// addTo adds the counters to a snapshot.
func (l *typedState) addTo(s *stats.Cache) {
	s.RAM.OverheadBytes += l.hot.Used()
	s.Mismatches, s.DecodeErrors = l.mismatches.Load(), l.decodeErrors.Load()
	s.FrontHits = l.fronts.Hits()
	s.TagMisses, s.TagOverflows = l.tagMisses.Load(), l.tagOverflows.Load()
	s.Hits, s.Misses = s.Hits-min(s.Hits, s.TagMisses), s.Misses+s.TagMisses // their bytes were found
}

// Open makes a cache. A field of Options that makes no sense is an error that
// names it.
func Open(opts Options) (*Cache, error) { return open(opts, testseam.Adjust) }

// open is Open with a change of the tiers' configuration, which tests make.
func open(opts Options, adjust func(*store.Config)) (*Cache, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	if opts.Off {
		if opts.Shared != nil {
			_ = opts.shared().Close(context.Background())
		}
		opts = opts.whileOff()
	}
	c := &Cache{off: opts.Off}
	cfg := opts.tiers()
	if adjust != nil {
		adjust(&cfg)
	}
	c.listeners.hear(&cfg)
	if err := c.store.Open(cfg); err != nil {
		return nil, openError(err)
	}
	c.recent.Open(c.store.Now())
	c.typed.hot.Open(c.store.Lend, c.store.Full, opts.RAMBytes/hotShare)
	c.typed.tags.Open(&c.store)
	c.store.Tell(0) // until somebody listens
	if l := listenerOf(opts.OnEvict, opts.OnEvictCauses); l != nil {
		c.listeners.listen(&c.store, l)
	}
	c.loads.Open(&c.store, opts.loads())
	c.adapt(&opts)
	return c, nil
}

// Get appends the value of key to dst and returns the extended slice. Without a value it returns
// dst as it was, and false. The room behind dst must not overlap key. An error of a lower tier
// counts as a miss: see Lookup. From a copy of a shared tier it allocates nothing if there is room
// in dst for 16 bytes more than the value. It panics if key is nil and dst is not empty: Get(key,
// nil) is meant to be Get(nil, key).
func (c *Cache) Get(dst, key []byte) ([]byte, bool) { return c.store.Get(dst, key) }

// Lookup is Get with a context and with errors: ErrNotFound, ErrClosed, the context's,
// ErrSSDTimeout or ErrSSDBusy, another of the disk's, or ErrSharedUnavailable with
// remote.DegradedError. A value in RAM is found whatever the context says, with a shared tier if
// the copy is trusted. With an error it returns dst as it was. An empty key is an error where dst
// is not empty, here and in the other calls that take both: the two stand in each other's place.
func (c *Cache) Lookup(ctx context.Context, dst, key []byte) ([]byte, error) {
	if err := checkOrder(dst, key); err != nil {
		return dst, err
	}
	return c.store.Lookup(ctx, dst, key)
}

// Set stores a value, with Options.TTL. When it returns nil, every Get sees the value until it is
// replaced, deleted, expired or evicted. Key and value may be empty, and may be changed
// afterwards. It fails with ErrTooLarge if they are longer together than a quarter of the RAM
// budget, with ErrNoRoom if nothing can be evicted for it, and with ErrClosed. The key has no
// value then, and a load under way does not store its own.
//
// With a shared tier it waits until that has the value, up to that tier's timeout, or fails with
// ErrSharedUnavailable: no copy is kept here then, and the server may have either value.
func (c *Cache) Set(key, value []byte) error {
	return c.setFor(key, value, c.loads.Jittered(c.loads.TTL()))
}

// SetWithTTL is Set with a time to live of its own, to the millisecond, or
// Forever. One of less than a millisecond is an error, and changes nothing.
func (c *Cache) SetWithTTL(key, value []byte, ttl time.Duration) error {
	return c.setFor(key, value, c.loads.Given(ttl))
}

// setFor is SetWithTTL of the options' time to live, or of a given one.
func (c *Cache) setFor(key, value []byte, ttl time.Duration) error {
	hash := c.store.Prefetch(key) // it takes longer than the reading of the clock
	deadline, err := c.loads.DeadlineIn(ttl)
	if err != nil {
		return err
	}
	if c.off {
		return c.keepNothing()
	}
	return c.store.Set(hash, key, value, deadline)
}

// SetWith is Set with a context, which ends the wait for a shared tier if that is before the
// tier's timeout, and with options. Tags, which a Typed alone has, are an error.
func (c *Cache) SetWith(ctx context.Context, key, value []byte, o SetOptions) error {
	if len(o.Tags) > 0 {
		return errors.New("firn: SetOptions.Tags: want a Typed, a Cache has no tags")
	}
	return c.set(ctx, &c.loads, key, value, o.ttl(&c.loads))
}

// set is SetWith of a value of a group.
func (c *Cache) set(ctx context.Context, of *load.Group, key, value []byte, ttl time.Duration) error {
	hash := c.store.Prefetch(key)
	deadline, err := of.DeadlineIn(ttl)
	if err != nil {
		return err
	}
	if c.off {
		return c.keepNothing()
	}
	return c.store.SetContext(ctx, hash, key, value, deadline)
}

// keepNothing is a write to a cache that is off.
func (c *Cache) keepNothing() error {
	if c.store.Closed() {
		return ErrClosed
	}
	return nil
}

// Has reports whether the cache holds a live value for key. It does not count as a read, and waits
// as Get does.
func (c *Cache) Has(key []byte) bool {
	_, ok := c.store.Deadline(key)
	return ok
}

// TTL is how long the value of key has to live, Forever if it never expires. It
// reports false if there is no value. It does not count as a read, and waits as Has does.
func (c *Cache) TTL(key []byte) (ttl time.Duration, ok bool) {
	deadline, ok := c.store.Deadline(key)
	if !ok {
		return 0, false
	}
	return c.timeTo(deadline), true
}

// timeTo is how long a value with this deadline, 0 for never, has to live. A value
// that has just been found has at least a millisecond.
func (c *Cache) timeTo(deadline int64) time.Duration {
	if deadline == 0 {
		return Forever
	}
	return max(time.Duration(deadline-c.store.Now())*time.Millisecond, time.Millisecond)
}

// Delete removes the value of key. That there was none is no error. With a shared
// tier it waits and fails as Set does; the copy here is gone in any case, but with an
// error the server may have the value still.
func (c *Cache) Delete(key []byte) error { return c.store.Delete(key) }

// All yields every live key and value. The slices are lent until the next step. An entry that is
// there from beginning to end is yielded once; one that comes, goes or changes meanwhile may or
// may not be, one that moves on the SSD may be yielded again, and one that moves between RAM and
// the SSD twice or not at all. The loop may use the cache; it waits for the disk between two steps.
func (c *Cache) All() iter.Seq2[[]byte, []byte] { return c.store.All }

// Len is the number of entries, expired ones that have not been taken out yet too. An entry that
// is in RAM and on the SSD counts twice.
func (c *Cache) Len() int { return c.store.Len() }

// Clear removes every entry that was there when it was called. One that is set
// meanwhile may stay. With a shared tier it removes all of the tier's namespace, for every
// process, and waits as SetWith does.
func (c *Cache) Clear(ctx context.Context) error { return c.store.ClearContext(ctx) }

// Stats takes a snapshot, one shard after the other: figures that belong
// together may differ by events between them.
func (c *Cache) Stats() stats.Cache {
	inRAM, onSSD := c.store.Stats()
	st := statsOf(inRAM)
	if c.adaptive != nil {
		st.RAM.MostBytes = c.adaptive.Most()
	}
	addSSD(&st, onSSD)
	addMirror(&st, &c.store)
	addShared(&st, c.store.SharedStats(), c.store.SharedReadDurations(), inRAM.Invalidated)
	c.typed.addTo(&st)
	addLoads(&st, c.loads.Stats())
	c.told.keep(&st)
	return st
}

// Curve estimates what the cache would do with other amounts of memory. Rates are those of the last
// 30 to 60 seconds, or since the call before if that was longer ago. With a shared tier, what RAM
// and SSD have not is a miss.
func (c *Cache) Curve() stats.Curve {
	sim, shared, loads := c.store.Simulated(), c.store.SharedStats(), c.loads.Stats()
	now := curve.Counts{
		At: c.store.Now(), Hits: sim.Hits, Misses: sim.Misses, SSDHits: sim.SSDHits, SharedHits: shared.Hits,
		Loads: loads.Loads, Loading: loads.Durations.Sum(),
	}
	return curve.Of(&sim, c.recent.Since(now), now, c.store.HasSSD())
}

// SetRAMBytes changes the RAM budget while the cache is in use. When it returns, the cache holds
// no more than that, and has given the rest back to the system. If it is called again meanwhile,
// the later call holds for both. With Options.LeastRAMBytes it sets the most that the budget may
// be. It fails, and changes nothing, if n is above Options.MaxRAMBytes or MemoryLimit, or below
// MinRAMBytes, Options.LeastRAMBytes, or about a sixteenth of the first budget.
func (c *Cache) SetRAMBytes(n int64) error {
	if err := errBeyondLimit(n); err != nil {
		return fmt.Errorf("firn: SetRAMBytes(%d): %w", n, err)
	}
	if c.off {
		return c.keepNothing()
	}
	b := c.adaptive
	if b == nil {
		return c.resize(n)
	}
	if n < b.Least {
		return fmt.Errorf("firn: SetRAMBytes(%d): want at least Options.LeastRAMBytes, %d", n, b.Least)
	}
	return b.SetMost(n)
}

// resize changes the RAM budget.
func (c *Cache) resize(n int64) error {
	if n < c.store.RAMBytes() && n >= c.store.LeastRAMBytes() {
		c.typed.hot.Limit(n / hotShare) // hot values go first
	}
	err := c.store.Resize(n)
	for { // of two calls at once the last to look sees the size that stays
		n = c.store.RAMBytes()
		c.typed.hot.Limit(n / hotShare)
		if n == c.store.RAMBytes() {
			return err
		}
	}
}

// leastOverSSD is what an adaptive budget leaves the RAM tier beside the SSD tier's index.
const leastOverSSD = 16 << 20

// adapt has the budget follow the memory that is free, if the options say so. That does
// not hold on to the cache, which may be forgotten.
func (c *Cache) adapt(o *Options) {
	if o.LeastRAMBytes == 0 {
		return
	}
	w := weak.Make(c)
	c.adaptive = &memory.Budget{
		Least: o.LeastRAMBytes,
		Log:   cmp.Or(o.Log, slog.Default()),
		Of: func() (budget, resident, least int64, ok bool) {
			c := w.Value()
			if c == nil || c.store.Closed() {
				return 0, 0, 0, false
			}
			resident, least = c.store.Memory()
			if c.store.HasSSD() {
				least += leastOverSSD
			}
			return c.store.RAMBytes(), resident, least, true
		},
		Resize: func(bytes int64) error {
			if c := w.Value(); c != nil {
				return c.resize(bytes)
			}
			return ErrClosed
		},
	}
	c.adaptive.Start(o.RAMBytes)
}
