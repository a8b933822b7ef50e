package ssd

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/invariants"
)

// ssdEvents are the events of an ssdModel's caches. Each value that was set leaves once, and
// before that it may be demoted, more than once if it is promoted in between.
type ssdEvents struct {
	model *ssdModel
	mu    sync.Mutex
	life  int // of the cache that is alive: what one says that was killed never happened
	of    map[uint64]eventsOf
	fresh map[uint64]bool // the writes that left since all were told of what had happened
	count [firn.CauseSSDEvicted + 1]int
	long  int // of those evicted from the SSD
	wrong error
}

// eventsOf are the events of a write.
type eventsOf struct {
	demoted, left bool
	cause         firn.Cause // of its leaving
	life          int        // of the cache that said so
}

// listen is OnEvict of the next cache.
func (e *ssdEvents) listen() func(key, value []byte, cause firn.Cause) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.life++
	life := e.life
	return func(key, value []byte, cause firn.Cause) { e.note(life, key, value, cause) }
}

// kill ends the life of the cache, from the moment of which the files are cloned.
func (e *ssdEvents) kill() {
	if e != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.life++
	}
}

// note is OnEvict. The goroutine that demotes and that of the SSD tier call it each for
// what it did, so a write that was demoted and evicted at once may leave before it is demoted.
func (e *ssdEvents) note(life int, key, value []byte, cause firn.Cause) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if life != e.life {
		return
	}
	seq, err := cachetest.Sequence(key, value)
	was := e.of[seq]
	switch now := was; {
	case e.wrong != nil:
	case err != nil:
		e.wrong = fmt.Errorf("%s, %v: %w", key, cause, err)
	case was.left && (cause != firn.CauseDemoted || !e.fresh[seq]):
		e.wrong = fmt.Errorf("%s: write %d, %d bytes, left for %v in life %d, and again for %v in %d", key, seq, len(value), was.cause, was.life, cause, life)
	case cause == firn.CauseDemoted:
		now.demoted = true
		e.of[seq] = now
	default:
		now.left, now.cause, now.life = true, cause, life
		e.of[seq], e.fresh[seq] = now, true
	}
	e.count[cause]++
	if cause == firn.CauseSSDEvicted && len(value) >= 40_000 {
		e.long++
	}
}

// judgeFresh demands that what left the SSD was demoted before, if this process has set it.
func (e *ssdEvents) judgeFresh() {
	for seq := range e.fresh {
		if was := e.of[seq]; was.cause == firn.CauseSSDEvicted && !was.demoted && seq > e.model.before {
			e.model.t.Fatalf("write %d left the SSD, and was not demoted", seq)
		}
	}
	clear(e.fresh)
}

// settled is the events of a write, once all are told of what has happened.
func (e *ssdEvents) settled(seq uint64) eventsOf {
	synctest.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.model.must(e.wrong)
	e.judgeFresh()
	return e.of[seq]
}

// touched knows that a write is there, though it may have left: what the SSD evicts while a
// Touch has read it there is stored anew.
func (e *ssdEvents) touched(seq uint64) {
	if e == nil {
		return
	}
	if e.settled(seq).left {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.of[seq] = eventsOf{demoted: true}
	}
}

// judgeHit demands that what was found has not left, or is found no more: it may leave the SSD
// while it is read there.
func (e *ssdEvents) judgeHit(i int, key []byte) {
	if e == nil {
		return
	}
	held := e.model.held[i]
	held.certain = true
	e.model.held[i] = held
	is := e.settled(held.seq)
	if !is.left {
		return
	}
	if _, ok := e.model.c.Get(nil, key); ok {
		e.model.t.Fatalf("%s: write %d is found, and has left for %v", key, held.seq, is.cause)
	}
}

// judgeMiss demands that what was there, and is not, has left, if its deadline is known.
func (e *ssdEvents) judgeMiss(i int, key []byte) {
	if e == nil {
		return
	}
	held, ok := e.model.held[i]
	if !ok || held.moved || held.slides || held.expires != 0 && held.expires-e.model.slack(held) <= e.model.now {
		return
	}
	if is := e.settled(held.seq); held.certain && !is.left {
		e.model.t.Fatalf("%s: write %d is not found, and of its leaving OnEvict was not told: %+v", key, held.seq, is)
	}
	delete(e.model.held, i)
}

// finish demands that there was something to see.
func (e *ssdEvents) finish() {
	if e == nil {
		return
	}
	e.settled(0)
	e.model.t.Logf("events by cause: %v, of long values that left the SSD: %d", e.count, e.long)
	if invariants.Race || testing.Short() { // with few steps
		return
	}
	for cause, n := range e.count {
		if n == 0 {
			e.model.t.Errorf("nothing left for %v: %v", firn.Cause(cause), e.count)
		}
	}
	if e.long == 0 {
		e.model.t.Errorf("no long value left the SSD: %v", e.count)
	}
}
