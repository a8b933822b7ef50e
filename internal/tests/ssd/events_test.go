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
	last  map[uint64]firn.Cause // of the writes that were told of
	count [firn.CauseSSDEvicted + 1]int
	long  int // of those evicted from the SSD
	wrong error
}

// note is OnEvict.
func (e *ssdEvents) note(key, value []byte, cause firn.Cause) {
	e.mu.Lock()
	defer e.mu.Unlock()
	seq, err := cachetest.Sequence(key, value)
	switch last, told := e.last[seq]; {
	case e.wrong != nil:
	case err != nil:
		e.wrong = fmt.Errorf("%s, %v: %w", key, cause, err)
	case told && last != firn.CauseDemoted:
		e.wrong = fmt.Errorf("%s: write %d left for %v, and again for %v", key, seq, last, cause)
	case cause == firn.CauseSSDEvicted && !told && e.isNew(key, seq):
		e.wrong = fmt.Errorf("%s: write %d left the SSD, and was not demoted", key, seq)
	}
	e.last[seq] = cause
	e.count[cause]++
	if cause == firn.CauseSSDEvicted && len(value) >= 40_000 {
		e.long++
	}
}

// isNew reports whether a write is of this process, which was told of all that it demoted.
func (e *ssdEvents) isNew(key []byte, seq uint64) bool {
	var i int
	if _, err := fmt.Sscanf(string(key), "key-%05d", &i); err != nil {
		return true
	}
	held := e.model.held[i]
	return held.seq == seq && held.opened == e.model.opened
}

// settled is the last event of a write, once all are told of what has happened.
func (e *ssdEvents) settled(seq uint64) (cause firn.Cause, told bool) {
	synctest.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.model.must(e.wrong)
	cause, told = e.last[seq]
	return cause, told
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
	cause, told := e.settled(held.seq)
	if !told || cause == firn.CauseDemoted {
		return
	}
	if _, ok := e.model.c.Get(nil, key); ok {
		e.model.t.Fatalf("%s: write %d is found, and has left for %v", key, held.seq, cause)
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
	if cause, told := e.settled(held.seq); held.certain && (!told || cause == firn.CauseDemoted) {
		e.model.t.Fatalf("%s: write %d is not found, and OnEvict was told %v, %v", key, held.seq, cause, told)
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
