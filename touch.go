package firn

import (
	"context"
	"time"
)

// Touch gives the value of key another time to live from now on, without setting it. It
// reports false if there is no value. A time to live of less than a millisecond is an error; Forever is
// one. It counts neither as a read nor as a write: a load under way stores its value
// nevertheless, and OnEvict is not told.
//
// With an SSD tier, a value that only that has is read and comes to RAM: the context
// ends the waiting for the disk, and the errors are those of Lookup. A shorter time to
// live holds from the return of Touch on, also after a kill. After a kill, a longer one
// may be what it was before. Writing the value with its new deadline to the SSD, when it
// leaves RAM, costs a write as any other; if that is refused, for the write budget
// perhaps, it has the earlier deadline there.
//
// Where there is no value in RAM that could take a deadline as it is, as of one that was
// stored for ever, it is moved there, and Touch can fail as Set does; then the time to
// live is what it was.
//
// With a shared tier the deadline is changed there, for all processes, and Touch waits and
// fails as SetWith does. Copies are dropped, here too, for CauseInvalidated.
func (c *Cache) Touch(ctx context.Context, key []byte, ttl time.Duration) (ok bool, err error) {
	deadline, err := c.loads.DeadlineIn(ttl)
	if err != nil {
		return false, err
	}
	return c.store.Touch(ctx, key, deadline)
}

// Touch gives the value of key another time to live, as Cache.Touch. It does not look
// whether the value can be decoded, but whether its tags were invalidated.
func (t *Typed[K, V]) Touch(ctx context.Context, key K, ttl time.Duration) (ok bool, err error) {
	s := t.acquire()
	defer t.release(s)
	s.k = key
	if err = t.encodeKeyToWrite(ctx, s); err != nil {
		return false, err
	}
	deadline, err := t.loads.DeadlineIn(ttl)
	for again := err == nil; again; {
		ok, err = t.c.store.Touch(ctx, s.key, deadline)
		again, err = t.writeAgain(ctx, s, err)
	}
	if ok && t.c.typed.tagged.Load() {
		_, ok = t.inspect(s) // it does no harm to have touched what is obsolete
	}
	return ok, err
}
