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
	"github.com/firncache/firn/internal/record"
)

// newUnsampled is a tier whose policy wants to know of no key.
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

// Get and GetWithDeadline find what the general search finds, for keys and values of all
// lengths around those that they treat differently, in one piece and in several, with and
// without deadlines, whatever dst is, in tables with and without chains, sampled or not.
// They leave dst's neighbours alone, and count.
func TestGetIsGetSlow(t *testing.T) {
	for _, mask := range []uint64{0, 0xffff_000f_0000_00ff} { // the second makes chains, and equal tags
		for _, sampled := range []bool{false, true} {
			t.Run(fmt.Sprintf("%x/%v", mask, sampled), func(t *testing.T) { testGetIsGetSlow(t, mask, sampled) })
		}
	}
}

func testGetIsGetSlow(t *testing.T, mask uint64, sampled bool) {
	now := int64(1_000_000)
	tier := newUnsampled(t, Config{Bytes: 8 << 20, Seed: 1, Now: func() int64 { return now }, Ticking: true, HashMask: mask})
	if sampled {
		tier.tuner = policy.NewTuner(8 << 20)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	n := 4000
	if invariants.Race { // where there is one search only
		n = 1000
	}
	keys, values := randomRecords(t, tier, rng, n, now)
	hits := 0
	for i, key := range keys {
		v := values[i/2]
		for _, room := range []int{0, 7, 16, 40, len(v), (len(v) + 15) &^ 15, len(v) + 128, 800} {
			before := rng.IntN(20)
			whole := bytes.Repeat([]byte{0xaa}, before+room+32)
			dst := whole[: before : before+room]
			want, wantAt, found := tier.getSlow(bytes.Clone(dst), offheap.String(key))
			for _, withDeadline := range []bool{false, true} {
				hitsBefore, missesBefore := tier.reads.sum()
				var got []byte
				var ok bool
				at := wantAt
				if withDeadline {
					got, at, ok = tier.GetWithDeadline(dst, key)
				} else {
					got, ok = tier.Get(dst, key)
				}
				if ok != found || at != wantAt || !bytes.Equal(got, want) {
					t.Fatalf("key %d of %d bytes, value of %d, room %d: got %x, %d, %v; want %x, %d, %v", i, len(key), len(v), room, got, at, ok, want, wantAt, found)
				}
				if !bytes.Equal(whole[before+room:], bytes.Repeat([]byte{0xaa}, 32)) || !bytes.Equal(whole[:before], bytes.Repeat([]byte{0xaa}, before)) {
					t.Fatalf("key %d: bytes beside the room of %d were written", i, room)
				}
				hitsAfter, missesAfter := tier.reads.sum()
				if h, m := hitsAfter-hitsBefore, missesAfter-missesBefore; h+m != 1 || ok != (h == 1) {
					t.Fatalf("key %d: hit %v, and %d hits and %d misses were counted", i, ok, h, m)
				}
			}
			if found {
				hits++
			}
		}
	}
	if hits < len(keys) {
		t.Errorf("%d hits", hits)
	}
}

// randomRecords sets n keys. Behind each one of those that it returns comes one that
// differs from it in a bit.
func randomRecords(t *testing.T, tier *Tier, rng *rand.Rand, n int, now int64) (keys, values [][]byte) {
	t.Helper()
	for range n {
		key := make([]byte, rng.IntN(20)+rng.IntN(2)*rng.IntN(60)+rng.IntN(40)/39*rng.IntN(1100))
		value := make([]byte, rng.IntN(40)+rng.IntN(2)*rng.IntN(200)+rng.IntN(10)/9*rng.IntN(3000))
		absent := setRandom(t, tier, rng, key, value, now)
		keys, values = append(keys, key, absent), append(values, value)
	}
	return keys, values
}

// setRandom fills a key and a value, sets them, half of them with a deadline, which may
// have passed, and returns a key that differs in a bit.
func setRandom(t *testing.T, tier *Tier, rng *rand.Rand, key, value []byte, now int64) (absent []byte) {
	t.Helper()
	for _, b := range [][]byte{key, value} {
		for j := range b {
			b[j] = byte(rng.IntN(256))
		}
	}
	deadline := int64(0)
	if rng.IntN(2) == 0 {
		deadline = now + rng.Int64N(4*slack) - slack
	}
	if err := tier.setKey(key, value, deadline); err != nil {
		t.Fatal(err)
	}
	absent = bytes.Clone(key)
	if len(absent) > 0 {
		absent[rng.IntN(len(absent))] ^= 1
	}
	return absent
}

// Get compares every bit of a key. Hashes have one bit here: of the keys that
// differ in one, half have the key's.
func TestGetComparesTheKey(t *testing.T) {
	for seed := range uint64(10) {
		for n := 4; n <= 100; n += 1 + n/33*10 {
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

// Get writes to the room behind dst what it returns, and nothing behind that: it may be
// another value's.
func TestGetWritesNoMore(t *testing.T) {
	tier := newUnsampled(t, Config{Bytes: 1 << 20, Seed: 1, Now: func() int64 { return 1 }})
	canary := bytes.Repeat([]byte{0xEE}, 700)
	for n := range 300 {
		key, value := fmt.Appendf(nil, "key of %d", n), bytes.Repeat([]byte{byte(n)}, n)
		if err := tier.setKey(key, value, 0); err != nil {
			t.Fatal(err)
		}
		for _, dst := range []int{0, 1, 30} {
			room := bytes.Clone(canary)
			if v, ok := tier.Get(room[:dst], key); !ok || !bytes.Equal(v[dst:], value) {
				t.Fatalf("value of %d bytes: %x, %v", n, v, ok)
			}
			if end := dst + n; !bytes.Equal(room[end:], canary[end:]) {
				t.Errorf("behind a value of %d bytes: %x", n, room[end:end+64])
			}
		}
	}
}

// A length that comes from reused memory is no reason to write behind dst.
func TestGetBelievesNoLengthOfReusedMemory(t *testing.T) {
	now := func() int64 { return 1 }
	tier := newUnsampled(t, Config{Bytes: 1 << 20, Seed: 1, Now: func() int64 { return now() }})
	key, value := []byte("a key"), []byte("the value")
	if err := tier.setKey(key, value, 10); err != nil { // near: the clock is asked
		t.Fatal(err)
	}
	s := tier.shardOf(tier.Hash(key))
	_, _, r, _ := s.find(tier.Hash(key), key)
	shape := &tier.header(r.off).shape
	was := shape.Load()
	shape.Store(uint32(record.ShapeOf(len(key), 200, true)))
	now = func() int64 { // between the length and the copy
		shape.Store(was)
		s.epoch.Add(1)
		now = func() int64 { return 1 }
		return 1
	}
	canary := bytes.Repeat([]byte{0xEE}, 300)
	room := bytes.Clone(canary)
	if v, ok := tier.Get(room[:0], key); !ok || string(v) != string(value) {
		t.Fatalf("%q, %v", v, ok)
	}
	if n := len(value); !bytes.Equal(room[n:], canary[n:]) {
		t.Errorf("behind the value: %x", room[n:])
	}
}

// Get raises the frequency of what it finds.
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
// values, whole, whichever of its loops copies it.
func TestGetWhole(t *testing.T) {
	for size, writes := range map[int]int{96: 500_000, 512: 1_000_000, 4000: 100_000} {
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
