package firn

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/firncache/firn/internal/fleet"
	"github.com/firncache/firn/internal/load"
	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/ram"
)

// Op says what Compute does with an entry.
type Op int64

// The operations, beside those of OpSetTTL.
const (
	OpKeep   Op = 0  // leave everything as it is
	OpSet    Op = -1 // store the new value, with the default time to live
	OpUpdate Op = -2 // store the new value, and keep the deadline of the entry; without one it is OpSet
	OpDelete Op = -3 // remove the entry; that there is none is no error
)

// OpSetTTL stores the new value with a time to live of its own, to the millisecond, or
// Forever. With one of less than a millisecond, Compute returns an error.
func OpSetTTL(ttl time.Duration) Op {
	if ttl > 0 {
		return Op(ttl)
	}
	return max(Op(ttl), math.MinInt64-opNoTTL) + opNoTTL
}

// opNoTTL is OpSetTTL(0): the operations from there down are those of times to live that
// make no sense.
const opNoTTL = OpDelete - 1

// ttl is that of OpSetTTL, for every operation but the constants.
func (op Op) ttl() time.Duration {
	if op > 0 {
		return time.Duration(op)
	}
	return time.Duration(op - opNoTTL)
}

// Compute changes one entry by what it is, as one step: f is called with the value of key, or with
// ok = false if there is none, and what it returns is done, unless the key was written meanwhile.
// Then f is called again, with what there is by then: only its last answer counts. No lock is held
// meanwhile. While others keep writing the key, Compute keeps trying, until ctx ends.
//
// Absent is a value that has expired or was evicted, and a remembered ErrNotFound: what must not
// be lost does not belong into a cache. For a value that cannot be read, Compute returns one of
// Lookup's errors, and does not call f. The other errors are those of Set. With any, nothing has
// changed; but with ErrSharedUnavailable, or the context's error over a shared tier, where it is
// one step for all processes, the change may have been made, or be made yet.
//
// old is a copy, with room behind it: f may change it, append to it and return it. It is lent
// until Compute returns; new is copied, and key was. f may use the cache, but a write of key is a
// conflict like any other's. OpKeep counts as a read.
func (c *Cache) Compute(ctx context.Context, key []byte, f func(old []byte, ok bool) (new []byte, op Op)) error {
	return c.compute(ctx, &c.loads, key, func(old []byte, _ int64, ok bool) ([]byte, Op, error) {
		value, op := f(old, ok)
		return value, op, nil
	})
}

// SetIfAbsent stores a value, with Options.TTL, if there is none, and reports whether it has.
// What is absent, and the errors, are those of Compute.
func (c *Cache) SetIfAbsent(ctx context.Context, key, value []byte) (stored bool, err error) {
	if done, err := c.setIfAbsent(ctx, &c.loads, key, value); done || err != nil {
		return done, err
	}
	err = c.compute(ctx, &c.loads, key, func(_ []byte, _ int64, ok bool) ([]byte, Op, error) {
		if stored = !ok; ok {
			return nil, OpKeep, nil
		}
		return value, OpSet, nil
	})
	return stored && err == nil, err
}

// inPlace reports whether an entry may be changed in one hold of a lock.
func (c *Cache) inPlace(ctx context.Context) bool {
	return c.store.Numbers() == nil && ctx.Err() == nil
}

// setIfAbsent stores a value at once where it can be known at once that there is none.
func (c *Cache) setIfAbsent(ctx context.Context, of *load.Group, key, value []byte) (done bool, err error) {
	if !c.inPlace(ctx) {
		return false, ctx.Err()
	}
	deadline, err := of.DeadlineIn(of.Jittered(of.TTL()))
	if err != nil {
		return false, err
	}
	if c.off {
		err = c.keepNothing()
		return err == nil, err
	}
	return c.store.SetIfAbsent(key, value, deadline), nil
}

// CompareAndSwap replaces the value old by new, and reports whether it has: not if the
// value is another, or absent. The deadline stays. For what is absent, and for errors, see Compute.
func (c *Cache) CompareAndSwap(ctx context.Context, key, old, new []byte) (swapped bool, err error) {
	if c.inPlace(ctx) && c.store.Swap(key, old, new) {
		return true, nil
	}
	err = c.compute(ctx, &c.loads, key, func(value []byte, _ int64, ok bool) ([]byte, Op, error) {
		if swapped = ok && bytes.Equal(value, old); !swapped {
			return nil, OpKeep, nil
		}
		return new, OpUpdate, nil
	})
	return swapped && err == nil, err
}

