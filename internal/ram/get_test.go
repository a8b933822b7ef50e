package ram

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/offheap"
	"github.com/firncache/firn/internal/policy"
)

// newUnsampled is a tier whose policy wants to know of no key: such a read is
// getAny's.
func newUnsampled(t *testing.T, cfg Config) *Tier {
	t.Helper()
	tier, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tier.Close() })
	tier.tuner = policy.NewTuner(0)
	return tier
}

// Get finds what getAny finds, for keys and values of all lengths around those
// that it treats differently, with and without deadlines, whatever dst is, in
// tables with and without chains. It leaves dst's neighbours alone, and counts.
func TestGetIsGetAny(t *testing.T) {
	for _, mask := range []uint64{0, 0xffff_000f_0000_00ff} { // the second makes chains, and equal tags
		now := int64(1_000_000)
		tier := newUnsampled(t, Config{Bytes: 8 << 20, Seed: 1, Now: func() int64 { return now }, Ticking: true, HashMask: mask})
		rng := rand.New(rand.NewPCG(1, 1))
		var keys [][]byte
		for i := range 4000 {
			key := make([]byte, rng.IntN(20)+rng.IntN(2)*20)
			for j := range key {
				key[j] = byte(rng.IntN(256))
			}
			value := make([]byte, rng.IntN(40)+rng.IntN(2)*rng.IntN(560))
			for j := range value {
				value[j] = byte(i + j)
			}
			deadline := int64(0)
			if rng.IntN(2) == 0 {
				deadline = now + rng.Int64N(4*slack) - slack // also past ones
			}
			if err := tier.setKey(key, value, deadline); err != nil {
				t.Fatal(err)
			}
			absent := bytes.Clone(key)
			if len(absent) > 0 {
				absent[rng.IntN(len(absent))] ^= 1
			}
			keys = append(keys, key, absent)
		}
		hits := 0
		for i, key := range keys {
			for _, room := range []int{0, 7, 16, 40, 800} {
				before := rng.IntN(20)
				whole := bytes.Repeat([]byte{0xaa}, before+room+32)
				dst := whole[: before : before+room]
				want, found := getAny(tier, bytes.Clone(dst), offheap.String(key))
				counted, _ := tier.reads.sum()
				got, ok := tier.Get(dst, key)
				if ok != found || !bytes.Equal(got, want) {
					t.Fatalf("mask %x, key %d of %d bytes, room %d: got %x, %v; want %x, %v", mask, i, len(key), room, got, ok, want, found)
				}
				if !bytes.Equal(whole[before+room:], bytes.Repeat([]byte{0xaa}, 32)) || !bytes.Equal(whole[:before], bytes.Repeat([]byte{0xaa}, before)) {
					t.Fatalf("mask %x, key %d: bytes beside the room of %d were written", mask, i, room)
				}
				if n, _ := tier.reads.sum(); ok && n != counted+1 || !ok && n != counted {
					t.Fatalf("mask %x, key %d: hit %v, and %d hits were counted, %d before", mask, i, ok, n, counted)
				}
				if ok {
					hits++
				}
			}
		}
		if hits < len(keys) {
			t.Errorf("mask %x: %d hits", mask, hits)
		}
	}
}

// Get compares every bit of a key. Hashes have one bit here: of the keys that
// differ in one, half have the key's.
func TestGetComparesTheKey(t *testing.T) {
	for seed := range uint64(10) {
		for n := 4; n <= 17; n++ {
			tier := newUnsampled(t, Config{Bytes: MinBytes, Seed: seed, Now: func() int64 { return 1 }, HashMask: 1 << 63})
			key := bytes.Repeat([]byte("k"), n)
			if err := tier.setKey(key, make([]byte, 20), 0); err != nil {
				t.Fatal(err)
			}
			buf := make([]byte, 0, 64)
			if _, ok := tier.Get(buf, key); !ok {
				t.Fatalf("%q is not found", key)
			}
			for bit := range 8 * n {
				key[bit/8] ^= 1 << (bit % 8)
				if _, ok := tier.Get(buf, key); ok {
					t.Errorf("%q is found", key)
				}
				key[bit/8] ^= 1 << (bit % 8)
			}
			for _, other := range [][]byte{key[:n-1], append(key, 'k')} {
				if _, ok := tier.Get(buf, other); ok {
					t.Errorf("%q is found", other)
				}
			}
		}
	}
}

//go:noinline
func getIntoNew(tier *Tier, key []byte) []byte {
	v, _ := tier.Get(make([]byte, 0, 64), key)
	return v
}

//go:noinline
func overwriteStack(n int) int {
	var a [64]byte
	for i := range a {
		a[i] = byte(n)
	}
	if n == 0 {
		return int(a[3])
	}
	return overwriteStack(n-1) + int(a[n%64])
}

