package typed

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firncache/firn/internal/codec"
	"github.com/firncache/firn/internal/coherence"
	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/registry"
	"github.com/firncache/firn/internal/store"
)

// Namespace is the part of a cache that belongs to the typed caches of one name.
// All methods are safe for concurrent use.
//
// # Generations
//
// Every key in it begins with the number of the namespace's generation: a hash of its name
// and of what the store's registry has at the name's place. Clear changes that, so there is
// another number: no key leads to the old entries any more, and they leave like all that are
// not read. The registry outlives the process as the entries do, and is changed before Clear
// returns; so the next process finds the entries, and none that were cleared.
//
// Any number of namespaces share a fixed number of places. A Clear of one may therefore lose the
// entries of others, when those are opened again; it brings none back.
//
// With a shared tier all processes agree on the number, and a Clear is one for all: see
// shared_space.go.
//
// All typed caches of one name share the namespace, so that a Clear of one is a
// Clear of all. Its memory is given back when all of them were closed or forgotten.
//
// There may be a hundred thousand: a Namespace has 64 bytes, and what few of them need is apart.
type Namespace struct {
	Label   string // for people
	shape   *Shape
	current coherence.Current
	rest    atomic.Pointer[rest] // nil until it is needed
	users   int32                // typed caches that were not closed; common.mu guards it

	// Counters count the calls of the namespace's typed caches.
	Counters Counters
}

// common is what the namespaces of a cache have in common.
type common struct {
	mu    sync.Mutex // held while a namespace is opened, closed or cleared; no user function runs under it
	store *store.Store
}

// Shape says what the bytes of a namespace's keys and values mean. Namespaces share it.
type Shape struct {
	of          *common
	keys        string // the meaning of the keys: those of another are in another namespace
	fingerprint codec.Fingerprint
	text        string // what the values are, for people
}

// rest is what few namespaces need.
type rest struct {
	link  *link         // nil without a shared tier
	quota *local.Quota  // nil: none
	after time.Duration // Terms.ExpireAfterAccess
	rare  Rare
}

// Quota is the namespace's, nil for none.
func (s *Namespace) Quota() *local.Quota {
	if r := s.rest.Load(); r != nil {
		return r.quota
	}
	return nil
}

// terms are what its users have agreed on.
func (s *Namespace) terms() Terms {
	r := s.rest.Load()
	if r == nil {
		return Terms{}
	}
	return Terms{MaxBytes: r.quota.Max(), ExpireAfterAccess: r.after}
}

// link is what s has of the shared tier, nil without one.
func (s *Namespace) link() *link {
	if r := s.rest.Load(); r != nil {
		return r.link
	}
	return nil
}

// Rare are the counters of what is rare.
func (s *Namespace) Rare() *Rare {
	if s.rest.Load() == nil {
		s.rest.CompareAndSwap(nil, new(rest))
	}
	return &s.rest.Load().rare
}

// RareSoFar is Rare, nil if nothing was counted.
func (s *Namespace) RareSoFar() *Rare {
	if s.rest.Load() == nil {
		return nil
	}
	return s.Rare()
}

// id names the namespace in the registry.
func (s *Namespace) id() registry.ID { return s.shape.idOf(s.Label) }

// idOf names a namespace. The names of tags, and of others that are not typed caches', are different.
func (v *Shape) idOf(label string) registry.ID {
	return registry.IDOf(registry.Namespace, fmt.Sprintf("typed %q of %s", label, v.keys))
}

// begin gives a new namespace its first number. With a shared tier, it is one that no other
// process knows, until the first call gets theirs.
func (s *Namespace) begin(id registry.ID, terms Terms) error {
	store := s.shape.of.store
	number, numbers := max(rand.Uint64(), 1), store.Numbers()
	if numbers == nil {
		var err error
		if number, err = store.Generation(id); err != nil {
			return err
		}
	}
	r := &rest{quota: store.Quota(number, terms.MaxBytes), after: terms.ExpireAfterAccess}
	if numbers != nil {
		r.link = &link{numbers: numbers, id: id, place: id.SharedPlace()}
	}
	if r.quota != nil || r.link != nil || r.after != 0 {
		s.rest.Store(r)
	}
	s.current.Store(&coherence.Generation{Number: number})
	return nil
}

// setCurrent makes a generation the current one.
func (s *Namespace) setCurrent(g *coherence.Generation) {
	q := s.Quota()
	q.Begin(g.Number) // before a key has it
	old := s.current.Load()
	s.current.Store(g)
	if old.Number != g.Number {
		q.End(old.Number)
	}
}

// Generation is the current generation. With a shared tier it need not be trusted.
func (s *Namespace) Generation() *coherence.Generation { return s.current.Load() }

// Current is where Generation looks.
func (s *Namespace) Current() *coherence.Current { return &s.current }

// Clear begins a new generation. It fails with ErrClosed; with a shared tier, for which it
// waits, as Numbers.Renew does.
func (s *Namespace) Clear(ctx context.Context) error {
	of := s.shape.of
	of.mu.Lock()
	if s.users > 0 && s.link() != nil {
		of.mu.Unlock()
		return s.clearShared(ctx)
	}
	defer of.mu.Unlock()
	if s.users == 0 { // there may be another namespace of the name
		return local.ErrClosed
	}
	number, err := of.store.ClearNamespace(s.id())
	if err == nil {
		s.setCurrent(&coherence.Generation{Number: number})
	}
	return err
}
