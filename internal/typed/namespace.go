package typed

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"weak"

	"github.com/firncache/firn/internal/codec"
	"github.com/firncache/firn/internal/coherence"
	"github.com/firncache/firn/internal/fleet"
	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/ram"
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
type Namespace struct {
	Label   string // for people
	values  Values // those of all its typed caches
	of      *Namespaces
	id      registry.ID
	current coherence.Current
	numbers *fleet.Numbers // nil without a shared tier
	quota   *ram.Quota     // nil: none
	apart   apart          // with one
	mu      sync.Mutex     // held while a number that was asked for becomes the current one; a leaf
	users   int            // typed caches that were not closed; of.mu guards it
	cleanup runtime.Cleanup

	// Counters count the calls of the namespace's typed caches.
	Counters Counters
}

// Namespaces are those of a cache that are in use. They do not keep them from being
// collected.
type Namespaces struct {
	mu    sync.Mutex // of open, and of changes of a number; no user function runs under it
	store *store.Store
	open  map[registry.ID]weak.Pointer[Namespace]
}

// Values say what the bytes of a namespace's values mean: those of others are not found.
type Values struct {
	Fingerprint codec.Fingerprint
	Text        string // the same for people, in short
}

// Open is the namespace of a name, for one more user; label is what people call it. It waits for nothing. It fails
// with ErrClosed, and where other users have values of another meaning.
func (n *Namespaces) Open(store *store.Store, name, label string, values Values, maxBytes int64) (*Namespace, error) {
	id := registry.IDOf(registry.Namespace, name)
	if store.Numbers() == nil {
		store.OpenRegistry() // which may evict, and calls the user then
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.store = store
	if store.Closed() {
		return nil, local.ErrClosed
	}
	if s := n.open[id].Value(); s != nil {
		if s.values.Fingerprint != values.Fingerprint {
			return nil, fmt.Errorf("it has %s while another typed cache of the namespace, not closed yet, has %s: want the same, or another name", values.Text, s.values.Text)
		}
		if most := s.quota.Max(); most != maxBytes {
			return nil, fmt.Errorf("TypedOptions.MaxBytes is %d, and that of another typed cache of the namespace, not closed yet, %d: want the same", maxBytes, most)
		}
		s.users++
		return s, nil
	}
	s, err := n.add(id, label, values, maxBytes)
	if err != nil {
		return nil, fmt.Errorf("namespace %q: %w", name, err)
	}
	return s, nil
}

// add adds a namespace to those in use. The caller holds mu.
func (n *Namespaces) add(id registry.ID, label string, values Values, maxBytes int64) (*Namespace, error) {
	s := &Namespace{of: n, Label: label, values: values, id: id, users: 1, numbers: n.store.Numbers()}
	number, err := s.firstNumber()
	if err != nil {
		return nil, err
	}
	s.quota = n.store.Quota(number, maxBytes)
	s.current.Store(&coherence.Generation{Number: number})
	if n.open == nil {
		n.open = map[registry.ID]weak.Pointer[Namespace]{}
	}
	n.open[id] = weak.Make(s)
	s.cleanup = runtime.AddCleanup(s, forget, forgotten{weak.Make(n), id, s.quota})
	return s, nil
}

// firstNumber is the number that a namespace begins with in this process. With a shared tier,
// it is one that no other process knows, until the first call asks for theirs.
func (s *Namespace) firstNumber() (uint64, error) {
	if s.numbers != nil {
		return max(rand.Uint64(), 1), nil
	}
	return s.of.store.Generation(s.id)
}

// forgotten names a namespace that nobody can reach any more, without keeping its cache.
type forgotten struct {
	of    weak.Pointer[Namespaces]
	id    registry.ID
	quota *ram.Quota
}

// forget forgets it, unless one of its name is in use again.
func forget(f forgotten) {
	n := f.of.Value()
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if s, ok := n.open[f.id]; ok && s.Value() == nil {
		delete(n.open, f.id)
		f.quota.Close()
	}
}

// Close ends one use of a namespace.
func (n *Namespaces) Close(s *Namespace) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if s.users--; s.users == 0 {
		s.cleanup.Stop()
		delete(n.open, s.id)
		s.quota.Close()
	}
}

// All are the namespaces in use.
func (n *Namespaces) All() (all []*Namespace) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, open := range n.open {
		if s := open.Value(); s != nil {
			all = append(all, s)
		}
	}
	return all
}

// Len is how many namespaces are in use.
func (n *Namespaces) Len() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.open)
}

// Quota is the namespace's, nil for none.
func (s *Namespace) Quota() *ram.Quota { return s.quota }

// setCurrent makes a generation the current one.
func (s *Namespace) setCurrent(g *coherence.Generation) {
	s.quota.Begin(g.Number) // before a key has it
	old := s.current.Load()
	s.current.Store(g)
	if old.Number != g.Number {
		s.quota.End(old.Number)
	}
}

// Generation is the current generation. With a shared tier it need not be trusted.
func (s *Namespace) Generation() *coherence.Generation { return s.current.Load() }

// Current is where Generation looks.
func (s *Namespace) Current() *coherence.Current { return &s.current }

// Clear begins a new generation. It fails with ErrClosed; with a shared tier, for which it
// waits, as Numbers.Renew does.
func (s *Namespace) Clear(ctx context.Context) error {
	s.of.mu.Lock()
	if s.users > 0 && s.numbers != nil {
		s.of.mu.Unlock()
		return s.clearShared(ctx)
	}
	defer s.of.mu.Unlock()
	if s.users == 0 { // there may be another namespace of the name
		return local.ErrClosed
	}
	number, err := s.of.store.ClearNamespace(s.id)
	if err == nil {
		s.setCurrent(&coherence.Generation{Number: number})
	}
	return err
}
