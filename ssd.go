package firn

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/firncache/firn/internal/ram"
	"github.com/firncache/firn/internal/ssd"
)

// disk is the SSD tier as the cache uses it: what the RAM tier tells it, and what
// is looked up when RAM has nothing. A nil disk is a cache in RAM alone.
type disk struct {
	tier     *ssd.Tier
	epoch    int64        // the RAM tier's time plus this is milliseconds since 1970
	clearing atomic.Int32 // Clears under way: nothing is promoted meanwhile
	closing  atomic.Bool
	late     error // ErrReadTimeout, with the time
}

// Prefetch, Superseded, Demote, Ready and Holds are ram.Below, AtOnce and DemoteParts
// ram.BelowInParts: the RAM tier calls them, all but Ready and AtOnce under the lock
// that orders the writes of a key.

func (d *disk) Prefetch(hash uint64) { d.tier.Prefetch(hash) }

func (d *disk) Superseded(hash uint64) { d.tier.Superseded(hash) }

func (d *disk) Demote(hash uint64, key, value []byte, deadline int64, read, copied bool) bool {
	if deadline != 0 {
		deadline += d.epoch
	}
	return d.tier.Demote(hash, key, value, deadline, read, copied)
}

func (d *disk) AtOnce() int { return d.tier.AtOnce() }

func (d *disk) DemoteParts(hash uint64, keyLen, valueLen int, deadline int64, read, copied bool) (to ram.Descent, there bool) {
	if deadline != 0 {
		deadline += d.epoch
	}
	parts, there := d.tier.DemoteParts(hash, keyLen, valueLen, deadline, read, copied)
	if parts == nil { // which is no nil Descent
		return nil, there
	}
	return parts, there
}

func (d *disk) Ready(waited time.Duration) (inAll time.Duration, ok bool) {
	return d.tier.Ready(waited)
}

func (d *disk) Holds(hash, token uint64) bool {
	return d.clearing.Load() == 0 && d.tier.Holds(hash, token)
}

// clear empties both tiers. Nothing is promoted meanwhile: what is read from the
// disk before it is cleared must not come to RAM after that was.
func (d *disk) clear(above *ram.Tier) (ok bool) {
	d.clearing.Add(1)
	defer d.clearing.Add(-1)
	ok = above.Clear()
	d.tier.Clear()
	return ok
}

// abandon closes the tier of a cache that could not be opened.
func (d *disk) abandon() error {
	if d == nil {
		return nil
	}
	err := d.tier.Close()
	go d.tier.Free() // when the disk has given all back
	return err
}

// deadlineOf is a deadline of the SSD tier in the RAM tier's time.
func (d *disk) deadlineOf(f *ssd.Found) int64 {
	if f.Deadline == 0 {
		return 0
	}
	return max(f.Deadline-d.epoch, 1)
}

// descents is how often a key that is written again and again is looked for in
// both tiers before it counts as missing.
const descents = 16

// lookBelow looks a key up that RAM does not have. What it finds goes to RAM, if
// it is still the latest by then.
func (c *Cache) lookBelow(ctx context.Context, hash uint64, dst, key []byte) ([]byte, error) {
	return c.lookBelowBy((*ssd.Tier).Get, ctx, hash, dst, key)
}

// lookBelowBy is lookBelow by one of the SSD tier's ways to look.
func (c *Cache) lookBelowBy(get func(t *ssd.Tier, ctx context.Context, dst, key []byte, hash uint64) (ssd.Found, error), ctx context.Context, hash uint64, dst, key []byte) ([]byte, error) {
	for range descents {
		f, err := get(c.disk.tier, ctx, dst, key, hash)
		if err == nil {
			c.ram.Promote(hash, key, f.Value[len(dst):], c.disk.deadlineOf(&f), f.Token)
			return f.Value, nil
		}
		v, ok, again := c.lookAgain(hash, dst, key, err)
		if ok {
			return v, nil
		}
		if !again {
			return dst, c.lookupError(ctx, err)
		}
	}
	return dst, ErrNotFound
}

// lookManyBelow looks up the keys of a batch that RAM does not have.
func (c *Cache) lookManyBelow(ctx context.Context, b *Batch) (first error) {
	b.below.again = b.below.again[:0]
	c.disk.tier.GetMany(ctx, &b.below.many, func(i int, f ssd.Found, err error) {
		q := &b.below.many.Queries[i]
		start := len(b.bytes)
		if err == nil {
			b.bytes = append(b.bytes, f.Value...)
			c.ram.Promote(q.Hash, q.Key, f.Value, c.disk.deadlineOf(&f), f.Token)
		} else {
			v, ok, again := c.lookAgain(q.Hash, b.bytes, q.Key, err)
			switch {
			case again:
				b.below.again = append(b.below.again, i)
				return
			case !ok:
				if err := c.lookupError(ctx, err); first == nil && err != ErrNotFound {
					first = err
				}
				return
			}
			b.bytes = v
		}
		b.spans[b.below.index[i]] = span{start, len(b.bytes)}
	})
	for _, i := range b.below.again {
		q := &b.below.many.Queries[i]
		start := len(b.bytes)
		var err error
		if b.bytes, err = c.lookBelow(ctx, q.Hash, b.bytes, q.Key); err == nil {
			b.spans[b.below.index[i]] = span{start, len(b.bytes)}
		} else if first == nil && err != ErrNotFound {
			first = err
		}
	}
	return first
}

// lookAgain looks into RAM after the SSD tier found nothing: between the two
// looks, a write may have moved the key from there to here.
func (c *Cache) lookAgain(hash uint64, dst, key []byte, err error) (v []byte, ok, again bool) {
	if v, ok = c.ram.PeekHashed(hash, dst, key); ok {
		return v, true, false
	}
	return dst, false, errors.Is(err, ssd.ErrChanged)
}

// lookupError is the SSD tier's error as Lookup returns it.
func (c *Cache) lookupError(ctx context.Context, err error) error {
	switch {
	case c.ram.Closed():
		return ErrClosed
	case errors.Is(err, ssd.ErrNotFound):
		return ErrNotFound
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, ssd.ErrTimeout):
		return c.disk.late
	case errors.Is(err, ssd.ErrBusy):
		return ErrBusy
	}
	return fmt.Errorf("firn: read from the SSD tier: %w", err)
}

// peek is Get that does not count as a read of RAM.
func (c *Cache) peek(dst, key []byte) ([]byte, bool) {
	hash := c.ram.Hash(key)
	v, ok := c.ram.PeekHashed(hash, dst, key)
	if !ok && c.disk != nil {
		var err error
		v, err = c.lookBelow(context.Background(), hash, dst, key)
		ok = err == nil
	}
	runtime.KeepAlive(c)
	return v, ok
}

// deadlineBelow is the deadline of a key that RAM does not have.
func (c *Cache) deadlineBelow(hash uint64, key []byte) (deadline int64, ok bool) {
	for range descents {
		f, err := c.disk.tier.Peek(context.Background(), key, hash)
		if err == nil {
			return c.disk.deadlineOf(&f), true
		}
		if deadline, ok = c.ram.DeadlineHashed(hash, key); ok || !errors.Is(err, ssd.ErrChanged) {
			return deadline, ok
		}
	}
	return 0, false
}
