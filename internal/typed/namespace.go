package typed

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/firncache/firn/internal/coherence"
	"github.com/firncache/firn/internal/ram"
	"github.com/firncache/firn/internal/tiered"
)

// Namespace is the part of a cache that belongs to the typed caches of one name.
// All methods are safe for concurrent use.
//
// # Generations
//
// Every key in it begins with the number of the namespace's generation, 64 random
// bits that no namespace of the cache has had before. Clear draws another: no key
// leads to the old entries any more, and they leave like all that are not read.
//
// A persistent cache has to find its entries again after a restart, and to find
// none that were cleared. So the number is an entry too, the record, under a key
// made of the namespace's name. It is replaced before Clear returns; and whoever
// finds no record, because it was evicted or lost, draws a new generation. So
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
// happens in a read: RefreshRecord leaves both to a goroutine. No user function
// runs under the lock: entries that the record drives out of RAM are reported after it.
type Namespace struct {
	store     *tiered.Store
	record    []byte            // key of the record
	current   coherence.Current // nil until it was found, or begun
	writing   chan struct{}     // the lock: holds one while the record is written
	restoring atomic.Bool       // a goroutine sees to the record
}

// RecordPrefix begins the key of each record. A program's own keys should not. It
// is part of the stored bytes, and so keeps an old word for a generation.
const RecordPrefix = "\x00firn epoch of "

// Namespaces are those of a cache.
type Namespaces struct {
	mu     sync.Mutex // held for a look into byName
	byName map[string]*Namespace
}

// Named is the namespace of a name, which may have no generation yet.
func (n *Namespaces) Named(store *tiered.Store, name string) *Namespace {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := n.byName[name]
	if s == nil {
		if n.byName == nil {
			n.byName = map[string]*Namespace{}
		}
		s = &Namespace{store: store, record: []byte(RecordPrefix + name), writing: make(chan struct{}, 1)}
		n.byName[name] = s
	}
	return s
}

// Open finds a namespace, or begins it.
func (n *Namespaces) Open(store *tiered.Store, name string) (*Namespace, error) {
	s := n.Named(store, name)
	ok, err := s.Find(context.Background())
	if err == nil && !ok {
		err = s.begin()
	}
	if err != nil {
		return nil, fmt.Errorf("namespace %q: %w", name, err)
	}
	return s, nil
}

// Generation is the current generation, nil if it was neither found nor begun.
func (s *Namespace) Generation() *coherence.Generation { return s.current.Load() }

// Current is where Generation looks.
func (s *Namespace) Current() *coherence.Current { return &s.current }

// Find gives the namespace the generation that the cache holds, unless it has
// one. It reports false if there is none: then the namespace is empty.
func (s *Namespace) Find(ctx context.Context) (ok bool, err error) {
	if s.current.Load() != nil {
		return true, nil
	}
	g, err := s.read(ctx)
	if g == nil {
		return false, err
	}
	if err = s.lock(ctx); err != nil { // whoever writes a record has it current before others do
		return false, err
	}
	defer s.unlock()
	s.current.CompareAndSwap(nil, g)
	return true, nil
}

// read reads the record. An error of the disk is a record lost, and with it all
// that the namespace holds; so it waits for a disk that is slow.
func (s *Namespace) read(ctx context.Context) (*coherence.Generation, error) {
	v, err := s.store.LookupWaiting(ctx, nil, s.record)
	if err != nil {
		return nil, ctx.Err()
	}
	g, _ := parseRecord(v)
	return g, nil
}

// parseRecord reads a record.
func parseRecord(v []byte) (g *coherence.Generation, ok bool) {
	if len(v) != coherence.GenerationLen {
		return nil, false
	}
	return &coherence.Generation{Number: binary.LittleEndian.Uint64(v)}, true
}

// begin begins the first generation, unless somebody else has.
func (s *Namespace) begin() error {
	return s.update(func(now *coherence.Generation, ev *ram.Evicted) error {
		if now != nil {
			return nil
		}
		return s.draw(ev)
	})
}

// Clear begins a new generation.
func (s *Namespace) Clear() error {
	return s.update(func(_ *coherence.Generation, ev *ram.Evicted) error { return s.draw(ev) })
}

// update calls change, with the current generation, under the lock, and reports
// the evicted records after it.
func (s *Namespace) update(change func(now *coherence.Generation, ev *ram.Evicted) error) error {
	var ev ram.Evicted
	_ = s.lock(context.Background())
	err := change(s.current.Load(), &ev)
	s.unlock()
	ev.Notify()
	return err
}

func (s *Namespace) lock(ctx context.Context) error {
	select {
	case s.writing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Namespace) unlock() { <-s.writing }

// draw makes a new generation the current one, once its record is written: what
// is stored in it must not outlive the record of the one before. The caller holds
// the lock.
func (s *Namespace) draw(ev *ram.Evicted) error {
	g := &coherence.Generation{Number: rand.Uint64()}
	err := s.write(g, ev)
	if err == nil {
		s.current.Store(g)
	}
	return err
}

// RefreshRecord sees to it that the record is there: in RAM, where being looked
// for makes it popular, and in the lower tier, where it outlives the process. It
// waits for nothing: it is called in reads, too.
func (s *Namespace) RefreshRecord() {
	if s.isCurrent(s.store.PeekFresh(nil, s.record)) {
		s.backUp()
	} else if s.restoring.CompareAndSwap(false, true) {
		go s.restore()
	}
}

// restore brings the record back to RAM. It is not written again as long as the
// lower tier has it: that copy would be dead before the new one is on the disk.
// Looking for it counts as no read.
func (s *Namespace) restore() {
	defer s.restoring.Store(false)
	below, okBelow := s.store.GetUncounted(nil, s.record) // not under the lock: a promoted record may drive others out
	_ = s.update(func(now *coherence.Generation, ev *ram.Evicted) error {
		if s.isCurrent(s.store.PeekFresh(nil, s.record)) || s.isCurrent(below, okBelow) {
			s.backUp()
			return nil
		}
		return s.write(now, ev) // it fails if the cache is closed
	})
}

// isCurrent reports whether a record was found, and is that of the current
// generation.
func (s *Namespace) isCurrent(v []byte, ok bool) bool {
	if !ok {
		return false
	}
	g, ok := parseRecord(v)
	return ok && g.Number == s.current.Load().Number
}

// write writes the record. The caller holds the lock.
func (s *Namespace) write(g *coherence.Generation, ev *ram.Evicted) error {
	if err := s.store.SetQuietly(s.record, g.Append(nil), 0, ev); err != nil {
		return err
	}
	s.backUp()
	return nil
}

// backUp gives the lower tier a copy, if there is one and it has none: a process
// that is killed finds its namespace again.
func (s *Namespace) backUp() { s.store.DemoteCopy(s.record) }
