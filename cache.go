package firn

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"time"

	"github.com/firncache/firn/internal/ram"
)

// Cache is a byte cache. All methods are safe for concurrent use. No method
// keeps a slice that it was given, and every slice that it returns belongs to
// the caller, unless said otherwise.
type Cache struct {
	ram   *ram.Tier
	ttl   time.Duration
	now   func() int64 // milliseconds
	loads loads
	typed typed
}

// Open makes a cache. A field of Options that makes no sense is an error that
// names it.
func Open(opts Options) (*Cache, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	c := &Cache{ttl: opts.TTL, now: opts.ticker()}
	if c.ram, err = ram.New(opts.ramConfig(c.now)); err != nil {
		return nil, fmt.Errorf("firn: open: %w", err)
	}
	// The memory's address space outlives Close, so that a late reader finds
	// zeros and not a fault. It goes when nobody can reach the cache any more.
	runtime.AddCleanup(c, (*ram.Tier).Free, c.ram)
	return c, nil
}

// Get appends the value of key to dst and returns the extended slice. Without
// a value it returns dst as it was, and false. An error of a lower tier counts
// as a miss: see Lookup.
func (c *Cache) Get(dst, key []byte) ([]byte, bool) {
	v, ok := c.ram.Get(dst, key)
	runtime.KeepAlive(c)
	return v, ok
}

// Lookup is Get with a context and with errors: ErrNotFound, ErrClosed, or the
// context's. With an error it returns dst as it was.
func (c *Cache) Lookup(ctx context.Context, dst, key []byte) ([]byte, error) {
	v, ok := c.ram.Get(dst, key)
	if ok {
		runtime.KeepAlive(c)
		return v, nil
	}
	if c.ram.Closed() {
		return dst, ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return dst, err
	}
	runtime.KeepAlive(c)
	return dst, ErrNotFound
}

// Set stores a value, with Options.TTL. When it returns nil, every Get sees the
// value until it is replaced, deleted, expired or evicted. Key and value may be
// empty, and may be changed afterwards. It fails with ErrTooLarge if they are
// longer together than a quarter of the RAM budget, and with ErrClosed.
func (c *Cache) Set(key, value []byte) error { return c.SetWithTTL(key, value, c.ttl) }

// SetWithTTL is Set with a time to live of its own, to the millisecond; 0 means
// that the value never expires. A negative one is an error.
func (c *Cache) SetWithTTL(key, value []byte, ttl time.Duration) error {
	deadline, err := c.deadline(ttl)
	if err != nil {
		return err
	}
	c.supersede(key)
	err = c.ram.Set(key, value, deadline)
	c.supersede(key)
	return c.stored(err, key, value)
}

// supersede makes a write win over a load of its key. It is called before the
// write, lest the load's value overwrite it, and after it for a load that began
// in between.
func (c *Cache) supersede(key []byte) {
	if c.loads.active.Load() != 0 {
		c.loads.supersede(key)
	}
}

// deadline is when a value that lives for ttl expires, in the tier's
// milliseconds, 0 for never.
func (c *Cache) deadline(ttl time.Duration) (int64, error) {
	if ttl == 0 {
		return 0, nil
	}
	millis, err := ttlMillis(ttl)
	if err != nil {
		return 0, fmt.Errorf("firn: %w", err)
	}
	return max(c.now()+millis, 1), nil // 0 would be never, if the clock stepped back
}

// stored ends a write: it keeps the cache alive so far, and turns the tier's
// errors into the user's.
func (c *Cache) stored(err error, key, value []byte) error {
	runtime.KeepAlive(c)
	switch err {
	case nil:
		return nil
	case ram.ErrTooLarge:
		return tooLarge(len(key), len(value), c.ram.MaxRecord())
	}
	return ErrClosed
}

// open ends a call that only fails if the cache is closed.
func (c *Cache) open(ok bool) error {
	runtime.KeepAlive(c)
	if !ok {
		return ErrClosed
	}
	return nil
}

// Has reports whether the cache holds a live value for key. It does not count
// as a read.
func (c *Cache) Has(key []byte) bool {
	_, ok := c.ram.Deadline(key)
	runtime.KeepAlive(c)
	return ok
}

// TTL is how long the value of key has to live, 0 if it never expires. It
// reports false if there is no value. It does not count as a read.
func (c *Cache) TTL(key []byte) (ttl time.Duration, ok bool) {
	deadline, ok := c.ram.Deadline(key)
	runtime.KeepAlive(c)
	if !ok || deadline == 0 {
		return 0, ok
	}
	return max(time.Duration(deadline-c.now())*time.Millisecond, time.Millisecond), true
}

// Delete removes the value of key. That there was none is no error.
func (c *Cache) Delete(key []byte) error {
	c.supersede(key)
	ok := c.ram.Delete(key)
	c.supersede(key)
	return c.open(ok)
}

// All yields every live key and value. The slices are lent until the next step.
// An entry that is there from beginning to end is yielded once; one that comes,
// goes or changes meanwhile may or may not be. The loop may use the cache.
func (c *Cache) All() iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		c.ram.All(yield)
		runtime.KeepAlive(c)
	}
}

// Len is the number of entries. It counts those that have expired and have not
// been taken out yet.
func (c *Cache) Len() int {
	n := c.ram.Len()
	runtime.KeepAlive(c)
	return n
}

// Clear removes every entry.
func (c *Cache) Clear() error {
	c.loads.supersedeAll()
	ok := c.ram.Clear()
	c.loads.supersedeAll()
	return c.open(ok)
}

// SetRAMBytes changes the RAM budget while the cache is in use. When it returns,
// the cache holds no more than that, and has given the rest back to the
// system. It fails, and changes nothing, if n is above Options.MaxRAMBytes, or
// below MinRAMBytes or about a sixteenth of what the cache was opened with.
func (c *Cache) SetRAMBytes(n int64) error {
	if c.ram.Closed() {
		return ErrClosed
	}
	if err := c.ram.SetBytes(n); err != nil {
		return fmt.Errorf("firn: SetRAMBytes: %w", err)
	}
	runtime.KeepAlive(c)
	return nil
}

// Close empties the cache and gives its memory back. Calls under way and later
// ones are safe: reads find nothing, writes return ErrClosed. A second Close
// returns ErrClosed.
func (c *Cache) Close() error {
	c.loads.close()
	return c.open(c.ram.Close())
}
