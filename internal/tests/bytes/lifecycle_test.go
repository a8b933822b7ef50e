package bytes

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// use calls everything once and tells what a closed cache must not answer.
func use(c *firn.Cache, rng *rand.Rand) error {
	key := fmt.Append(nil, rng.IntN(1000))
	var b firn.Batch
	_, got := c.Get(nil, key)
	_, lookedUp := c.Lookup(context.Background(), nil, key)
	_, hasTTL := c.TTL(key)
	c.GetMulti(context.Background(), &b, [][]byte{key})
	_, inBatch := b.Value(0)
	for k, v := range c.All() {
		_, _ = k, v
		break
	}
	c.Len()
	c.Stats()
	if got || lookedUp == nil || hasTTL || inBatch || c.Has(key) || c.Len() > 0 {
		return errors.New("a closed cache holds something")
	}
	if !errors.Is(lookedUp, firn.ErrClosed) {
		return fmt.Errorf("Lookup of a closed cache: %w", lookedUp)
	}
	for name, err := range writes(c, key, rng) {
		if !errors.Is(err, firn.ErrClosed) {
			return fmt.Errorf("%s of a closed cache: %v: want ErrClosed", name, err)
		}
	}
	return nil
}

func writes(c *firn.Cache, key []byte, rng *rand.Rand) map[string]error {
	value := make([]byte, rng.IntN(20_000))
	_, loaded := c.GetOrLoad(context.Background(), nil, key, func(context.Context, []byte) ([]byte, error) { return value, nil })
	return map[string]error{
		"Set":         c.Set(key, value),
		"SetWithTTL":  c.SetWithTTL(key, value, time.Hour),
		"SetMulti":    c.SetMulti(context.Background(), [][]byte{key}, [][]byte{value}),
		"Delete":      c.Delete(key),
		"Clear":       c.Clear(context.Background()),
		"SetRAMBytes": c.SetRAMBytes(1 << 20),
		"GetOrLoad":   loaded,
	}
}

