package ram

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/firncache/firn/internal/index"
	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/offheap"
)

// overlaps are settings with which no GetMulti goes key by key, and with which all do.
var overlaps = [...]uint64{0, math.MaxUint64}

// checkBatch compares a GetMulti with Gets of the same keys, and what both count; it goes by
// both ways.
func checkBatch(t *testing.T, tier *Tier, b *Batch, keys [][]byte) (hits int) {
	t.Helper()
	for _, tier.overlapFrom = range overlaps {
		hits = checkOneBatch(t, tier, b, keys)
	}
	return hits
}

func checkOneBatch(t *testing.T, tier *Tier, b *Batch, keys [][]byte) (hits int) {
	t.Helper()
	hitsBefore, missesBefore := tier.reads.sum()
	tier.GetMulti(b, keys)
	hitsAfter, missesAfter := tier.reads.sum()
	if b.Len() != len(keys) || len(b.Hashes) != len(keys) {
		t.Fatalf("%d values and %d hashes of %d keys", b.Len(), len(b.Hashes), len(keys))
	}
	for i, key := range keys {
		want, _, ok := tier.getSlow(nil, offheap.String(key))
		got, found := b.Value(i)
		if found != ok || !bytes.Equal(got, want) {
			t.Fatalf("key %d of %d, %.40x of %d bytes: %d bytes %.40x, %v; want %d bytes %.40x, %v",
				i, len(keys), key, len(key), len(got), got, found, len(want), want, ok)
		}
		if deadline, _ := tier.deadlineOf(key); b.Deadline(i) != deadline {
			t.Fatalf("key %d of %d: deadline %d, want %d", i, len(keys), b.Deadline(i), deadline)
		}
		if !found && b.Hashes[i] != tier.Hash(key) {
			t.Fatalf("key %d of %d: hash %x, want %x", i, len(keys), b.Hashes[i], tier.Hash(key))
		}
		if ok {
			hits++
		}
	}
	if h, m := int(hitsAfter-hitsBefore), int(missesAfter-missesBefore); h != hits || m != len(keys)-hits || b.Misses != m {
		t.Fatalf("%d hits and %d misses are counted, %d told; want %d and %d", h, m, b.Misses, hits, len(keys)-hits)
	}
	return hits
}

// A GetMulti finds what Gets find: keys and values of all lengths, with and without
// deadlines, in tables with and without chains, sampled or not, in batches of all
// sizes, with keys that are absent, empty, nil, or there twice.
func TestGetMultiIsGet(t *testing.T) {
	t.Parallel()
	for name, mask := range map[string]uint64{"all": 0, "chains": 0x0000_3fff_0000_00ff, "long chains": 0x0000_00ff_0000_000f, "one": 1 << 63} {
		for _, sampled := range []bool{false, true} {
			t.Run(fmt.Sprint(name, sampled), func(t *testing.T) {
				t.Parallel()
				now := int64(1_000_000)
				cfg := Config{Bytes: 16 << 20, Seed: 1, Now: func() int64 { return now }, Ticking: true, HashMask: mask}
				tier := newUnsampled(t, cfg)
				if sampled {
					tier = newTier(t, cfg.Bytes)
				}
				testGetMultiIsGet(t, tier, now, mask == 1<<63)
			})
		}
	}
}

func testGetMultiIsGet(t *testing.T, tier *Tier, now int64, few bool) {
	rng := rand.New(rand.NewPCG(1, 1))
	keys := [][]byte{nil, {}}
	n := 3000
	if few {
		n = 100 // all in one chain
	}
	for range n {
		key, value := make([]byte, rng.IntN(40)), make([]byte, rng.IntN(200))
		switch rng.IntN(50) {
		case 0:
			key = make([]byte, 1000+rng.IntN(50)) // some are long records
		case 1:
			value = make([]byte, rng.IntN(30_000)) // some straddle
		}
		keys = append(keys, key, setRandom(t, tier, rng, key, value, now))
	}
	var b Batch
	hits, batch := 0, make([][]byte, 0, 200)
	for size := 0; size <= 200; size++ {
		if invariants.Race && size > 40 { // where bytes move by atomic words
			size += 30
		}
		batch = batch[:0]
		for range size {
			batch = append(batch, keys[rng.IntN(len(keys))])
		}
		hits += checkBatch(t, tier, &b, batch)
	}
	if hits < len(keys)/8 {
		t.Errorf("only %d hits", hits)
	}
	checkBatch(t, tier, &b, keys)
	checkBatch(t, tier, &Batch{}, keys[:5])
}

