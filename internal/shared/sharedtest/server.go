package sharedtest

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/firncache/firn/internal/shared"
)

// Server is what the processes of a test share. Its fields are set before its first Tier.
type Server struct {
	Leases    bool          // Lease gives leases; otherwise a removal leaves a tombstone
	LeaseTime time.Duration // how long a lease lives; 0: ten seconds
	AwaitTime time.Duration // how long Await waits; 0: as long as a lease lives
	TooLarge  int           // of how many bytes a value is too large; 0: none

	// OnChange is called when a key gets another value, or none, in the order in which that
	// happens, under the server's lock.
	OnChange func(key, value string, ok bool)

	mu      sync.Mutex
	entries map[string]*entry
	numbers map[shared.ID]shared.NumberState
	tiers   []*Tier
	settled sync.Cond // of mu: a tier has delivered a push
	author  *Tier     // who made the request that is being served; nil: none that is connected
}

// kind is what an entry is.
type kind uint8

const (
	value kind = iota
	lease
	tombstone
)

// entry is what the server has of a key.
type entry struct {
	kind     kind
	value    []byte
	version  shared.Version
	deadline int64         // in the server's time; 0 for never, below 0 a negative entry's
	until    int64         // when it is gone; 0: never
	beside   beside        // the lease of a process that loads the value again
	changed  chan struct{} // closed when another entry has its place
}

// beside is a lease beside a value.
type beside struct {
	version shared.Version
	until   int64
}

// NewServer returns an empty server with leases.
func NewServer() *Server {
	s := &Server{Leases: true, entries: map[string]*entry{}, numbers: map[shared.ID]shared.NumberState{}}
	s.settled.L = &s.mu
	return s
}

// now is the server's time, in milliseconds.
func (s *Server) now() int64 { return time.Now().UnixMilli() }

func (s *Server) leaseTime() time.Duration {
	if s.LeaseTime == 0 {
		return 10 * time.Second
	}
	return s.LeaseTime
}

// find is the entry of a key, nil without one. The caller holds mu.
func (s *Server) find(key string) *entry {
	e := s.entries[key]
	if e != nil && e.until != 0 && e.until <= s.now() {
		s.take(key)
		return nil
	}
	return e
}

// take takes an entry out. The caller holds mu.
func (s *Server) take(key string) {
	if e := s.entries[key]; e != nil {
		close(e.changed)
		delete(s.entries, key)
		s.changed(key, entry{kind: tombstone})
	}
}

// changed calls OnChange.
func (s *Server) changed(key string, e entry) {
	if s.OnChange != nil {
		s.OnChange(key, string(e.value), e.kind == value && e.deadline >= 0)
	}
}

// put gives a key another entry, of a new version. The caller holds mu.
func (s *Server) put(key string, e entry) shared.Version {
	if old := s.entries[key]; old != nil {
		close(old.changed)
	}
	e.version, e.changed = newVersion(), make(chan struct{})
	s.entries[key] = &e
	s.changed(key, e)
	return e.version
}

func newVersion() shared.Version { return shared.Version(1 + rand.Uint64N(1<<63)) }

// expects reports whether a key has what a write expects. The caller holds mu.
func (s *Server) expects(key string, x shared.Expect) bool {
	if e := s.find(key); e != nil {
		return x.Any || e.version == x.Version
	}
	return x.Any || x.Version == 0
}

// push queues a push for every tier but that of the author. The caller holds mu, and calls
// deliver without it.
func (s *Server) push(p push) {
	for _, t := range s.tiers {
		if t != s.author {
			t.pushes = append(t.pushes, p)
		}
	}
}

// deliver delivers the pushes that are not held.
func (s *Server) deliver() {
	s.mu.Lock()
	tiers := append([]*Tier(nil), s.tiers...)
	s.mu.Unlock()
	for _, t := range tiers {
		t.deliver()
	}
}

// Remove takes an entry out as the server's own doing, and informs every tier: it has expired,
// or was evicted.
func (s *Server) Remove(key string) {
	s.mu.Lock()
	s.author = nil
	s.take(key)
	s.push(push{key: key})
	s.mu.Unlock()
	s.deliver()
}

// Value is the value that the server has of a key, and whether it has one.
func (s *Server) Value(key string) (v string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.find(key)
	if e == nil || e.kind != value || e.deadline < 0 {
		return "", false
	}
	return string(e.value), true
}
