package remote

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/servertest"
	"github.com/firncache/firn/remote/internal/wire"
)

// store is the local tiers of a test: it notes what it is told.
type store struct {
	mu      sync.Mutex
	changed sync.Cond
	keys    map[string]int
	numbers map[shared.ID]int
	epochs  int
}

func newStore() *store {
	s := &store{keys: map[string]int{}, numbers: map[shared.ID]int{}}
	s.changed.L = &s.mu
	return s
}

func (s *store) note(what func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	what()
	s.changed.Broadcast()
}

func (s *store) Invalidate(key []byte)         { s.note(func() { s.keys[string(key)]++ }) }
func (s *store) InvalidateNumber(id shared.ID) { s.note(func() { s.numbers[id]++ }) }
func (s *store) EpochChanged()                 { s.note(func() { s.epochs++ }) }
func (s *store) Now() int64                    { return time.Now().UnixMilli() - 1000 }
func (s *store) Grace() int64                  { return 0 }
func (s *store) UsedNumbers(int) []shared.ID   { return nil }
func (s *store) ReadKeys() [][]byte            { return nil }
func (s *store) Seals() int                    { return 1 << 10 }

// wait waits until it was told something, and fails the test if that does not come.
func (s *store) wait(t *testing.T, what string, told func() bool) {
	t.Helper()
	stop := time.AfterFunc(servertest.Patience, func() { s.note(func() { s.epochs = -1 << 40 }) })
	defer stop.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !told() {
		if s.epochs < -1<<39 {
			t.Fatalf("%s: not told", what)
		}
		s.changed.Wait()
	}
}

// opened is a tier in use.
type opened struct {
	*sharedTier
	store *store
	trust *shared.Trust
	given Options
}

// openTier is Open, for what the cache sees.
func openTier(o Options) (*sharedTier, error) {
	t, err := Open(o)
	if err != nil {
		return nil, err
	}
	return t.tier, nil
}

// open opens a tier on servers, and closes it with the test.
func open(t *testing.T, o Options, addrs ...string) opened {
	t.Helper()
	return openTuned(t, o, func(*sharedTier) {}, addrs...)
}

// unnoticed is a tier that takes no silence for a loss.
func unnoticed(tier *sharedTier) { tier.common.Rhythm.Silence = time.Hour }

// openTuned is open with a change of what follows from the options.
func openTuned(t *testing.T, o Options, tune func(*sharedTier), addrs ...string) opened {
	t.Helper()
	o.Addrs = addrs
	if o.Namespace == "" {
		o.Namespace = "test"
	}
	if o.Timeout == 0 {
		o.Timeout = servertest.Patience
	}
	o.Log = slog.New(slog.NewTextHandler(t.Output(), nil))
	tier, err := openTier(o)
	if err != nil {
		t.Fatal(err)
	}
	tune(tier)
	s := newStore()
	tier.common.AfterPong = func() { s.note(func() {}) }
	trust, err := tier.Open(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tier.Close(context.Background()) })
	return opened{tier, s, trust, o}
}

// wire is the way to a server that owns slots.
func (t *sharedTier) wire() *wire.Wire { return t.cluster.Owners()[0] }

func (o opened) set(t *testing.T, key, value string) shared.Written {
	t.Helper()
	w, err := o.Write(t.Context(), shared.Entry{Key: []byte(key), Value: []byte(value)}, shared.Anything)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (o opened) get(t *testing.T, key string) (string, shared.Found) {
	t.Helper()
	f, err := o.Read(t.Context(), nil, shared.Query{Key: []byte(key)})
	if err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	return string(f.Value), f
}

func (o opened) missing(t *testing.T, key string) shared.Found {
	t.Helper()
	f, err := o.Read(t.Context(), nil, shared.Query{Key: []byte(key)})
	if !errors.Is(err, shared.ErrNotFound) {
		t.Fatalf("%s: %q, %v: want not found", key, f.Value, err)
	}
	return f
}

func TestReadsWhatAnotherWrites(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	a, b := open(t, Options{}, s.Addr), open(t, Options{}, s.Addr)
	b.missing(t, "k")
	written := a.set(t, "k", "one")
	value, f := b.get(t, "k")
	if value != "one" || f.Version != written.Version || f.Stamp == 0 {
		t.Fatalf("%q, %+v: want one, version %d", value, f, written.Version)
	}
	b.store.wait(t, "of a's write", func() bool { return b.store.keys["k"] == 1 })
	if err := a.Remove(t.Context(), []byte("k"), shared.Anything); err != nil {
		t.Fatal(err)
	}
	b.store.wait(t, "of a's removal", func() bool { return b.store.keys["k"] == 2 })
	b.missing(t, "k")
	if n := len(a.store.keys); n != 0 {
		t.Errorf("a was told of its own writes: %v", a.store.keys)
	}
}

func (o opened) stats() (s shared.Stats) {
	o.sharedTier.Stats(&s)
	return s
}