// Keys and values of the greatest lengths, empty values, and very many keys.
func TestGetMultiOfLargeRecords(t *testing.T) {
	oneGoroutine(t)
	t.Parallel()
	tier := newTier(t, 64<<20)
	var keys [][]byte
	for i, n := range []int{0, 1, 64, 1<<20 - 1, 1 << 20, 3 << 20} {
		for j, length := range []int{0, 16, 1023, 1024, 65_535} {
			if n > 1<<20 && length != 16 {
				continue
			}
			key := bytes.Repeat([]byte{byte(10*i + j)}, length)
			if err := tier.setKey(key, bytes.Repeat([]byte{byte(i + j)}, n), 0); err != nil {
				t.Fatal(err)
			}
			keys = append(keys, key)
		}
	}
	var b Batch
	if hits := checkBatch(t, tier, &b, keys); hits < len(keys) {
		t.Errorf("%d hits of %d keys", hits, len(keys))
	}
	const n = 100_000
	many := make([][]byte, n)
	for i := range many {
		many[i] = keys[7] // an empty value
		if i%3 == 0 {
			many[i] = binary.LittleEndian.AppendUint32(nil, uint32(i))
		}
	}
	many[n-1] = keys[len(keys)-1]
	checkBatch(t, tier, &b, many)
}

// A reused Batch needs no memory; a new one that of its three slices.
func TestGetMultiAllocs(t *testing.T) {
	tier := newTier(t, 1<<20)
	var keys [][]byte
	for i := range 32 {
		keys = append(keys, fmt.Append(nil, "key ", i))
		if err := tier.setKey(keys[i], make([]byte, 100), 0); err != nil {
			t.Fatal(err)
		}
	}
	tier.meanRecordBytes.Store(120)
	for _, tier.overlapFrom = range overlaps {
		var b Batch
		tier.GetMulti(&b, keys)
		if n := testing.AllocsPerRun(100, func() { tier.GetMulti(&b, keys) }); n != 0 {
			t.Errorf("%v allocations with a Batch that was used before", n)
		}
		if n := testing.AllocsPerRun(100, func() {
			b = Batch{}
			tier.GetMulti(&b, keys)
		}); n > 3 && !invariants.Race {
			t.Errorf("%v allocations with a new Batch, want 3", n)
		}
	}
}

// staged is a GetMulti of a few keys, with something in between the stages.
func staged(tier *Tier, keys [][]byte, after func(stage int)) *Batch {
	b := &Batch{}
	b.reset(len(keys))
	tier.begin(b, keys, 0)
	after(0)
	tier.match(b, 0)
	after(1)
	tier.follow(b, 0)
	after(2)
	tier.finish(b, keys, 0)
	return b
}

