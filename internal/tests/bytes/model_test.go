package bytes

import (
	"context"
	"errors"
	goflag "flag"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/tests/harness"
	"pgregory.net/rapid"
)

// A run is like the one before, unless another seed is given.
func init() {
	if err := goflag.Set("rapid.seed", "1"); err != nil {
		panic(err)
	}
}

// modelStore is a Cache as the model's machine calls it.
type modelStore struct {
	*firn.Cache
	batch firn.Batch
	reads int
	told  atomic.Uint64 // OnEvict: entries that left for want of room
}

func (s *modelStore) Clear() error { return s.Cache.Clear(context.Background()) }

func (s *modelStore) SetMulti(keys, values [][]byte) error {
	return s.Cache.SetMulti(context.Background(), keys, values)
}

// Get takes turns between the three calls that read one key.
func (s *modelStore) Get(dst, key []byte) ([]byte, bool) {
	s.reads++
	switch s.reads % 3 {
	case 0:
		v, err := s.Lookup(context.Background(), dst, key)
		return v, err == nil
	case 1:
		v, err := s.GetOrLoad(context.Background(), dst, key, func(context.Context, []byte) ([]byte, error) {
			return nil, firn.ErrNotFound
		})
		return v, err == nil
	default:
		return s.Cache.Get(dst, key)
	}
}

// Set takes turns with GetOrLoad where that stores the same.
func (s *modelStore) Set(key, value []byte, ttl time.Duration) error {
	if ttl == 0 && s.reads%5 == 0 && !s.Has(key) {
		unstored := s.Stats().Loads.StoreErrors
		v, err := s.GetOrLoad(context.Background(), nil, key, func(_ context.Context, k []byte) ([]byte, error) {
			if string(k) != string(key) {
				return nil, fmt.Errorf("the loader was called for key %x", k)
			}
			return append([]byte{}, value...), nil
		})
		if err == nil && string(v) != string(value) {
			return fmt.Errorf("GetOrLoad returned %d bytes: want %d", len(v), len(value))
		}
		synctest.Wait() // for the load's goroutine, which tells what left for its value after the callers have got it
		if s.Stats().Loads.StoreErrors > unstored {
			return s.Cache.Set(key, value) // which says why not
		}
		return err
	}
	if ttl == 0 {
		return s.Cache.Set(key, value)
	}
	return s.SetWithTTL(key, value, ttl)
}

func (s *modelStore) Touch(key []byte, ttl time.Duration) (bool, error) {
	return s.Cache.Touch(context.Background(), key, ttl)
}

func (s *modelStore) GetMulti(keys [][]byte) (values [][]byte, ok []bool) {
	s.Cache.GetMulti(context.Background(), &s.batch, keys)
	for i := range s.batch.Len() {
		v, found := s.batch.Value(i)
		values, ok = append(values, v), append(ok, found)
	}
	return values, ok
}

func (s *modelStore) Sweep() { harness.Sweep(s.Cache) }

// changes are the operations of a Machine's changes, but for SetTTL.
var changes = [...]firn.Op{cachetest.Keep: firn.OpKeep, cachetest.Set: firn.OpSet, cachetest.Update: firn.OpUpdate, cachetest.Remove: firn.OpDelete}

func (s *modelStore) Compute(key []byte, f func(old []byte, ok bool) ([]byte, cachetest.Change, time.Duration)) error {
	return s.Cache.Compute(context.Background(), key, func(old []byte, ok bool) ([]byte, firn.Op) {
		value, do, ttl := f(old, ok)
		if do == cachetest.SetTTL {
			return value, firn.OpSetTTL(ttl)
		}
		return value, changes[do]
	})
}

func (s *modelStore) SetIfAbsent(key, value []byte) (bool, error) {
	return s.Cache.SetIfAbsent(context.Background(), key, value)
}

func (s *modelStore) CompareAndSwap(key, old, new []byte) (bool, error) {
	return s.Cache.CompareAndSwap(context.Background(), key, old, new)
}

