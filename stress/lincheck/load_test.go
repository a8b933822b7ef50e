package lincheck

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/firncache/firn"
	"github.com/firncache/firn/stats"
)

// loadHistory is a random concurrent history of loads and writes.
type loadHistory struct {
	t     *testing.T
	c     *firn.Cache
	clock atomic.Int64 // of the history: its order is exact
	sets  atomic.Uint64
	loads []atomic.Uint64 // by key

	mu  sync.Mutex
	ops []porcupine.Operation
}

var errSource = errors.New("the source is down")

func (h *loadHistory) record(client int, in call, do func() answer) {
	began := h.clock.Add(1)
	out := do()
	op := porcupine.Operation{ClientId: client, Input: in, Output: out, Call: began, Return: h.clock.Add(1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, op)
}

// loader is a source that answers each load with a number of its own, at times
// with nothing or an error, and takes its time.
func (h *loadHistory) loader(rng *rand.Rand) firn.MultiLoadFunc {
	yields, what := rng.IntN(20), rng.IntN(8)
	return func(_ context.Context, keys [][]byte) ([][]byte, error) {
		values := make([][]byte, len(keys))
		for i, key := range keys {
			k := int(key[0] - '0')
			in := call{op: began, key: k, value: firstLoad + h.loads[k].Add(1)}
			if what == 0 {
				in.value = foundNone
			} else {
				values[i] = binary.LittleEndian.AppendUint64(nil, in.value)
			}
			h.record(-1, in, func() answer { return answer{} })
		}
		for range yields {
			runtime.Gosched()
		}
		if what == 1 {
			return nil, errSource
		}
		return values, nil
	}
}

// one is a bulk loader as a loader of one key.
func one(load firn.MultiLoadFunc) firn.LoadFunc {
	return func(ctx context.Context, key []byte) ([]byte, error) {
		values, err := load(ctx, [][]byte{key})
		if err == nil && values[0] == nil {
			err = firn.ErrNotFound
		}
		if err != nil {
			return nil, err
		}
		return values[0], nil
	}
}

func (h *loadHistory) answer(v []byte, err error) answer {
	switch {
	case err == nil && len(v) == 8:
		return answer{value: binary.LittleEndian.Uint64(v), ok: true}
	case err == firn.ErrNotFound:
		return answer{value: foundNone}
	case err == errSource:
		return answer{failed: true}
	}
	h.t.Errorf("%d bytes, %v", len(v), err)
	return answer{failed: true}
}

// step makes one random call.
func (h *loadHistory) step(rng *rand.Rand, client int) {
	ctx, k := context.Background(), rng.IntN(len(h.loads))
	key := []byte{'0' + byte(k)}
	load := h.loader(rng)
	switch rng.IntN(9) {
	case 0:
		in := call{op: set, key: k, value: h.sets.Add(1)}
		h.record(client, in, func() answer {
			if err := h.c.Set(key, binary.LittleEndian.AppendUint64(nil, in.value)); err != nil {
				h.t.Error(err)
			}
			return answer{}
		})
	case 1:
		h.record(client, call{op: del, key: k}, func() answer {
			if err := h.c.Delete(key); err != nil {
				h.t.Error(err)
			}
			return answer{}
		})
	case 2, 3:
		h.record(client, call{op: get, key: k}, func() answer {
			if v, ok := h.c.Get(nil, key); ok {
				return h.answer(v, nil)
			}
			return answer{}
		})
	case 4:
		h.record(client, call{op: refresh, key: k}, func() answer {
			return h.answer(h.c.Refresh(ctx, nil, key, one(load)))
		})
	case 5:
		h.multi(client, load)
	default:
		h.record(client, call{op: getOrLoad, key: k}, func() answer {
			return h.answer(h.c.GetOrLoad(ctx, nil, key, one(load)))
		})
	}
}

// multi is a batch of all keys: one operation for each.
func (h *loadHistory) multi(client int, load firn.MultiLoadFunc) {
	var keys [][]byte
	for k := range h.loads {
		keys = append(keys, []byte{'0' + byte(k)})
	}
	var b firn.Batch
	start := h.clock.Add(1)
	err := h.c.GetOrLoadMulti(context.Background(), &b, keys, load)
	end := h.clock.Add(1)
	h.mu.Lock()
	defer h.mu.Unlock()
	for k := range keys {
		var out answer
		if v, ok := b.Value(k); ok {
			out = h.answer(v, nil)
		} else if err != nil {
			out = answer{failed: true} // its own error, or another key's
		} else {
			out = answer{value: foundNone}
		}
		h.ops = append(h.ops, porcupine.Operation{ClientId: client, Input: call{op: getOrLoad, key: k}, Output: out, Call: start, Return: end})
	}
}

func (h *loadHistory) run(seed uint64, clients, calls int) {
	var wg sync.WaitGroup
	for client := range clients {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(client)))
			for range calls {
				h.step(rng, client)
			}
		})
	}
	wg.Wait()
}