// What is written, deleted or expires while a lookup is under way is not returned as
// it was.
func TestGetMultiBetweenStages(t *testing.T) {
	t.Parallel()
	const before = "the value before" // 16 bytes
	for name, change := range map[string]struct {
		do   func(tier *Tier, key []byte, now *int64) error
		want string // "" for none
	}{
		"overwritten in place": {func(tier *Tier, key []byte, _ *int64) error {
			return tier.setKey(key, []byte("the value behind"), 5000)
		}, "the value behind"},
		"replaced": {func(tier *Tier, key []byte, _ *int64) error {
			return tier.setKey(key, []byte("a longer value behind"), 5000)
		}, "a longer value behind"},
		"deleted": {func(tier *Tier, key []byte, _ *int64) error { tier.deleteKey(key); return nil }, ""},
		"expired": {func(_ *Tier, _ []byte, now *int64) error { *now = 5000; return nil }, ""},
		"cleared": {func(tier *Tier, _ []byte, _ *int64) error { tier.Clear(); return nil }, ""},
		"cleared and reused": {func(tier *Tier, _ []byte, _ *int64) error {
			tier.Clear()
			for i := range 5000 {
				if err := tier.setKey(fmt.Append(nil, "other", i), []byte(before), 0); err != nil {
					return err
				}
			}
			return nil
		}, ""},
		"closed": {func(tier *Tier, _ []byte, _ *int64) error { tier.Close(); return nil }, ""},
	} {
		for stage := range 3 {
			t.Run(fmt.Sprint(name, " after stage ", stage), func(t *testing.T) {
				now := int64(1000)
				tier := newUnsampled(t, Config{Bytes: 1 << 20, Seed: 1, Now: func() int64 { return now }})
				var keys [][]byte
				for i := range group {
					keys = append(keys, fmt.Append(nil, "the key ", i))
					if err := tier.setKey(keys[i], []byte(before), 5000); err != nil {
						t.Fatal(err)
					}
				}
				b := staged(tier, keys, func(s int) {
					if s != stage {
						return
					}
					for _, key := range keys {
						if err := change.do(tier, key, &now); err != nil {
							t.Fatal(err)
						}
					}
				})
				for i := range keys {
					if v, ok := b.Value(i); ok != (change.want != "") || string(v) != change.want {
						t.Errorf("key %d: %q, %v; want %q", i, v, ok, change.want)
					}
				}
			})
		}
	}
}

// A key is found while the index grows or shrinks, or its chain does, between the
// stages of its lookup.
func TestGetMultiWhileEntriesMove(t *testing.T) {
	t.Parallel()
	for name, mask := range map[string]uint64{"buckets": 0, "chains": 0xffff_ffff_0000_003f} {
		for stage := range 3 {
			t.Run(fmt.Sprint(name, stage), func(t *testing.T) {
				t.Parallel()
				testGetMultiWhileEntriesMove(t, mask, stage)
			})
		}
	}
}

func testGetMultiWhileEntriesMove(t *testing.T, mask uint64, stage int) {
	tier := newUnsampled(t, Config{Bytes: 1 << 20, Seed: 1, Now: func() int64 { return 1 }, HashMask: mask})
	const there, others, step = 200, 2000, 50
	var keys [there + others][]byte
	for i := range keys {
		keys[i] = fmt.Appendf(nil, "key %06d", i)
	}
	set := func(i int) {
		if err := tier.setKey(keys[i], make([]byte, 16), 0); err != nil {
			t.Fatal(err)
		}
	}
	for i := range there {
		set(i)
	}
	from, to, grows := 0, 0, true // of the others, which come and go in a circle
	for round := range 500 {
		some := keys[round*group%there:][:group]
		b := staged(tier, some, func(s int) {
			for n := 0; s == stage && n < step; n++ {
				if grows {
					set(there + to%others)
					to++
				} else {
					tier.deleteKey(keys[there+from%others])
					from++
				}
			}
		})
		for i, key := range some {
			if _, ok := b.Value(i); !ok {
				t.Fatalf("%s is missed in round %d, among %d others", key, round, to-from)
			}
		}
		if to-from >= others-step || to-from < step {
			grows = to-from < step
		}
	}
}

// A GetMulti goes key by key in a small tier, and overlaps its lookups in a larger one.
func TestGetMultiOverlaps(t *testing.T) {
	oneGoroutine(t)
	t.Parallel()
	tier := newTier(t, 64<<20)
	if !tier.cached() {
		t.Error("an empty tier overlaps")
	}
	for i := range 100_000 {
		if err := tier.setKey(fmt.Append(nil, "key ", i), make([]byte, 100), 0); err != nil {
			t.Fatal(err)
		}
		if i == 10_000 && !tier.cached() {
			t.Error("10,000 records of 128 bytes: overlaps")
		}
	}
	if tier.cached() {
		t.Error("100,000 records of 128 bytes: goes key by key")
	}
}