// The compiler knows that what Get returns may be dst: one that is made for it
// does not lie on the stack.
func TestGetReturnsDst(t *testing.T) {
	tier := newUnsampled(t, Config{Bytes: 1 << 20, Seed: 1, Now: func() int64 { return 1 }})
	key, value := []byte("a short key"), "the value of that key"
	if err := tier.setKey(key, []byte(value), 0); err != nil {
		t.Fatal(err)
	}
	v := getIntoNew(tier, key)
	overwriteStack(50)
	if string(v) != value {
		t.Errorf("got %q, which lay on the stack", v)
	}
}

// Get raises the frequency of what it finds as getAny does.
func TestGetTouches(t *testing.T) {
	tier := newUnsampled(t, Config{Bytes: 1 << 20, Seed: 1, Now: func() int64 { return 1 }})
	for i := range 100 {
		if err := tier.setKey(fmt.Appendf(nil, "the key %03d", i), make([]byte, 20), 0); err != nil {
			t.Fatal(err)
		}
	}
	buf := make([]byte, 0, 64)
	for i := range 100 {
		key := fmt.Appendf(nil, "the key %03d", i)
		hash := tier.Hash(key)
		s := tier.shardOf(hash)
		freq := func() int {
			s.mu.Lock()
			defer s.mu.Unlock()
			b, slot, _, ok := s.find(hash, key)
			if !ok {
				t.Fatalf("%s is not there", key)
			}
			return b.Freq(slot)
		}
		for before := freq(); before < 5; before++ {
			tier.Get(buf, key)
			if n := freq(); n != min(before+1, 3) {
				t.Fatalf("%s: frequency %d after a read, %d before", key, n, before)
			}
		}
	}
}

// A Get beside writers that overwrite the value in place returns one of the
// values, whole: a short one, which assembly copies, and a longer one.
func TestGetWhole(t *testing.T) {
	for size, writes := range map[int]int{512: 1_000_000, 4000: 100_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) { testGetWhole(t, size, writes) })
	}
}

func testGetWhole(t *testing.T, size, writes int) {
	tier := newUnsampled(t, Config{Bytes: 1 << 20, Seed: 1, Now: func() int64 { return 1 }})
	if invariants.Race || testing.Short() {
		writes /= 20
	}
	key := []byte("overwritten")
	var group sync.WaitGroup
	defer group.Wait()
	done := make(chan struct{})
	group.Go(func() {
		defer close(done)
		value := make([]byte, size)
		for i := range writes {
			for j := 0; j < len(value); j += 8 {
				binary.LittleEndian.PutUint64(value[j:], uint64(i))
			}
			if err := tier.setKey(key, value, 0); err != nil {
				t.Error(err)
				return
			}
		}
	})
	buf := make([]byte, 0, size)
	for ended := false; !ended; {
		select {
		case <-done:
			ended = true
		default:
		}
		for range 100 {
			v, ok := tier.Get(buf, key)
			if ok && (len(v) != size || !bytes.Equal(v[8:], v[:size-8])) {
				t.Fatalf("torn: %x", v)
			}
		}
	}
}

// A Get finds what is there while the index grows and shrinks around it: with few
// buckets, of which many split and merge all the time, and with long chains, whose
// entries fill each other's places.
func TestGetWhileIndexMoves(t *testing.T) {
	for name, mask := range map[string]uint64{"buckets": 0, "chains": 0xffff_ffff_0000_0003} {
		t.Run(name, func(t *testing.T) { testGetWhileIndexMoves(t, mask) })
	}
}

func testGetWhileIndexMoves(t *testing.T, mask uint64) {
	tier := newUnsampled(t, Config{Bytes: MinBytes, Seed: 1, Now: func() int64 { return 1 }, HashMask: mask})
	cycles := 5_000
	if invariants.Race || testing.Short() {
		cycles = 300
	}
	const there, others = 50, 100 // those below are set in a circle; there are 50 to 150 at once
	var keys [there + 2*others][]byte
	for i := range keys {
		keys[i] = fmt.Appendf(nil, "key %06d", i)
	}
	value := make([]byte, 16)
	set := func(n uint64) bool {
		err := tier.setKey(keys[n%uint64(len(keys))], value, 0)
		if err != nil {
			t.Error(err)
		}
		return err == nil
	}
	var from, to atomic.Uint64 // those that are there
	for to.Load() < there && set(to.Load()) {
		to.Add(1)
	}
	var group sync.WaitGroup
	defer group.Wait()
	done := make(chan struct{})
	group.Go(func() {
		defer close(done)
		for range cycles {
			for range others {
				if !set(to.Load()) {
					return
				}
				to.Add(1)
			}
			for range others {
				n := from.Add(1) - 1
				tier.deleteKey(keys[n%uint64(len(keys))])
			}
		}
	})
	buf := make([]byte, 0, 64)
	for i := uint64(0); ; i++ {
		select {
		case <-done:
			return
		default:
		}
		first := from.Load()
		for n := first + i%8; n < to.Load(); n += 8 {
			if _, ok := tier.Get(buf, keys[n%uint64(len(keys))]); !ok && from.Load() <= n {
				t.Fatalf("%s is missed", keys[n%uint64(len(keys))])
			}
		}
	}
}
