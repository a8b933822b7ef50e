package firn

import (
	"context"
	"time"
)

// Touch gives the value of key another time to live from now on, without setting it, and reports
// false if there is no value. A time to live of less than a millisecond is an error; Forever is
// one. It counts neither as a read nor as a write: a load under way stores its value nevertheless.
//
// With an SSD tier, a value that only that has is read and comes to RAM; the errors are those of
// Lookup. After a kill, or where the SSD refuses the write, a longer time to live may be what it
// was before. A value that was stored for ever is moved in RAM, and Touch can fail as Set does.
// With a shared tier the deadline is changed there, for all processes; copies are dropped.
func (c *Cache) Touch(ctx context.Context, key []byte, ttl time.Duration) (ok bool, err error) {
	deadline, err := c.loads.DeadlineIn(c.loads.Given(ttl))
	if err != nil {
		return false, err
	}
	return c.store.Touch(ctx, key, deadline)
}

// Touch gives the value of key another time to live, as Cache.Touch, unless its tags were
// invalidated.
func (t *Typed[K, V]) Touch(ctx context.Context, key K, ttl time.Duration) (ok bool, err error) {
	s := t.acquire()
	defer t.release(s)
	s.k = key
	if err = t.encodeKeyToWrite(ctx, s); err != nil {
		return false, err
	}
	deadline, err := t.cfg.loads.DeadlineIn(t.cfg.loads.Given(ttl))
	for again := err == nil; again; {
		ok, err = t.cfg.c.store.Touch(ctx, s.key, deadline)
		again, err = t.writeAgain(ctx, s, err)
	}
	if ok && t.cfg.c.typed.tagged.Load() {
		_, ok = t.inspect(s) // it does no harm to have touched what is obsolete
	}
	return ok, err
}