// Whoever read in a segment, or missed the key in a bucket, notices that memory was
// given back since the lookup began, whatever else is as it was.
func TestGetMultiNoticesReuse(t *testing.T) {
	t.Parallel()
	tier := newUnsampled(t, Config{Bytes: 1 << 20, Seed: 1, Now: func() int64 { return 1 }})
	key := []byte("a key")
	if err := tier.setKey(key, []byte("a value"), 0); err != nil {
		t.Fatal(err)
	}
	for _, reused := range []bool{false, true} {
		b := &Batch{}
		keys := [][]byte{key, []byte("absent")}
		b.reset(len(keys))
		tier.begin(b, keys, 0)
		reuse := func() {
			for i := range tier.shards {
				if reused {
					tier.shards[i].epoch.Add(1)
				}
			}
		}
		reuse()
		tier.match(b, 0)
		if l := &b.lookups; (l.record[1] == unclear) != reused || l.record[0] <= unclear {
			t.Errorf("reused %v: the absent key is at %d, the other at %d", reused, l.record[1], l.record[0])
		}
		if _, _, ok := tier.readRecord(&b.lookups, 0, b.Hashes[0], nil, key); ok == reused {
			t.Errorf("reused %v: the record is read: %v", reused, ok)
		}
	}
}

// A record that is being overwritten is left to Tier.get.
func TestGetMultiDuringOverwrite(t *testing.T) {
	t.Parallel()
	tier := newUnsampled(t, Config{Bytes: 1 << 20, Seed: 1, Now: func() int64 { return 1 }})
	keys := [][]byte{[]byte("a key")}
	if err := tier.setKey(keys[0], []byte("a value"), 0); err != nil {
		t.Fatal(err)
	}
	b := &Batch{}
	b.reset(1)
	tier.begin(b, keys, 0)
	tier.match(b, 0)
	h := tier.header(b.lookups.record[0])
	for _, odd := range []bool{false, true} {
		if _, _, ok := tier.readRecord(&b.lookups, 0, b.Hashes[0], nil, keys[0]); ok == odd {
			t.Errorf("version %d: the record is read: %v", h.version.Load(), ok)
		}
		h.version.Add(1)
	}
}

// Locations and links that lead anywhere are followed without a fault.
func TestGetMultiAmongGarbage(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	tier := newUnsampled(t, Config{Bytes: 1 << 20, Seed: 1, Now: func() int64 { return 1000 }})
	rng := rand.New(rand.NewPCG(1, 1))
	filler := make([]byte, 100_000)
	for i := range filler {
		filler[i] = byte(rng.Uint32())
	}
	for i := range 5 { // garbage to be led to
		if err := tier.setKey(fmt.Append(nil, i), filler, 0); err != nil {
			t.Fatal(err)
		}
	}
	key := []byte("a reader")
	rounds := 20_000
	if invariants.Race { // where bytes move by atomic words
		rounds = 500
	}
	for round := range rounds {
		s, hash := forge(tier, key, rng.Uint32()>>rng.IntN(33), func(int) uint32 {
			if round%5 == 0 {
				return uint32(tier.ghostAt>>tier.unitShift) + rng.Uint32N(64) - 32
			}
			return rng.Uint32() >> rng.IntN(12)
		})
		if round%2 == 0 { // so that the link is followed: all slots are empty
			clear(tier.region.Bytes(s.table.Offset(index.Home(hash, s.table.Shape())), 20))
		}
		b := &Batch{}
		b.reset(1)
		tier.begin(b, [][]byte{key}, 0)
		tier.match(b, 0)
		tier.follow(b, 0)
		tier.readRecord(&b.lookups, 0, hash, nil, key)
	}
}

