package firn

import (
	"context"
	"errors"
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
	ram     *ram.Tier
	disk    *disk // nil: RAM alone
	ttl     time.Duration
	now     func() int64 // milliseconds
	loading loading
	loads   loads
	typed   typed
	told    told
}

// Open makes a cache. A field of Options that makes no sense is an error that
// names it.
func Open(opts Options) (*Cache, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	c := &Cache{ttl: opts.TTL, now: opts.ticker(), loading: opts.loading()}
	c.loads.limit(opts.Loading.MaxLoads)
	c.loads.unstored.logger = opts.SSD.Log
	if c.disk, err = opts.SSD.open(&opts, c.now); err != nil {
		return nil, err
	}
	if c.ram, err = ram.New(opts.ramConfig(c.now, c.disk)); err != nil {
		return nil, errors.Join(opts.ramError(err), c.disk.abandon())
	}
	if c.disk != nil {
		if err := c.disk.tier.Start(c.ram.Charge); err != nil {
			err = errors.Join(badOption("RAMBytes", "is too small for this SSD tier: %w", err), c.disk.abandon())
			c.ram.Free()
			return nil, err
		}
	}
	// The memory's address space outlives Close, so that a late reader finds
	// zeros and not a fault. It goes when nobody can reach the cache any more.
	runtime.AddCleanup(c, tiers.free, tiers{c.ram, c.disk})
	return c, nil
}

// tiers are what a cache leaves behind.
type tiers struct {
	ram  *ram.Tier
	disk *disk
}

// free gives back what the tiers have. A cache that nobody closed is closed
// first, without writing to the SSD what RAM holds.
func (t tiers) free() {
	if t.disk == nil {
		t.ram.Free()
		return
	}
	go func() { // it may take a while
		t.ram.Close()
		_ = t.disk.tier.Close()
		t.disk.tier.Free()
		t.ram.Free()
	}()
}

// Get appends the value of key to dst and returns the extended slice. Without
// a value it returns dst as it was, and false. The room behind dst must not
// overlap key. An error of a lower tier counts as a miss: see Lookup.
func (c *Cache) Get(dst, key []byte) ([]byte, bool) {
	if c.disk != nil {
		v, err := c.descend(context.Background(), dst, key)
		return v, err == nil
	}
	v, ok := c.ram.Get(dst, key)
	runtime.KeepAlive(c)
	return v, ok
}

// descend looks a key up in one tier after the other.
func (c *Cache) descend(ctx context.Context, dst, key []byte) (v []byte, err error) {
	v, ok := c.ram.Get(dst, key)
	if !ok {
		v, err = c.lookBelow(ctx, c.ram.Hash(key), dst, key)
	}
	runtime.KeepAlive(c)
	return v, err
}

// Lookup is Get with a context and with errors: ErrNotFound, ErrClosed, the
// context's, ErrReadTimeout or ErrBusy where the disk is slow, or another of the
// disk's. What lies in RAM is found whatever the context says; a read of the SSD
// tier is waited for until the context ends, or SSDOptions.ReadTimeout is over.
// With an error it returns dst as it was.
func (c *Cache) Lookup(ctx context.Context, dst, key []byte) ([]byte, error) {
	if c.disk != nil {
		return c.descend(ctx, dst, key)
	}
	v, ok := c.ram.Get(dst, key)
	runtime.KeepAlive(c)
	if ok {
		return v, nil
	}
	return dst, c.missing(ctx)
}

// missing is why nothing was found in RAM.
func (c *Cache) missing(ctx context.Context) error {
	closed := c.ram.Closed()
	runtime.KeepAlive(c)
	if closed {
		return ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return ErrNotFound
}

// Set stores a value, with Options.TTL. When it returns nil, every Get sees the
// value until it is replaced, deleted, expired or evicted. Key and value may be
// empty, and may be changed afterwards. It fails with ErrTooLarge if they are
// longer together than a quarter of the RAM budget, and with ErrClosed: then it
// has changed nothing, and an older value is there still. With ErrNoRoom it has
// stored nothing, but may have evicted.
func (c *Cache) Set(key, value []byte) error { return c.SetWithTTL(key, value, c.jittered(c.ttl)) }

// SetWithTTL is Set with a time to live of its own, to the millisecond; 0 means
// that the value never expires. A negative one is an error.
func (c *Cache) SetWithTTL(key, value []byte, ttl time.Duration) error {
	deadline, err := c.deadline(ttl)
	if err != nil {
		return err
	}
	stripe := c.typed.fronts.begin(key)
	if c.disk == nil {
		err = c.ram.Set(key, value, deadline)
	} else {
		err = c.setAbove(key, value, deadline)
	}
	c.typed.fronts.end(stripe, key)
	return c.stored(err, key, value)
}

// setAbove is Set of the RAM tier when another lies below: what is there of the
// key is dead when this returns.
func (c *Cache) setAbove(key, value []byte, deadline int64) error {
	return c.ram.Set(key, value, deadline)
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
	return c.markLife(c.now()+millis, millis), nil
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
	case ram.ErrNoRoom:
		return ErrNoRoom
	case ram.ErrClosed:
		return ErrClosed
	}
	return err
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
	_, ok := c.deadlineOf(key)
	return ok
}

