package ram

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firncache/firn/internal/record"
)

// lower is a lower tier, reduced to a map: one record for each hash, as a tier
// on disk keeps them.
type lower struct {
	mu    sync.Mutex
	held  map[uint64]*lowRecord
	token uint64
	err   error // the first thing that was wrong

	admit      func() bool                               // whether a demoted record is kept; nil: it is
	seen       func(hash uint64, key []byte, read bool)  // of every demotion, the refused ones included
	invalidate func(hash uint64)                         // of every Invalidate
	stays      func(r *lowRecord) bool                   // whether an older copy stays as it is, though its record was touched; nil: never
	lost       func(hash uint64, r *lowRecord, own bool) // of a record that is dropped; own: a write of its key did it

	busy     atomic.Bool // it is not WaitForRoom
	strict   bool        // nobody else uses the tier: inRAM can be relied on
	keeping  bool        // DemoteAll is under way: what is offered stays in RAM, too
	writing  []byte      // the key of the write under way
	copied   record.Copy // of the last demotion
	accepted uint64      // demotions that were not refused
}

type lowRecord struct {
	key, value []byte
	deadline   int64
	token      uint64
	inRAM      bool // the RAM tier holds it too
}

func newLower() *lower { return &lower{held: map[uint64]*lowRecord{}} }

func (l *lower) fail(format string, args ...any) {
	if l.err == nil {
		l.err = fmt.Errorf("lower tier: "+format, args...)
	}
}

func (l *lower) Invalidate(hash uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.invalidate != nil {
		l.invalidate(hash)
	}
	l.drop(hash)
}

// drop forgets what lies under a hash.
func (l *lower) drop(hash uint64) {
	r := l.held[hash]
	if r == nil {
		return
	}
	delete(l.held, hash)
	if l.lost != nil && !r.inRAM {
		l.lost(hash, r, l.writing != nil && bytes.Equal(r.key, l.writing))
	}
}

func (l *lower) Demote(hash uint64, key, value []byte, deadline int64, read bool, copied record.Copy) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.copied = copied
	if l.seen != nil {
		l.seen(hash, key, read)
	}
	if r := l.held[hash]; r != nil && bytes.Equal(r.key, key) {
		l.checkCopy(r, key, value, deadline, copied)
		if l.strict && !r.inRAM {
			l.fail("key %.20x was in both tiers and not promoted", key)
		}
		if copied == record.OlderCopy && l.stays != nil && l.stays(r) {
			r.inRAM = l.keeping
			return true
		}
		r.inRAM = true // not lost: its record is at hand
	}
	l.drop(hash)
	if l.admit != nil && !l.admit() {
		return false
	}
	l.token++
	l.held[hash] = &lowRecord{bytes.Clone(key), bytes.Clone(value), deadline, l.token, l.keeping}
	if !l.keeping {
		l.accepted++
	}
	return true
}

// checkCopy sees that what is said of the copy of a record that leaves RAM is true.
func (l *lower) checkCopy(r *lowRecord, key, value []byte, deadline int64, copied record.Copy) {
	switch {
	case copied == record.NoCopy:
		l.fail("key %.20x is here, and was said not to be", key)
	case !bytes.Equal(r.value, value) || copied == record.SameCopy && r.deadline != deadline:
		l.fail("key %.20x was written and nothing invalidated", key)
	case expiresSooner(deadline, r.deadline):
		l.fail("key %.20x expires at %d, and its copy, at %d, was not invalidated", key, deadline, r.deadline)
	}
}

func (l *lower) Prefetch(uint64) {}

func (l *lower) WaitForRoom(waited time.Duration) (time.Duration, bool) {
	return waited, !l.busy.Load()
}

func (l *lower) IsCurrent(hash, token uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.held[hash]
	return r != nil && r.token == token
}

func (l *lower) Has(hash uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held[hash] != nil
}

// get is the record of a key. Its bytes do not change.
func (l *lower) get(hash uint64, key []byte) (r lowRecord, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h := l.held[hash]; h != nil && bytes.Equal(h.key, key) {
		return *h, true
	}
	return r, false
}

func (l *lower) failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}
