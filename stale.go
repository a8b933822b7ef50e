package firn

import (
	"context"
	"runtime"
)

// memory is what the cache knows of a key.
type memory uint8

const (
	nothing memory = iota
	live           // a value
	stale          // a value whose time is over
	absent         // that a loader said ErrNotFound
)

// look appends to dst what the cache knows of a key, also if Get does not tell
// it. It counts as no read. A live value is looked for in RAM alone: a caller
// that loads has looked below already.
func (c *Cache) look(ctx context.Context, dst, key []byte) (v []byte, deadline int64, found memory) {
	v, deadline, found = c.lookInRAM(dst, key)
	if found == nothing && c.disk != nil && c.loading.grace() > 0 {
		f, err := c.disk.tier.GetStale(ctx, dst, key, c.ram.Hash(key))
		if err == nil {
			deadline = c.disk.deadlineOf(&f)
			return f.Value, deadline, c.aged(deadline)
		}
	}
	return v, deadline, found
}

func (c *Cache) lookInRAM(dst, key []byte) (v []byte, deadline int64, found memory) {
	v, deadline, ok := c.ram.PeekStale(dst, key)
	runtime.KeepAlive(c)
	switch {
	case !ok:
		return dst, 0, nothing
	case deadline < 0:
		return dst, deadline, absent
	}
	return v, deadline, c.aged(deadline)
}

// aged tells a live value from a stale one by its deadline.
func (c *Cache) aged(deadline int64) memory {
	if deadline == 0 || deadline > c.now() {
		return live
	}
	return stale
}

// recall is look for a caller who is about to load, and counts the answer. A
// stale value is one only as long as LoadingOptions.StaleFor says.
func (c *Cache) recall(ctx context.Context, dst, key []byte) ([]byte, memory) {
	v, deadline, found := c.look(ctx, dst, key)
	switch {
	case found == absent:
		c.loads.count.negativeHits.Add(1)
	case found == stale && c.now() < deadline+c.loading.staleFor:
		c.loads.count.staleServed.Add(1)
	case found == stale:
		return dst, nothing
	}
	return v, found
}

// fallback is what to answer with in place of a load that is late or has
// failed: an expired value up to LoadingOptions.FailSafe, or one that came
// meanwhile.
func (c *Cache) fallback(ctx context.Context, dst, key []byte) ([]byte, bool) {
	if c.loading.failSafe == 0 {
		return dst, false
	}
	v, deadline, found := c.look(ctx, dst, key)
	switch {
	case found == live:
		return v, true
	case found == stale && c.now() < deadline+c.loading.failSafe:
		c.loads.count.staleServed.Add(1)
		return v, true
	}
	return dst, false
}