// A GetMulti raises the frequency of what it finds as Get does.
func TestGetMultiTouches(t *testing.T) {
	t.Parallel()
	tier := newUnsampled(t, Config{Bytes: 1 << 20, Seed: 1, Now: func() int64 { return 1 }})
	var keys [][]byte
	for i := range 10 {
		keys = append(keys, fmt.Append(nil, "the key ", i))
		if err := tier.setKey(keys[i], make([]byte, 20), 0); err != nil {
			t.Fatal(err)
		}
	}
	var b Batch
	for reads := range 5 {
		for _, key := range keys {
			hash := tier.Hash(key)
			s := tier.shardOf(hash)
			s.mu.Lock()
			bucket, slot, _, _ := s.find(hash, key)
			if n := bucket.Freq(slot); n != min(reads, 3) {
				t.Errorf("%s: frequency %d after %d reads", key, n, reads)
			}
			s.mu.Unlock()
		}
		tier.overlapFrom = overlaps[reads%2]
		tier.GetMulti(&b, keys)
	}
}

// The policy hears of the hits of batches as of those of Gets: it decides the same.
func TestGetMultiTellsThePolicy(t *testing.T) {
	oneGoroutine(t)
	t.Parallel()
	decides := func(get func(tier *Tier, key []byte) bool) (hits int, changes uint64) {
		const records, recordLen = 250, 8 + 16 + 1000
		tier := newTier(t, records*recordLen)
		key, value := make([]byte, 16), make([]byte, 1000)
		for i := range 30_000 {
			n := uint64(i / 2) // each key twice, the second time after two thirds of what there is room for
			if i%2 == 1 {
				n -= min(n, records/3)
			}
			binary.LittleEndian.PutUint64(key, n*0x9e3779b97f4a7c15)
			if get(tier, key) {
				hits++
			} else if err := tier.setKey(key, value, 0); err != nil {
				t.Fatal(err)
			}
		}
		return hits, tier.tuner.Changes()
	}
	wantHits, wantChanges := decides(func(tier *Tier, key []byte) bool {
		_, ok := tier.Get(nil, key)
		return ok
	})
	for _, from := range overlaps {
		var b Batch
		hits, changes := decides(func(tier *Tier, key []byte) bool {
			tier.overlapFrom = from
			tier.GetMulti(&b, [][]byte{key})
			return b.Misses == 0
		})
		if hits != wantHits || changes != wantChanges || changes == 0 {
			t.Errorf("%d hits and %d changes of the setting with batches, %d and %d with Gets", hits, changes, wantHits, wantChanges)
		}
	}
}

// A GetMulti beside writers that overwrite the values in place returns whole ones.
func TestGetMultiWhole(t *testing.T) {
	t.Parallel()
	tier := newUnsampled(t, Config{Bytes: 1 << 20, Seed: 1, Now: func() int64 { return 1 }})
	writes := 500_000
	if invariants.Race || testing.Short() {
		writes /= 20
	}
	var keys [][]byte
	for i := range 40 {
		keys = append(keys, fmt.Append(nil, "overwritten ", i%5))
	}
	var writing sync.WaitGroup
	defer writing.Wait()
	var written atomic.Bool
	writing.Go(func() {
		defer written.Store(true)
		value := make([]byte, 504)
		for i := range writes {
			for j := 0; j < len(value); j += 8 {
				binary.LittleEndian.PutUint64(value[j:], uint64(i))
			}
			if err := tier.setKey(keys[i%5], value, 0); err != nil {
				t.Error(err)
				return
			}
		}
	})
	var b Batch
	for i := 0; !written.Load(); i++ {
		tier.overlapFrom = overlaps[i%2]
		tier.GetMulti(&b, keys)
		for i := range keys {
			if v, ok := b.Value(i); ok && (len(v) != 504 || !bytes.Equal(v[8:], v[:496])) {
				t.Fatalf("torn: %x", v)
			}
		}
	}
}