// Loads beside writes are linearizable.
func TestLoadsLinearizable(t *testing.T) {
	var ticks atomic.Int64 // the time passes with every look at it
	start := time.Now()
	for name, opts := range map[string]firn.Options{
		"plain":    {},
		"limited":  {Loading: firn.LoadingOptions{MaxLoads: 2}},
		"negative": {Loading: firn.LoadingOptions{NegativeTTL: time.Hour}},
		"everything": {
			TTL:   60 * time.Millisecond,
			Clock: func() time.Time { return start.Add(time.Duration(ticks.Add(1)) * time.Millisecond) },
			Loading: firn.LoadingOptions{
				TTLJitter: 0.1, NegativeTTL: 20 * time.Millisecond, RefreshAfter: 30 * time.Millisecond,
				StaleWhileRevalidate: 30 * time.Millisecond, StaleIfError: 60 * time.Millisecond, MaxLoads: 3,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var all stats.Cache
			for seed := range uint64(5 * rounds) {
				opts.RAMBytes = 1 << 20
				c, err := firn.Open(opts)
				if err != nil {
					t.Fatal(err)
				}
				h := &loadHistory{t: t, c: c, loads: make([]atomic.Uint64, 2)}
				h.run(seed, 5, 20)
				st := c.Stats()
				c.Close()
				h.mu.Lock() // a refresh may still begin
				ops := h.ops[:len(h.ops):len(h.ops)]
				h.mu.Unlock()
				for _, one := range byKey(ops) {
					if !check(t, loading(opts.TTL != 0), one) {
						t.Fatalf("seed %d: not linearizable:\n%s", seed, listing(one))
					}
				}
				all.Loads.NegativeHits += st.Loads.NegativeHits
				all.Loads.StaleServed += st.Loads.StaleServed
				all.Loads.Refreshes += st.Loads.Refreshes
			}
			t.Logf("%d negative hits, %d stale values, %d refreshes", all.Loads.NegativeHits, all.Loads.StaleServed, all.Loads.Refreshes)
			if opts.Loading.NegativeTTL != 0 && all.Loads.NegativeHits == 0 || opts.Loading.StaleWhileRevalidate != 0 && all.Loads.StaleServed == 0 {
				t.Error("the history lacks what it is to show")
			}
		})
	}
}

// listing is a history, a line for each call.
func listing(history []porcupine.Operation) string {
	slices.SortFunc(history, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	var b strings.Builder
	for _, o := range history {
		fmt.Fprintf(&b, "%4d-%-4d client %2d: %s\n", o.Call, o.Return, o.ClientId, describeLoad(o.Input, o.Output))
	}
	return b.String()
}

// The model notices a load whose answer is there, or is given, after the write
// that superseded it.
func TestNoticesSupersededLoads(t *testing.T) {
	load := call{op: began, value: firstLoad + 1}
	loaded := answer{value: firstLoad + 1, ok: true}
	for _, x := range []struct {
		ops  []call
		outs []answer
		ok   bool
	}{
		{[]call{load, {op: getOrLoad}, {op: get}}, []answer{{}, loaded, loaded}, true},
		{[]call{load, {op: getOrLoad}, {op: del}, {op: get}}, []answer{{}, loaded, {}, {}}, true},
		{[]call{load, {op: getOrLoad}, {op: del}, {op: get}}, []answer{{}, loaded, {}, loaded}, false},
		{[]call{load, {op: del}, {op: getOrLoad}}, []answer{{}, {}, loaded}, false},
		{[]call{load, {op: set, value: 5}, {op: getOrLoad}}, []answer{{}, {}, {value: 5, ok: true}}, true},
		{[]call{load, {op: set, value: 5}, {op: getOrLoad}}, []answer{{}, {}, loaded}, false},
		{[]call{load, {op: set, value: 5}, {op: refresh}}, []answer{{}, {}, {ok: true}}, false},
		{[]call{{op: began, value: foundNone}, {op: getOrLoad}, {op: set, value: 5}, {op: getOrLoad}}, []answer{{}, {value: foundNone}, {}, {value: foundNone}}, false},
	} {
		var history []porcupine.Operation
		for i, in := range x.ops {
			history = append(history, porcupine.Operation{Input: in, Output: x.outs[i], Call: int64(2 * i), Return: int64(2*i + 1)})
		}
		if got := check(t, loading(false), history); got != x.ok {
			t.Errorf("%v -> %v: accepted: %v", x.ops, x.outs, got)
		}
	}
}

func describeLoad(input, output any) string {
	in, out := input.(call), output.(answer)
	name := map[op]string{began: "load", getOrLoad: "getOrLoad", refresh: "refresh"}[in.op]
	if name == "" {
		return describe(input, output)
	}
	return fmt.Sprintf("%s(%d, %d) -> %d, %v, failed %v", name, in.key, in.value, out.value, out.ok, out.failed)
}
