package lincheck

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/firncache/firn"
)

// cache is what is checked; a test of this package checks a broken one.
type cache interface {
	Get(dst, key []byte) ([]byte, bool)
	Set(key, value []byte) error
	Delete(key []byte) error
}

// workload is a random concurrent history.
type workload struct {
	keys, clients, calls int
	filler               int // sets of other keys between two calls, to evict
	sizes                func(rng *rand.Rand) int
}

// run makes the calls and returns their history.
func (w workload) run(t *testing.T, c cache, seed uint64) []porcupine.Operation {
	return record(t, w.clients, w.calls, seed, func(rng *rand.Rand, next func() uint64) (any, func() (answer, error)) {
		in := call{op: op([]int{0, 0, 0, 1, 1, 2}[rng.IntN(6)]), key: rng.IntN(w.keys)}
		if in.op == set {
			in.value = next()
		}
		return in, func() (answer, error) { return do(c, in, w.sizes(rng)) }
	}, func(rng *rand.Rand, client, i int) (err error) {
		for f := range w.filler {
			err = errors.Join(err, c.Set(fmt.Appendf(nil, "filler %d %d %d", client, i, f), make([]byte, w.sizes(rng))))
		}
		return err
	})
}

// record returns the history of clients that make so many calls each, between which
// they fill the cache. choose draws a call; next numbers the values that are set.
// Times are from one counter, so that their order is exact.
func record(t *testing.T, clients, calls int, seed uint64, choose func(rng *rand.Rand, next func() uint64) (any, func() (answer, error)), fill func(rng *rand.Rand, client, i int) error) []porcupine.Operation {
	var (
		clock, values atomic.Uint64
		mu            sync.Mutex
		history       []porcupine.Operation
		wg            sync.WaitGroup
		start         = make(chan struct{})
	)
	next := func() uint64 { return values.Add(1) }
	for client := range clients {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(client)))
			var mine []porcupine.Operation
			<-start
			for i := range calls {
				in, run := choose(rng, next)
				began := clock.Add(1)
				out, err := run()
				ended := clock.Add(1)
				if err != nil {
					t.Error(err)
				}
				mine = append(mine, porcupine.Operation{ClientId: client, Input: in, Output: out, Call: int64(began), Return: int64(ended)})
				if err := fill(rng, client, i); err != nil {
					t.Error(err)
				}
			}
			mu.Lock()
			history = append(history, mine...)
			mu.Unlock()
		})
	}
	close(start)
	wg.Wait()
	return history
}

// do makes one call. A value carries its number at both ends.
func do(c cache, in call, size int) (out answer, err error) {
	key := fmt.Appendf(nil, "key %d", in.key)
	switch in.op {
	case set:
		value := make([]byte, 16+size)
		binary.LittleEndian.PutUint64(value, in.value)
		binary.LittleEndian.PutUint64(value[len(value)-8:], in.value)
		return out, c.Set(key, value)
	case del:
		return out, c.Delete(key)
	}
	v, ok := c.Get(nil, key)
	if !ok {
		return out, nil
	}
	if len(v) < 16 {
		return out, fmt.Errorf("a value of %d bytes", len(v))
	}
	first, last := binary.LittleEndian.Uint64(v), binary.LittleEndian.Uint64(v[len(v)-8:])
	if first != last {
		return out, fmt.Errorf("torn value: %d at its beginning, %d at its end", first, last)
	}
	return answer{value: first, ok: true}, nil
}

func check(t *testing.T, model porcupine.Model, history []porcupine.Operation) bool {
	t.Helper()
	switch porcupine.CheckOperationsTimeout(model, history, time.Minute) {
	case porcupine.Unknown:
		t.Fatal("the checker needs more than a minute: make the histories shorter")
	case porcupine.Illegal:
		return false
	}
	return true
}

func open(t *testing.T, bytes int64) *firn.Cache {
	c, err := firn.Open(firn.Options{RAMBytes: bytes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

const rounds = 100

var sizes = map[string]func(rng *rand.Rand) int{
	"one size":      func(*rand.Rand) int { return 200 }, // overwritten in place
	"many sizes":    func(rng *rand.Rand) int { return rng.IntN(300) },
	"long":          func(rng *rand.Rand) int { return 5000 + rng.IntN(2)*3000 }, // straddling
	"beyond a page": func(*rand.Rand) int { return 6000 },
}

// Without eviction every history is linearizable exactly.
func TestLinearizable(t *testing.T) {
	for name, size := range sizes {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(rounds) {
				c := open(t, 32<<20)
				w := workload{keys: 3, clients: 6, calls: 60, sizes: size}
				if !check(t, register, w.run(t, c, seed)) {
					t.Fatalf("seed %d: not linearizable", seed)
				}
				if n := c.Stats().Evictions; n != 0 {
					t.Fatalf("%d evictions", n)
				}
				c.Close()
			}
		})
	}
}

// With eviction a value may go at any time, and then it stays away.
func TestLinearizableWithEviction(t *testing.T) {
	evictions := uint64(0)
	for name, size := range sizes {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(rounds) {
				c := open(t, firn.MinRAMBytes)
				w := workload{keys: 3, clients: 6, calls: 60, filler: 3, sizes: size}
				if !check(t, evicting, w.run(t, c, seed)) {
					t.Fatalf("seed %d: not linearizable", seed)
				}
				evictions += c.Stats().Evictions
				c.Close()
			}
		})
	}
	if evictions == 0 {
		t.Error("nothing was evicted")
	}
}

// stale is a cache that answers some gets with the value before the last.
type stale struct {
	mu        sync.Mutex
	now, then map[string][]byte
	gets      int
}

func (s *stale) Get(dst, key []byte) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	from := s.now
	if s.gets++; s.gets%50 == 0 {
		from = s.then
	}
	v, ok := from[string(key)]
	return append(dst, v...), ok
}

func (s *stale) Set(key, value []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v, ok := s.now[string(key)]; ok {
		s.then[string(key)] = v
	}
	s.now[string(key)] = value
	return nil
}

func (s *stale) Delete(key []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.now, string(key))
	return nil
}

// The checker notices a cache that is wrong now and then, under both models.
func TestNoticesStaleValues(t *testing.T) {
	for name, model := range map[string]porcupine.Model{"exact": register, "evicting": evicting, "moving": moving} {
		c := &stale{now: map[string][]byte{}, then: map[string][]byte{}}
		w := workload{keys: 3, clients: 4, calls: 100, sizes: sizes["one size"]}
		if check(t, model, w.run(t, c, 1)) {
			t.Errorf("%s: stale values pass", name)
		}
	}
}
