package lincheck

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/firncache/firn"
)

// The calls that change a key by what it is, besides those on a register. All write numbers of
// their own, but for the increments.
const (
	increment    op = 50 + iota // by call.value; absent is 0
	swap                        // call.old for call.value
	setIfAbsent                 // call.value
	getAndDelete                //
	compute                     // stores call.value; the answer is what it has replaced
	keep                        // Compute that looks, and leaves all as it is
)

// change is a call with the value that it expects.
type change struct {
	call
	old uint64
}

// counter is a key whose value is 8 bytes, and is changed by what it is. With misses, a plain
// get may find nothing while the value is on its way between two tiers; what changes a
// key finds it even so.
func counter(misses bool) porcupine.Model {
	return porcupine.Model{
		Partition: func(history []porcupine.Operation) (parts [][]porcupine.Operation) {
			keys := map[int][]porcupine.Operation{}
			for _, o := range history {
				k := o.Input.(change).key
				keys[k] = append(keys[k], o)
			}
			for _, part := range keys {
				parts = append(parts, part)
			}
			return parts
		},
		Init: func() any { return absent },
		Step: func(state, input, output any) (bool, any) {
			now, in, out := state.(uint64), input.(change), output.(answer)
			found := out == answer{value: now, ok: now != absent}
			switch in.op {
			case set:
				return true, in.value
			case del:
				return true, absent
			case get:
				return found || misses && !out.ok, now
			case increment:
				return out.value == now+in.value, now + in.value
			case swap:
				if out.ok {
					return now == in.old, in.value
				}
				return now != in.old, now
			case setIfAbsent:
				if out.ok {
					return now == absent, in.value
				}
				return now != absent, now
			case getAndDelete:
				return found, absent
			case compute:
				return found, in.value
			}
			return found, now // keep
		},
		DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v -> %+v", input, output) },
	}
}

// doChange makes one call.
func doChange(c *firn.Cache, in change) (out answer, err error) {
	ctx, key := context.Background(), fmt.Appendf(nil, "key %d", in.key)
	bytes := func(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }
	number := func(v []byte, ok bool) answer {
		if !ok {
			return answer{}
		}
		return answer{value: binary.LittleEndian.Uint64(v), ok: true}
	}
	switch in.op {
	case set:
		return out, c.Set(key, bytes(in.value))
	case del:
		return out, c.Delete(key)
	case increment:
		n, err := c.Increment(ctx, key, int64(in.value))
		return answer{value: uint64(n)}, err
	case swap:
		out.ok, err = c.CompareAndSwap(ctx, key, bytes(in.old), bytes(in.value))
		return out, err
	case setIfAbsent:
		out.ok, err = c.SetIfAbsent(ctx, key, bytes(in.value))
		return out, err
	case getAndDelete:
		v, err := c.GetAndDelete(ctx, nil, key)
		if errors.Is(err, firn.ErrNotFound) {
			return out, nil
		}
		return number(v, err == nil), err
	case compute, keep:
		err = c.Compute(ctx, key, func(old []byte, ok bool) ([]byte, firn.Op) {
			out = number(old, ok)
			runtime.Gosched() // lets others in between
			if in.op == keep {
				return nil, firn.OpKeep
			}
			return bytes(in.value), firn.OpUpdate
		})
		return out, err
	}
	v, ok := c.Get(nil, key)
	return number(v, ok), nil
}

// changes returns a history of such calls. Values are multiples of a thousand, so that
// increments make no two the same.
func changes(t *testing.T, c *firn.Cache, keys, filler int, seed uint64) []porcupine.Operation {
	return record(t, 6, 50, seed, func(rng *rand.Rand, next func() uint64) (any, func() (answer, error)) {
		all := []op{get, set, del, increment, increment, swap, swap, setIfAbsent, getAndDelete, compute, compute, keep}
		in := change{call: call{op: all[rng.IntN(len(all))], key: rng.IntN(keys)}}
		switch n := next(); in.op {
		case increment:
			in.value = 1 + rng.Uint64()%3
		default:
			in.value = n * 1000
		}
		if in.op == swap { // a guess that is often right
			if v, ok := c.Get(nil, fmt.Appendf(nil, "key %d", in.key)); ok {
				in.old = binary.LittleEndian.Uint64(v)
			} else {
				in.old = 1
			}
		}
		return in, func() (answer, error) { return doChange(c, in) }
	}, func(rng *rand.Rand, client, i int) (err error) {
		for f := range filler {
			err = errors.Join(err, c.Set(fmt.Appendf(nil, "filler %d %d %d", client, i, f), make([]byte, 5000+rng.IntN(3000))))
		}
		return err
	})
}

