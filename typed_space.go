package firn

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/firncache/firn/internal/coherence"
	"github.com/firncache/firn/internal/ram"
)

// A namespace is the part of a cache that belongs to the typed caches of one
// name.
//
// # The generation
//
// Every key in it begins with the namespace's generation, a random number of 64 bits
// that no namespace of the cache has had before. Clear draws another: no key
// leads to the old entries any more, and they leave like whatever is not read.
//
// A persistent cache has to find its entries again after a restart, and to find
// none that were cleared. So the generation is an entry too, the record, under a key
// made of the namespace's name. It is replaced before Clear returns; and
// whoever finds no record, because it was evicted or lost, draws a new generation. So
// losing the record loses the namespace, and never brings cleared entries back.
// For that not to happen without need, the record is read now and then, which
// makes it popular, and written again if it is gone.
//
// All typed caches of one name share the namespace, so that a Clear of one is a
// Clear of all. The record is looked for once, when the first of them is made.
//
// # Waiting
//
// Looking for the record may take a read of the disk. That is done without a lock,
// and each caller waits for itself. Writing it is done with the namespace locked,
// which only those wait for who write it too, or have no generation yet. Neither
// happens in a read: keep leaves both to a goroutine. No user function runs under
// the lock: what the record drives out of RAM is reported after it.
type namespace struct {
	c         *Cache
	record    []byte            // key of the record
	current   coherence.Current // until it was found, or begun: nil
	writing   chan struct{}     // the lock: holds one while the record is written
	restoring atomic.Bool       // a goroutine sees to the record
}

// recordPrefix begins the key of each record. A program's own keys should not.
const recordPrefix = "\x00firn epoch of "

// typed is what a cache knows of the typed caches on it.
type typed struct {
	mu     sync.Mutex            // held for a look into spaces
	spaces map[string]*namespace // by name

	values atomic.Pointer[namespace] // of SetValue, once it was found
	fronts coherence.Table

	mismatches, decodeErrors atomic.Uint64
}

// named is the namespace of a name, which may have no generation yet.
func (c *Cache) named(name string) *namespace {
	l := &c.typed
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.spaces[name]
	if s == nil {
		if l.spaces == nil {
			l.spaces = map[string]*namespace{}
		}
		s = &namespace{c: c, record: []byte(recordPrefix + name), writing: make(chan struct{}, 1)}
		l.spaces[name] = s
	}
	return s
}

// space finds a namespace, or begins it.
func (c *Cache) space(name string) (*namespace, error) {
	s := c.named(name)
	ok, err := s.find(context.Background())
	if err == nil && !ok {
		err = s.begin()
	}
	if err != nil {
		return nil, fmt.Errorf("namespace %q: %w", name, err)
	}
	return s, nil
}

// find gives the namespace the generation that the cache holds, unless it has one. It
// reports false if there is none: then the namespace is empty.
func (s *namespace) find(ctx context.Context) (ok bool, err error) {
	if s.current.Load() != nil {
		return true, nil
	}
	e, err := s.read(ctx)
	if e == nil {
		return false, err
	}
	if err = s.lock(ctx); err != nil { // whoever writes a record has it current before others do
		return false, err
	}
	defer s.unlock()
	s.current.CompareAndSwap(nil, e)
	return true, nil
}

// read reads the record. An error of the disk is a record lost, and with it all that
// the namespace holds; so it waits for a disk that is slow.
func (s *namespace) read(ctx context.Context) (*coherence.Generation, error) {
	v, err := s.c.store.LookupWaiting(ctx, nil, s.record)
	if err != nil {
		return nil, ctx.Err()
	}
	e, _ := parseEpoch(v)
	return e, nil
}

// parseEpoch reads a record.
func parseEpoch(v []byte) (e *coherence.Generation, ok bool) {
	if len(v) != coherence.GenerationLen {
		return nil, false
	}
	return &coherence.Generation{Number: binary.LittleEndian.Uint64(v)}, true
}

// begin begins the first generation, unless somebody else has.
func (s *namespace) begin() error {
	return s.update(func(now *coherence.Generation, left *ram.Left) error {
		if now != nil {
			return nil
		}
		return s.draw(left)
	})
}

// clear begins a new generation.
func (s *namespace) clear() error {
	return s.update(func(_ *coherence.Generation, left *ram.Left) error { return s.draw(left) })
}

// update calls change, with the current generation, under the lock, and reports what
// left RAM after it.
func (s *namespace) update(change func(now *coherence.Generation, left *ram.Left) error) error {
	var left ram.Left
	_ = s.lock(context.Background())
	err := change(s.current.Load(), &left)
	s.unlock()
	left.Report()
	return err
}

func (s *namespace) lock(ctx context.Context) error {
	select {
	case s.writing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *namespace) unlock() { <-s.writing }

// draw makes a new generation the current one, once its record is written: what is
// stored in it must not outlive the record of the one before. The caller holds the
// lock.
func (s *namespace) draw(left *ram.Left) error {
	e := &coherence.Generation{Number: rand.Uint64()}
	err := s.write(e, left)
	if err == nil {
		s.current.Store(e)
	}
	return err
}

// keep sees to it that the record is there: in RAM, where being looked for makes
// it popular, and below, where it outlives the process. It waits for nothing: it
// is called in reads, too.
func (s *namespace) keep() {
	if s.isCurrent(s.c.store.PeekFresh(nil, s.record)) {
		s.offer()
	} else if s.restoring.CompareAndSwap(false, true) {
		go s.restore()
	}
}

// restore brings the record back to RAM. It is not written again as long as the
// tier below has it: that copy would be dead before the new one is on the disk.
// Looking for it counts as no read.
func (s *namespace) restore() {
	defer s.restoring.Store(false)
	below, okBelow := s.c.store.GetUncounted(nil, s.record) // not under the lock: what is promoted may drive others out
	_ = s.update(func(now *coherence.Generation, left *ram.Left) error {
		if s.isCurrent(s.c.store.PeekFresh(nil, s.record)) || s.isCurrent(below, okBelow) {
			s.offer()
			return nil
		}
		return s.write(now, left) // it fails if the cache is closed
	})
}

// isCurrent reports whether a record was found, and is that of the current generation.
func (s *namespace) isCurrent(v []byte, ok bool) bool {
	if !ok {
		return false
	}
	e, ok := parseEpoch(v)
	return ok && e.Number == s.current.Load().Number
}

// write writes the record. The caller holds the lock.
func (s *namespace) write(e *coherence.Generation, left *ram.Left) error {
	if err := s.c.store.SetQuietly(s.record, e.Append(nil), 0, left); err != nil {
		return err
	}
	s.offer()
	return nil
}

// offer gives the tier below a copy, if there is one and it has none: a process
// that is killed finds its namespace again.
func (s *namespace) offer() { s.c.store.DemoteCopy(s.record) }

// addTo adds the counters to a snapshot.
func (l *typed) addTo(s *Stats) {
	s.Mismatches, s.DecodeErrors = l.mismatches.Load(), l.decodeErrors.Load()
	s.FrontHits = l.fronts.Hits()
}