func TestUseAfterClose(t *testing.T) {
	c := harness.Open(t, firn.Options{RAMBytes: 1 << 20, TTL: time.Hour})
	for i := range 1000 {
		harness.Set(t, c, fmt.Append(nil, i), make([]byte, 100))
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
	if err := use(c, rand.New(rand.NewPCG(1, 1))); err != nil {
		t.Error(err)
	}
}

// Close while everything is called, twice at once: no fault, and closed
// afterwards.
func TestCloseUnderLoad(t *testing.T) {
	before := goroutines()
	for round := range 8 {
		c := harness.Open(t, firn.Options{RAMBytes: 1 << 20, TTL: time.Hour, OnEvict: func(_, _ []byte, _ firn.Cause) {}})
		var (
			wg    sync.WaitGroup
			calls atomic.Int64
			stop  atomic.Bool
		)
		for g := range 6 {
			wg.Go(func() {
				rng := rand.New(rand.NewPCG(uint64(g), uint64(round)))
				for !stop.Load() {
					calls.Add(1)
					if g%2 == 0 {
						for name, err := range writes(c, fmt.Append(nil, rng.IntN(1000)), rng) {
							if err != nil && !errors.Is(err, firn.ErrClosed) {
								t.Errorf("%s: %v", name, err)
							}
						}
						continue
					}
					use(c, rng)
				}
			})
		}
		for calls.Load() < 50 {
			runtime.Gosched()
		}
		for range 2 {
			wg.Go(func() {
				if err := c.Close(); err != nil {
					t.Error(err)
				}
				if err := use(c, rand.New(rand.NewPCG(1, 1))); err != nil { // whoever came first
					t.Error(err)
				}
			})
		}
		for range 3 { // some more calls after the end
			for n := calls.Load(); calls.Load() < n+6; {
				runtime.Gosched()
			}
		}
		stop.Store(true)
		wg.Wait()
		if err := use(c, rand.New(rand.NewPCG(1, 1))); err != nil {
			t.Error(err)
		}
	}
	settles(t, before)
}

// goroutines lists those that run code of this module, by their stacks' tops.
func goroutines() int {
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	n := 0
	for _, g := range strings.Split(string(buf), "\n\n") {
		if strings.Contains(g, "created by github.com/firncache/firn") && !strings.Contains(g, "firn_test") {
			n++
		}
	}
	return n
}

// settles waits for goroutines that are about to end.
func settles(t *testing.T, before int) {
	t.Helper()
	for watchdog := time.Now().Add(2 * time.Minute); goroutines() > before; runtime.Gosched() {
		if time.Now().After(watchdog) {
			t.Fatalf("%d goroutines are left, %d before", goroutines(), before)
		}
	}
}

// Caches that nobody closes go with the last reference to them. That their memory
// does too is for package memory of the module stress.
func TestDroppedWithoutClose(t *testing.T) {
	before := goroutines()
	for range 10 {
		c, err := firn.Open(firn.Options{RAMBytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.SetWithTTL([]byte("k"), []byte("v"), time.Hour); err != nil { // starts a goroutine
			t.Fatal(err)
		}
	}
	collected(t, "the goroutines", func() bool { return goroutines() <= before })
}

// A cache with an SSD tier that nobody closes is closed when the last reference to
// it goes: its files can be opened again, and its goroutines end.
func TestDroppedWithoutCloseSSD(t *testing.T) {
	before := goroutines()
	fs := vfstest.NewMem()
	for range 3 {
		forgotten(t, fs)
		collected(t, "the lock of the files", func() bool {
			c, err := firn.Open(firn.Options{RAMBytes: 1 << 20, SSD: harness.On(firn.SSDOptions{Bytes: 16 << 20}, fs)})
			if errors.Is(err, firn.ErrLocked) {
				return false
			} else if err != nil {
				t.Fatal(err)
			}
			return c.Close() == nil
		})
	}
	collected(t, "the goroutines", func() bool { return goroutines() <= before })
}

// collected returns when the collector has taken what nobody can reach, which is
// when gone says so.
func collected(t *testing.T, what string, gone func() bool) {
	t.Helper()
	for watchdog := time.Now().Add(2 * time.Minute); !gone(); {
		runtime.GC()
		if time.Now().After(watchdog) {
			t.Fatalf("%s: still there", what)
		}
	}
}

// forgotten fills a cache that nobody can reach when it returns.
func forgotten(t *testing.T, fs vfs.FS) {
	c := harness.HybridOn(t, fs)
	for k := range 5000 {
		key, value := harness.Numbered(k)
		harness.Set(t, c, key, value)
	}
}

// An iteration yields what stays exactly once, whatever else comes, goes and
// changes, and while the index grows and shrinks.
func TestAllYieldsWhatStaysOnce(t *testing.T) {
	c := harness.Open(t, firn.Options{RAMBytes: 16 << 20})
	const stable = 5000
	for i := range stable {
		key := fmt.Append(nil, "stable", i)
		harness.Set(t, c, key, cachetest.AppendValue(nil, key, 1, 30))
	}
	var wg sync.WaitGroup
	var stop atomic.Bool
	for g := range 2 {
		wg.Go(func() {
			for n := 0; !stop.Load(); n++ {
				for i := range 10_000 {
					key := fmt.Append(nil, "other", g, i)
					if n%2 == 0 {
						c.Set(key, make([]byte, i%50))
					} else {
						c.Delete(key)
					}
				}
			}
		})
	}
	defer wg.Wait()
	defer stop.Store(true)
	for round := range 10 {
		seen := map[string]int{}
		for k, v := range c.All() {
			if !strings.HasPrefix(string(k), "stable") {
				continue
			}
			seen[string(k)]++
			if _, err := cachetest.Sequence(k, v); err != nil {
				t.Errorf("key %s: %v", k, err)
			}
			if len(seen)%100 == 0 { // replaced meanwhile: still there
				c.Set(k, cachetest.AppendValue(nil, k, 2, 30+round))
			}
		}
		if len(seen) != stable {
			t.Errorf("round %d: %d of %d keys", round, len(seen), stable)
		}
		for k, n := range seen {
			if n != 1 {
				t.Errorf("round %d: key %s is yielded %d times", round, k, n)
			}
		}
	}
}

// An iteration may be left, and the loop may use the cache.
func TestAllMayBeLeft(t *testing.T) {
	c := harness.Open(t, firn.Options{RAMBytes: 1 << 20})
	for i := range 2000 {
		harness.Set(t, c, fmt.Append(nil, i), []byte("v"))
	}
	for range 3 {
		for k := range c.All() {
			if err := c.Delete(k); err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	for range c.All() {
		if err := c.Clear(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := c.Len(); n != 0 {
		t.Errorf("%d entries, want none", n)
	}
}
