package front

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/firncache/firn"
)

func TestNew(t *testing.T) {
	if _, err := New[string, int](0); err == nil || err.Error() != "front: room for 0 values: want at least 1" {
		t.Errorf("got %v", err)
	}
}

func open(t *testing.T, n int) (*firn.Cache, *firn.Typed[uint64, uint64]) {
	t.Helper()
	c, err := firn.Open(firn.Options{RAMBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	hot, err := New[uint64, uint64](n)
	if err != nil {
		t.Fatal(err)
	}
	typed, err := firn.NewTyped(c, "users", firn.TypedOptions[uint64, uint64]{Front: hot})
	if err != nil {
		t.Fatal(err)
	}
	return c, typed
}

func TestFront(t *testing.T) {
	c, typed := open(t, 10)
	if err := typed.Set(1, 100); err != nil {
		t.Fatal(err)
	}
	for range 4 { // the first two reach the bytes
		if v, ok := typed.Get(1); !ok || v != 100 {
			t.Fatalf("got %d, %v", v, ok)
		}
	}
	if n := c.Stats().FrontHits; n != 2 {
		t.Errorf("%d front hits, want 2", n)
	}
	typed.Set(1, 200)
	if v, ok := typed.Get(1); !ok || v != 200 {
		t.Errorf("after Set: %d, %v", v, ok)
	}
	typed.Delete(1)
	if typed.Has(1) {
		t.Error("found after Delete")
	}
}

// Each key is written by one goroutine, upwards, and read by others, while
// otter evicts.
func TestStress(t *testing.T) {
	c, typed := open(t, 20)
	const keys = 32
	var acked [keys]atomic.Uint64
	var writers, readers sync.WaitGroup
	done := make(chan struct{})
	rounds := 30_000
	if testing.Short() {
		rounds = 3_000
	}
	for w := range uint64(4) {
		writers.Go(func() {
			rng := rand.New(rand.NewPCG(1, w))
			for version := uint64(1); version < uint64(rounds); version++ {
				key := rng.Uint64N(keys/4)*4 + w
				if rng.IntN(5) == 0 {
					typed.Delete(key)
				} else if err := typed.Set(key, version*keys+key); err != nil {
					t.Error(err)
				}
				acked[key].Store(version)
			}
		})
	}
	for r := range uint64(3) {
		readers.Go(func() {
			rng := rand.New(rand.NewPCG(2, r))
			for {
				select {
				case <-done:
					return
				default:
				}
				key := rng.Uint64N(keys)
				least := acked[key].Load()
				if v, ok := typed.Get(key); ok && (v%keys != key || v/keys < least) {
					t.Errorf("key %d has version %d of key %d, after %d was acknowledged", key, v/keys, v%keys, least)
					return
				}
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
	if c.Stats().FrontHits == 0 {
		t.Error("no front hits: the test shows nothing")
	}
}

func Example() {
	c, err := firn.Open(firn.Options{RAMBytes: 1 << 20})
	if err != nil {
		panic(err)
	}
	defer c.Close()
	type User struct{ Name string }

	hot, err := New[int, User](10_000)
	if err != nil {
		panic(err)
	}
	users, err := firn.NewTyped(c, "users", firn.TypedOptions[int, User]{Front: hot})
	if err != nil {
		panic(err)
	}
	users.Set(7, User{"Ada"})
	users.Get(7) // decodes
	users.Get(7) // decodes, and the front keeps it
	u, ok := users.Get(7)
	fmt.Println(u.Name, ok, c.Stats().FrontHits)
	// Output: Ada true 1
}

// Keys may be structs: writes reach the front by their bytes.
func TestFrontOfStructKeys(t *testing.T) {
	type place struct {
		Country string
		Row     int16
		X, Y    float64
	}
	c, _ := open(t, 10)
	hot, err := New[place, string](10)
	if err != nil {
		t.Fatal(err)
	}
	typed, err := firn.NewTyped(c, "places", firn.TypedOptions[place, string]{Front: hot})
	if err != nil {
		t.Fatal(err)
	}
	key := place{"CH", 7, 46.5, -0.5}
	typed.Set(key, "old")
	for range 3 {
		typed.Get(key)
	}
	if hits := c.Stats().FrontHits; hits == 0 {
		t.Fatal("no front hits: the test shows nothing")
	}
	typed.Set(key, "new")
	if v, ok := typed.Get(key); !ok || v != "new" {
		t.Errorf("after a Set: got %q, %v", v, ok)
	}
}