// deadlineOf is when the value of key expires, in the RAM tier's milliseconds, 0
// for never.
func (c *Cache) deadlineOf(key []byte) (deadline int64, ok bool) {
	hash := c.ram.Hash(key)
	if deadline, ok = c.ram.DeadlineHashed(hash, key); !ok && c.disk != nil {
		deadline, ok = c.deadlineBelow(hash, key)
	}
	runtime.KeepAlive(c)
	return deadline, ok
}

// TTL is how long the value of key has to live, 0 if it never expires. It
// reports false if there is no value. It does not count as a read.
func (c *Cache) TTL(key []byte) (ttl time.Duration, ok bool) {
	deadline, ok := c.deadlineOf(key)
	return c.timeTo(deadline), ok
}

// timeTo is how long a value with this deadline has to live, 0 for ever. A value
// that has just been found has at least a millisecond.
func (c *Cache) timeTo(deadline int64) time.Duration {
	if deadline == 0 {
		return 0
	}
	return max(time.Duration(deadline-c.now())*time.Millisecond, time.Millisecond)
}

// Delete removes the value of key. That there was none is no error.
func (c *Cache) Delete(key []byte) error {
	stripe := c.typed.fronts.begin(key)
	hash := c.ram.Hash(key)
	ok := c.ram.DeleteHashed(hash, key)
	c.typed.fronts.end(stripe, key)
	return c.open(ok)
}

// All yields every live key and value. The slices are lent until the next step.
// An entry that is there from beginning to end is yielded once; one that comes,
// goes or changes meanwhile may or may not be. With an SSD tier, which comes
// after RAM, an entry that moves between the two meanwhile may be yielded twice
// or not at all. The loop may use the cache.
func (c *Cache) All() iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		more := true
		c.ram.All(func(key, value []byte) bool {
			more = yield(key, value)
			return more
		})
		if more && c.disk != nil {
			c.disk.tier.All(func(hash uint64, key, value []byte) bool {
				if _, above := c.ram.DeadlineHashed(hash, key); above {
					return true
				}
				return yield(key, value)
			})
		}
		runtime.KeepAlive(c)
	}
}

// Len is the number of entries. It counts those that have expired and have not
// been taken out yet. With an SSD tier, an entry that came back to RAM from there
// counts in both.
func (c *Cache) Len() int {
	n := c.ram.Len()
	if c.disk != nil {
		n += c.disk.tier.Len()
	}
	runtime.KeepAlive(c)
	return n
}

// Clear removes every entry that was there when it was called. One that is set
// meanwhile may stay.
func (c *Cache) Clear() error {
	var ok bool
	c.typed.fronts.emptied(false, func() {
		if c.disk == nil {
			ok = c.ram.Clear()
		} else {
			ok = c.disk.clear(c.ram)
		}
	})
	return c.open(ok)
}

// SetRAMBytes changes the RAM budget while the cache is in use. When it returns,
// the cache holds no more than that, and has given the rest back to the
// system. If it is called again meanwhile, by OnEvict perhaps, the later call
// holds for both. It fails, and changes nothing, if n is above Options.MaxRAMBytes, or
// below MinRAMBytes or about a sixteenth of what the cache was opened with.
func (c *Cache) SetRAMBytes(n int64) error {
	if c.ram.Closed() {
		return ErrClosed
	}
	if err := c.ram.SetBytes(n); err != nil {
		least, most := c.ram.Bounds()
		return fmt.Errorf("firn: SetRAMBytes(%d): want %d to %d bytes", n, least, most)
	}
	runtime.KeepAlive(c)
	return nil
}

// Close ends the cache and gives its memory back. With an SSD tier it first
// writes there what RAM holds, whatever Admission says, so that the next Open
// finds it. It does not wait for a disk that does nothing: then it fails, and the
// directory stays locked until what is being written there has come back. Calls
// under way
// and later ones are safe: reads find nothing, writes return ErrClosed. A second
// Close returns ErrClosed.
func (c *Cache) Close() error {
	c.loads.close()
	var err error
	c.typed.fronts.emptied(true, func() { err = c.close() })
	return err
}

// close closes the tiers.
func (c *Cache) close() error {
	if c.disk == nil {
		return c.open(c.ram.Close())
	}
	if c.disk.closing.Swap(true) {
		return ErrClosed
	}
	c.disk.tier.AdmitAll()
	c.ram.DemoteAllWhile(c.disk.tier.WaitRoom)
	c.ram.Close()
	err := c.disk.tier.Close()
	runtime.KeepAlive(c)
	if err != nil {
		return fmt.Errorf("firn: close the SSD tier: %w", err)
	}
	return nil
}
