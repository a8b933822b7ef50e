package lincheck

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/firncache/firn"
)

// clr is a Clear of the typed caches' namespace, besides the calls on a key.
const clr op = 100

// named is a value that says which key it is of.
type named struct {
	Key   int
	Value uint64
	Fill  []byte
}

// byKeyAndClear gives every key's part the Clears, which concern all keys.
func byKeyAndClear(history []porcupine.Operation) (parts [][]porcupine.Operation) {
	var clears, others []porcupine.Operation
	for _, o := range history {
		if o.Input.(call).op == clr {
			clears = append(clears, o)
		} else {
			others = append(others, o)
		}
	}
	for _, part := range byKey(others) {
		parts = append(parts, append(part, clears...))
	}
	return parts
}

// typedRegister is register with Clears.
var typedRegister = porcupine.Model{
	Partition: byKeyAndClear,
	Init:      register.Init,
	Step: func(state, input, output any) (bool, any) {
		if input.(call).op == clr {
			return true, absent
		}
		return register.Step(state, input, output)
	},
	DescribeOperation: register.DescribeOperation,
}

// forgetful is a key of a cache that evicts below a front: a read that passes
// the front by may find nothing, and the next finds the value in the front. But
// it is the last one.
var forgetful = porcupine.Model{
	Partition: byKeyAndClear,
	Init:      register.Init,
	Step: func(state, input, output any) (bool, any) {
		if in := input.(call); in.op == get && !output.(answer).ok {
			return true, state
		}
		return typedRegister.Step(state, input, output)
	},
	DescribeOperation: register.DescribeOperation,
}

// typedWorkload is a random concurrent history of typed calls, each by one of
// several typed caches of one namespace.
type typedWorkload struct {
	keys, clients, calls, filler int
	tagged                       bool // all values have a tag, which stands in for Clear
	fill                         func(rng *rand.Rand) int
}

func (w typedWorkload) run(t *testing.T, handles []*firn.Typed[int, named], seed uint64) []porcupine.Operation {
	handle := func(rng *rand.Rand) *firn.Typed[int, named] { return handles[rng.IntN(len(handles))] }
	return record(t, w.clients, w.calls, seed, func(rng *rand.Rand, next func() uint64) (any, func() (answer, error)) {
		in := call{op: []op{get, get, get, get, set, set, del}[rng.IntN(7)], key: rng.IntN(w.keys)}
		if rng.IntN(30) == 0 {
			in = call{op: clr}
			if w.tagged {
				in.value = uint64(1 + rng.IntN(2))
			}
		}
		if in.op == set {
			in.value = next()
		}
		h := handle(rng)
		fill := w.fill(rng)
		if w.tagged && in.op == set {
			return in, func() (answer, error) {
				return answer{}, h.SetWith(context.Background(), in.key, named{in.key, in.value, make([]byte, fill)}, firn.SetOptions{Tags: []string{"all"}})
			}
		}
		return in, func() (answer, error) { return doTyped(h, in, fill) }
	}, func(rng *rand.Rand, client, i int) (err error) {
		for f := range w.filler {
			err = errors.Join(err, handle(rng).Set(1000+client*1000+i*10+f, named{Fill: make([]byte, w.fill(rng))}))
		}
		return err
	})
}

func doTyped(handle *firn.Typed[int, named], in call, fill int) (out answer, err error) {
	switch in.op {
	case set:
		return out, handle.Set(in.key, named{in.key, in.value, make([]byte, fill)})
	case del:
		return out, handle.Delete(in.key)
	case clr:
		switch in.value {
		case 1:
			return out, handle.InvalidateTag(context.Background(), "all")
		case 2:
			return out, handle.ExpireTag(context.Background(), "all")
		}
		return out, handle.Clear(context.Background())
	}
	v, ok := handle.Get(in.key)
	if ok && v.Key != in.key {
		err = fmt.Errorf("key %d has the value of %d", in.key, v.Key)
	}
	return answer{value: v.Value, ok: ok}, err
}

// typedHandles are typed caches of one namespace: two with hot values, and one without.
func typedHandles(t *testing.T, c *firn.Cache) (handles []*firn.Typed[int, named]) {
	t.Helper()
	for _, opts := range []firn.TypedOptions[int, named]{{HotValues: 100, ReadOnly: true}, {ReadOnly: true}, {}} {
		typed, err := firn.NewTyped(c, "n", opts)
		if err != nil {
			t.Fatal(err)
		}
		handles = append(handles, typed)
	}
	return handles
}

// Typed caches of one namespace, some with fronts, are one register a key.
func TestTypedLinearizable(t *testing.T) {
	var hits uint64
	for seed := range uint64(rounds) {
		c := open(t, 32<<20)
		w := typedWorkload{keys: 3, clients: 5, calls: 50, fill: func(rng *rand.Rand) int { return rng.IntN(300) }}
		if !check(t, typedRegister, w.run(t, typedHandles(t, c), seed)) {
			t.Fatalf("seed %d: not linearizable", seed)
		}
		hits += c.Stats().FrontHits
		c.Close()
	}
	if hits == 0 {
		t.Error("no front hits: the test shows nothing")
	}
}

// InvalidateTag and ExpireTag of a tag that all values have are a Clear to reads, whether expired
// values are kept or not: none finds a value from before. One may miss: a Set that began before
// can replace a later one's value by its own, which is obsolete.
func TestTagsLinearizable(t *testing.T) {
	for seed := range uint64(rounds) {
		c, err := firn.Open(firn.Options{RAMBytes: 32 << 20, Loading: firn.LoadingOptions{StaleIfError: time.Duration(seed%2) * time.Hour}})
		if err != nil {
			t.Fatal(err)
		}
		w := typedWorkload{keys: 3, clients: 5, calls: 50, tagged: true, fill: func(rng *rand.Rand) int { return rng.IntN(300) }}
		if !check(t, forgetful, w.run(t, typedHandles(t, c), seed)) {
			t.Fatalf("seed %d: not linearizable", seed)
		}
		c.Close()
	}
}

// Under eviction a read may miss, and finds nothing but the last value.
func TestTypedLinearizableWithEviction(t *testing.T) {
	var hits, evictions uint64
	for seed := range uint64(rounds) {
		c := open(t, 256<<10)
		w := typedWorkload{keys: 3, clients: 5, calls: 50, filler: 2, fill: func(rng *rand.Rand) int { return 500 + rng.IntN(2000) }}
		if !check(t, forgetful, w.run(t, typedHandles(t, c), seed)) {
			t.Fatalf("seed %d: not linearizable", seed)
		}
		hits += c.Stats().FrontHits
		evictions += c.Stats().Evictions
		c.Close()
	}
	if hits == 0 || evictions == 0 {
		t.Errorf("%d front hits, %d evictions: the test shows nothing", hits, evictions)
	}
}