func (s *modelStore) GetAndDelete(dst, key []byte) ([]byte, bool, error) {
	v, err := s.Cache.GetAndDelete(context.Background(), dst, key)
	if errors.Is(err, firn.ErrNotFound) {
		return v, false, nil
	}
	return v, err == nil, err
}

func (s *modelStore) All(yield func(key, value []byte) bool) {
	for k, v := range s.Cache.All() {
		if !yield(k, v) {
			return
		}
	}
}

func (s *modelStore) SetBytes(n int64) error  { return s.SetRAMBytes(n) }
func (s *modelStore) TooLarge(err error) bool { return errors.Is(err, firn.ErrTooLarge) }

// Check demands that all evictions were told.
func (s *modelStore) Check() error {
	if told, counted := s.told.Load(), s.Stats().Evictions; told != counted {
		return fmt.Errorf("OnEvict was told of %d evictions: want %d", told, counted)
	}
	return nil
}

// fataler is a *testing.T or a *rapid.T.
type fataler interface{ Fatal(...any) }

// newMachine is for bubbles.
func newMachine(t fataler, bytes int64, keys int) (*cachetest.Machine, *modelStore) {
	m := &cachetest.Machine{Clock: &cachetest.Clock{}, Bytes: bytes, Keys: cachetest.Keys(keys, int(bytes/20)), Rest: synctest.Wait}
	s := &modelStore{}
	c, err := firn.Open(firn.Options{
		RAMBytes: bytes, MaxRAMBytes: 4 * bytes, Clock: m.Clock.Now,
		OnEvict: func(key, value []byte, cause firn.Cause) {
			m.Evicted(key, value, cachetest.Cause(cause))
			if cause == firn.CauseCapacity {
				s.told.Add(1)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Cache, m.Store = c, s
	return m, s
}

// finish compares everything with the model and closes the cache.
func finish(t fataler, m *cachetest.Machine, s *modelStore) {
	if err := m.Finish(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// Every call against the model: see package cachetest for what it demands.
func TestModel(t *testing.T) {
	steps := 300
	if invariants.Race { // where bytes move by atomic words
		steps = 100
	}
	for _, bytes := range []int64{64 << 10, 200_000, 1 << 20} {
		if invariants.Race && bytes > 200_000 {
			t.Logf("%d bytes: left to builds without the race detector, where bytes move by atomic words", bytes)
			continue
		}
		t.Run(fmt.Sprint(bytes), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				rng := cachetest.Random{Rand: rand.New(rand.NewPCG(uint64(bytes), 1))}
				m, s := newMachine(t, bytes, 150)
				for i := range steps {
					if err := m.Step(rng); err != nil {
						t.Fatalf("step %d: %v", i, err)
					}
				}
				finish(t, m, s)
			})
		})
	}
}

// choices makes rapid draw a machine's choices, so that it can shrink them.
type choices struct{ *rapid.T }

func (c choices) Below(n int) int { return rapid.IntRange(0, n-1).Draw(c.T, "choice") }

func TestModelRapid(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(struct{ rapid.TB }{t}, func(t *rapid.T) { // no *testing.T, which it would ask for its deadline
			bytes := int64(rapid.SampledFrom([]int{64 << 10, 100_000, 1 << 20}).Draw(t, "bytes"))
			m, s := newMachine(t, bytes, 40)
			for range rapid.IntRange(1, 40).Draw(t, "steps") {
				if err := m.Step(choices{t}); err != nil {
					t.Fatal(err)
				}
			}
			finish(t, m, s)
		})
	})
}

func FuzzCommands(f *testing.F) {
	rng := rand.NewChaCha8([32]byte{2})
	for _, n := range []int{20, 100, cachetest.FuzzBytes} {
		input := make([]byte, n)
		rng.Read(input)
		f.Add(input, uint8(n))
	}
	f.Fuzz(func(t *testing.T, input []byte, size uint8) {
		synctest.Test(t, func(t *testing.T) {
			m, s := newMachine(t, 64<<10<<(size%3), 60)
			for src := cachetest.Fuzzed(input); len(src.Rest) > 0; {
				if err := m.Step(src); err != nil {
					t.Fatal(err)
				}
			}
			finish(t, m, s)
		})
	})
}