// Increment adds delta to a number, 8 bytes, a little-endian int64, and returns the sum. A missing
// one is 0, and is stored with Options.TTL; otherwise the deadline stays. A value of another
// length, and a sum that does not fit, are errors and change nothing; otherwise it is as Compute.
func (c *Cache) Increment(ctx context.Context, key []byte, delta int64) (sum int64, err error) {
	a := ram.Addition{Size: 8, Signed: true, Delta: uint64(delta)}
	if c.inPlace(ctx) && c.store.Add(key, &a) {
		return int64(a.Sum), nil
	}
	if done, err := c.setIfAbsent(ctx, &c.loads, key, binary.LittleEndian.AppendUint64(nil, uint64(delta))); err != nil {
		return 0, err
	} else if done {
		return delta, nil
	}
	err = c.compute(ctx, &c.loads, key, func(old []byte, _ int64, ok bool) ([]byte, Op, error) {
		sum = delta
		if ok {
			if len(old) != 8 {
				return nil, OpKeep, fmt.Errorf("firn: Increment of %q: the value has %d bytes: want 8", key, len(old))
			}
			n := int64(binary.LittleEndian.Uint64(old))
			if sum = n + delta; (sum < n) != (delta < 0) {
				return nil, OpKeep, fmt.Errorf("firn: Increment of %q by %d: the value is %d: want a sum that fits an int64", key, delta, n)
			}
		}
		return binary.LittleEndian.AppendUint64(old[:0], uint64(sum)), OpUpdate, nil
	})
	if err != nil {
		return 0, err
	}
	return sum, nil
}

// GetAndDelete is Lookup and Delete in one step: of several that run at once, one gets the value.
// It appends it to dst and removes it, or returns ErrNotFound. With another error it has removed
// nothing. It returns dst as it was with any.
func (c *Cache) GetAndDelete(ctx context.Context, dst, key []byte) (value []byte, err error) {
	if err = checkOrder(dst, key); err != nil {
		return dst, err
	}
	found := false
	value = dst
	err = c.compute(ctx, &c.loads, key, func(old []byte, _ int64, ok bool) ([]byte, Op, error) {
		found, value = ok, append(dst, old...)
		return nil, OpDelete, nil
	})
	if err == nil && !found {
		err = ErrNotFound
	}
	if err != nil {
		return dst, err
	}
	return value, nil
}

// computation is the heap memory of a compute.
type computation struct {
	attempt fleet.Attempt
	key     []byte // a copy: f may use the caller's buffer for something else
	old     []byte
}

var computations = sync.Pool{New: func() any { return &computation{old: make([]byte, 0, 64)} }}

// change is what a compute makes of what there is, a value with its deadline.
type change func(old []byte, deadline int64, ok bool) ([]byte, Op, error)

// compute is Compute of a value of a group, with an f that may fail: then nothing is done.
func (c *Cache) compute(ctx context.Context, of *load.Group, key []byte, f change) error {
	x := computations.Get().(*computation)
	x.key = append(x.key[:0], key...)
	err := local.ErrChanged
	for err == local.ErrChanged {
		if err = ctx.Err(); err == nil {
			err = c.tryCompute(ctx, of, x, f)
		}
	}
	if cap(x.key)+cap(x.old) <= maxScratch {
		computations.Put(x) // not if f has panicked
	}
	return err
}

// tryCompute is one try of compute.
func (c *Cache) tryCompute(ctx context.Context, of *load.Group, x *computation, f change) error {
	c.store.Begin(&x.attempt, x.key) // before the look: a write is either seen or noticed
	defer c.store.End(&x.attempt)
	old, deadline, ok, err := c.store.Look(ctx, &x.attempt, x.old[:0])
	if err != nil {
		return err
	}
	x.old = old
	value, op, err := f(old, deadline, ok)
	var ttl time.Duration
	switch {
	case err != nil:
		return err
	case op == OpKeep:
		return nil
	case op == OpDelete:
		return c.store.Remove(&x.attempt)
	case op == OpUpdate && ok:
		return c.store.Update(&x.attempt, value, deadline)
	case op == OpSet || op == OpUpdate:
		ttl = of.Jittered(of.TTL())
	default:
		ttl = of.Given(op.ttl())
	}
	if deadline, err = of.DeadlineIn(ttl); err != nil {
		return err
	}
	if c.off {
		return c.keepNothing()
	}
	return c.store.Replace(&x.attempt, value, deadline)
}