// Where nothing can be evicted, all that is made of Compute is linearizable, together with
// the plain calls.
func TestComputeLinearizable(t *testing.T) {
	for seed := range uint64(rounds) {
		c := open(t, 32<<20)
		if !check(t, counter(false), changes(t, c, 2, 0, seed)) {
			t.Fatalf("seed %d: not linearizable", seed)
		}
		if n := c.Stats().Evictions; n != 0 {
			t.Fatalf("%d evictions", n)
		}
		c.Close()
	}
}

// Values that move between RAM and an SSD on which there is room for all are never absent for
// what is made of Compute, though a Get may miss them.
func TestComputeLinearizableWithSSD(t *testing.T) {
	rounds := rounds / 4
	if testing.Short() {
		rounds = 3
	}
	var hits, promotions uint64
	for seed := range uint64(rounds) {
		c, err := firn.Open(firn.Options{RAMBytes: firn.MinRAMBytesWithSSD, Log: slog.New(slog.DiscardHandler), SSD: firn.SSDOptions{
			Dir: t.TempDir(), Bytes: 64 << 20, SegmentBytes: 64 << 10, Admission: firn.AdmitAll}})
		if err != nil {
			t.Fatal(err)
		}
		ok := check(t, counter(true), changes(t, c, 3, 4, seed))
		s := c.Stats()
		hits, promotions = hits+s.SSD.Hits, promotions+s.SSD.Promotions
		if lost := s.Evictions + s.SSD.Evictions + s.SSD.Dropped + s.SSD.Rejected + s.SSD.IndexFull + s.SSD.Collisions; lost != 0 {
			t.Logf("seed %d: %d values lost: it shows nothing", seed, lost)
		} else if !ok {
			t.Fatalf("seed %d: not linearizable", seed)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d hits of the SSD tier, %d promotions", hits, promotions)
	if hits == 0 || promotions == 0 {
		t.Error("nothing moved")
	}
}

// The checker notices a change that is lost, one that is made of an older value, and a
// value that counts as absent.
func TestNoticesLostChanges(t *testing.T) {
	for name, x := range map[string]struct {
		ins  []change
		outs []answer
		ok   bool
	}{
		"right": {[]change{{call: call{op: increment, value: 1}}, {call: call{op: increment, value: 1}}, {call: call{op: keep}}},
			[]answer{{value: 1}, {value: 2}, {value: 2, ok: true}}, true},
		"lost": {[]change{{call: call{op: increment, value: 1}}, {call: call{op: increment, value: 1}}},
			[]answer{{value: 1}, {value: 1}}, false},
		"older": {[]change{{call: call{op: set, value: 5}}, {call: call{op: set, value: 6}}, {call: call{op: compute, value: 7}}},
			[]answer{{}, {}, {value: 5, ok: true}}, false},
		"absent": {[]change{{call: call{op: set, value: 5}}, {call: call{op: setIfAbsent, value: 7}}},
			[]answer{{}, {ok: true}}, false},
		"swapped": {[]change{{call: call{op: set, value: 5}}, {call: call{op: swap, value: 7}, old: 6}},
			[]answer{{}, {ok: true}}, false},
	} {
		var history []porcupine.Operation
		for i, in := range x.ins {
			history = append(history, porcupine.Operation{Input: in, Output: x.outs[i], Call: int64(2 * i), Return: int64(2*i + 1)})
		}
		for _, misses := range []bool{false, true} {
			if got := check(t, counter(misses), history); got != x.ok {
				t.Errorf("%s: accepted: %v", name, got)
			}
		}
	}
}
