package firn

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
)

// A namespace is the part of a cache that belongs to the typed caches of one
// name.
//
// # The epoch
//
// Every key in it begins with the namespace's epoch, a random number of 64 bits
// that no namespace of the cache has had before. Clear draws another: no key
// leads to the old entries any more, and they leave like whatever is not read.
//
// A persistent cache has to find its entries again after a restart, and to find
// none that were cleared. So the epoch is an entry too, the record, under a key
// made of the namespace's name. It is replaced before Clear returns; and
// whoever finds no record, because it was evicted or lost, draws a new epoch. So
// losing the record loses the namespace, and never brings cleared entries back.
// For that not to happen without need, the record is read now and then, which
// makes it popular, and written again if it is gone.
//
// All typed caches of one name share the namespace, so that a Clear of one is a
// Clear of all. The record is read once, when the first of them is made.
type namespace struct {
	c       *Cache
	record  []byte // key of the record
	current atomic.Pointer[epoch]

	mu sync.Mutex // held while the record is written
}

// epoch is one number of a namespace. What a front keeps refers to the epoch
// that it was read in, see front.go.
type epoch struct {
	number uint64
}

const epochLen = 8

// recordPrefix begins the key of each record. A program's own keys should not.
const recordPrefix = "\x00firn epoch of "

func (s *namespace) append(dst []byte, e *epoch) []byte {
	return binary.LittleEndian.AppendUint64(dst, e.number)
}

// typed is what a cache knows of the typed caches on it.
type typed struct {
	mu     sync.Mutex
	spaces map[string]*namespace // by name

	values atomic.Pointer[namespace] // of SetValue, once it was used
	fronts fronts

	mismatches, decodeErrors atomic.Uint64
}

// space finds a namespace, or makes it with the epoch that the cache holds or a
// new one.
func (c *Cache) space(name string) (*namespace, error) {
	l := &c.typed
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.spaces[name]; s != nil {
		return s, nil
	}
	s := &namespace{c: c, record: []byte(recordPrefix + name)}
	if e, ok := s.read(); ok {
		s.current.Store(e)
	} else if err := s.clear(); err != nil {
		return nil, fmt.Errorf("namespace %q: %w", name, err)
	}
	if l.spaces == nil {
		l.spaces = map[string]*namespace{}
	}
	l.spaces[name] = s
	return s, nil
}

// read reads the record. While the SSD tier is still finding out what it holds,
// that there is none is not known.
func (s *namespace) read() (*epoch, bool) {
	v, ok := s.c.Get(nil, s.record)
	if !ok && s.c.disk != nil {
		s.c.disk.tier.WaitRecovered()
		v, ok = s.c.Get(nil, s.record)
	}
	if !ok || len(v) != epochLen {
		return nil, false
	}
	return &epoch{binary.LittleEndian.Uint64(v)}, true
}

// clear begins a new epoch.
func (s *namespace) clear() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := &epoch{rand.Uint64()}
	if err := s.write(e); err != nil {
		return err
	}
	s.current.Store(e)
	return nil
}

// renew makes a new epoch of the same number: a front's entries of the one
// before are worth nothing, the bytes are.
func (s *namespace) renew() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current.Store(&epoch{s.current.Load().number})
}

// keep sees to it that the record is there: in RAM, where being read makes it
// popular, and below, where it outlives the process. It is not written again as
// long as a tier has it: the copy below would be dead before the new one is on
// the disk. Looking for it counts as no read.
func (s *namespace) keep() {
	v, ok := s.c.peek(nil, s.record)
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.current.Load()
	if !ok || len(v) != epochLen || binary.LittleEndian.Uint64(v) != e.number {
		_ = s.write(e) // it fails if the cache is closed
		return
	}
	s.offer()
}

// write writes the record. The caller holds mu, or nobody else has s yet.
func (s *namespace) write(e *epoch) error {
	if err := s.c.SetWithTTL(s.record, s.append(nil, e), 0); err != nil {
		return err
	}
	s.offer()
	return nil
}

// offer gives the tier below a copy, if there is one and it has none: a process
// that is killed finds its namespace again.
func (s *namespace) offer() {
	s.c.ram.Offer(s.c.ram.Hash(s.record), s.record)
	runtime.KeepAlive(s.c)
}

// addTo adds the counters to a snapshot.
func (l *typed) addTo(s *Stats) {
	s.Mismatches, s.DecodeErrors = l.mismatches.Load(), l.decodeErrors.Load()
	s.FrontHits = l.fronts.frontHits()
}
