package policy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

// drive reports requests as a cache of so many entries would that never
// forgets a key: only the shadows decide what is a hit.
func drive(t *Tuner, entries int, keys []uint64) {
	seen := make(map[uint64]bool)
	for _, key := range keys {
		hash := spread(key)
		switch {
		case !seen[key]:
			t.Insert(hash, int64(min(entries, len(seen)+1)), len(seen) < entries)
		case t.Sampled(hash):
			t.Hit(hash)
		}
		seen[key] = true
	}
}

func TestTunerFollowsTheWorkload(t *testing.T) {
	const entries = 5000
	rng := rand.New(rand.NewPCG(1, 1))
	var recent, scanned []uint64
	for i := range 40 * entries {
		// Every key is used twice, the second time a third of a cache later.
		recent = append(recent, uint64(i), uint64(max(0, i-entries*3/10)))
		// A hot set as large as the cache, and keys that are used once.
		scanned = append(scanned, uint64(rng.IntN(entries)), 1<<40+uint64(i))
	}
	for _, c := range []struct {
		name   string
		keys   []uint64
		lo, hi float64
	}{
		{"recency", recent, 0.5, 1},
		{"hot set and scan", scanned, 0, 0.1},
		{"first one, then the other", append(recent, scanned...), 0, 0.1},
	} {
		tuner := NewTuner(1 << 30)
		drive(tuner, entries, c.keys)
		if share := tuner.Setting().Share; share < c.lo || share > c.hi {
			t.Errorf("%s: Small's share is %.2f, want %.1f to %.1f", c.name, share, c.lo, c.hi)
		}
	}
}

func TestTunerFitsItsSampleToTheCache(t *testing.T) {
	tuner := NewTuner(1 << 30)
	keys := hashes(20_000, 2)
	for i, h := range keys {
		keys[i] = h<<32 | h&0xffffffff // which no rate leaves out
	}
	for _, entries := range []int64{100, 10_000, 1 << 20, 1 << 30, 5000, 50} {
		for _, h := range keys {
			tuner.Insert(h, entries, false)
		}
		got := entries >> tuner.shift
		if got > tuner.most(tuner.shift) || tuner.shift > 0 && got < tuner.most(tuner.shift-1)/4 {
			t.Errorf("%d entries: sample of %d keys for shadows of %d", entries, got, tuner.size)
		}
		for i, s := range tuner.shadows {
			if s.count() > tuner.capacity {
				t.Errorf("%d entries: shadow %d holds %d keys, want at most %d", entries, i, s.count(), tuner.capacity)
			}
		}
	}
}

// While the cache fills, deletes and expiry let the shadows see more keys than
// there are entries.
func TestTunerWhileFilling(t *testing.T) {
	tuner := NewTuner(1 << 20)
	for _, h := range hashes(100_000, 7) {
		tuner.Insert(h, 10, true)
	}
	if tuner.Changes() != 0 {
		t.Error("the setting changed before there was anything to choose by")
	}
	if tuner.shift == 0 {
		t.Error("the sample did not shrink to what the shadows hold")
	}
}

// Hashes that no rate tells apart must not make the tuner look for one for ever.
func TestTunerWithCollidingHashes(t *testing.T) {
	tuner := NewTuner(1 << 20)
	for i := range uint64(2000) {
		hash := unspread(i << 50)
		if !tuner.Sampled(hash) {
			t.Fatalf("hash %#x is not sampled", hash)
		}
		tuner.Hit(hash)
		tuner.Insert(hash, int64(i), i < 1000)
	}
}

// unspread is the inverse of spread.
func unspread(h uint64) uint64 {
	inverse := uint64(1) // of spread's factor, by Newton's method
	for range 6 {
		inverse *= 2 - spread(1)*inverse
	}
	h *= inverse
	return h ^ h>>32
}

func TestSmallCacheHasNoShadows(t *testing.T) {
	tuner := NewTuner(minCache - 1)
	tuner.Hit(0)
	tuner.Insert(0, 1, false)
	tuner.Drained(0, 1)
	if tuner.Bytes() != 0 || tuner.Setting() != settings[0] {
		t.Errorf("%d bytes, setting %+v", tuner.Bytes(), tuner.Setting())
	}
}

func TestTunerKeepsToItsShare(t *testing.T) {
	for _, bytes := range []int64{minCache, 1 << 20, 32 << 20, 1 << 40} {
		if got := NewTuner(bytes).Bytes(); got > max(bytes/tunerShare, int64(minShadow*TunerKeyBytes)) || got > 64<<10 {
			t.Errorf("the tuner of %d bytes takes %d", bytes, got)
		}
	}
}

// Requests from several goroutines leave shadows that are whole.
func TestTunerIsSafeForConcurrentUse(t *testing.T) {
	tuner := NewTuner(1 << 24)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i, h := range hashes(20_000, uint64(g%2)) {
				if tuner.Sampled(h) {
					tuner.Hit(h)
				}
				tuner.Drained(h, uint8(i%4))
				if i%4 == 0 {
					tuner.Insert(h, int64(i), i < 1000)
				}
				if !slices.Contains(settings[:], tuner.Setting()) {
					t.Errorf("%v is no setting", tuner.Setting())
				}
			}
			_ = tuner.Changes()
		})
	}
	wg.Wait()
	checkTuner(t, tuner)
}

// checkTuner fails unless the shadows are whole, and each of their keys is in the sample, and
// in a shadow once.
func checkTuner(t *testing.T, tuner *Tuner) {
	t.Helper()
	keys := 0
	for n, s := range tuner.shadows {
		checkShadow(t, s, tuner.size)
		seen := map[uint64]bool{}
		for _, i := range s.index {
			for ; i != 0; i = s.slots[i].chain {
				hash := s.slots[i].hash
				if seen[hash] || !tuner.inSample(hash) {
					t.Errorf("shadow %d: key %#x: there already %v, sampled %v", n, hash, seen[hash], tuner.inSample(hash))
				}
				seen[hash] = true
			}
		}
		keys += len(seen)
	}
	if keys == 0 {
		t.Error("the shadows have no keys")
	}
}

func TestReportsDoNotAllocate(t *testing.T) {
	tuner, keys, i := NewTuner(1<<24), hashes(1000, 9), 0
	if n := testing.AllocsPerRun(2000, func() {
		h := keys[i%len(keys)]
		tuner.Hit(h)
		tuner.Insert(h, 100, false)
		tuner.Drained(h, 2)
		i++
	}); n != 0 {
		t.Errorf("%v allocations per request", n)
	}
}

// Whatever a cache holds, and while it fills, the reads of one key in 16 at most are
// reported as they happen.
func TestReadsOfOneKeyInSixteen(t *testing.T) {
	t.Parallel()
	keys := hashes(1<<14, 4)
	check := func(tuner *Tuner, when string) {
		t.Helper()
		n := 0
		for _, h := range keys {
			if tuner.Sampled(h) {
				n++
				if !tuner.inSample(h) {
					t.Fatalf("%s: reads of %#x are reported, and the shadows refuse them", when, h)
				}
			}
		}
		if most := len(keys) / 16 * 5 / 4; n > most { // as many as the hashes happen to have
			t.Errorf("%s: the reads of %d of %d keys are reported: want at most %d", when, n, len(keys), most)
		}
	}
	for _, bytes := range []int64{0, minCache, 1 << 20, 1 << 26, 1 << 34} {
		tuner := NewTuner(bytes)
		check(tuner, "new")
		for _, entries := range []int64{1, 50, 400, 2000, 1 << 16, 1 << 24, 2000, 400, 50, 1} {
			for _, h := range keys {
				tuner.Insert(h, entries, bytes&1<<20 != 0)
			}
			check(tuner, fmt.Sprintf("%d entries in %d bytes", entries, bytes))
		}
	}
}

// A sample of a small cache has more keys than its reads are reported of: all below
// plenty, and at least a quarter of that.
func TestSmallCachesHaveLargeSamples(t *testing.T) {
	t.Parallel()
	for _, entries := range []int64{1, 50, plenty, 200, 400, 800, 16 * plenty} {
		tuner := NewTuner(1 << 30)
		for i, h := range hashes(20_000, 8) {
			tuner.Insert(h, min(entries, int64(i)+1), i < int(entries))
		}
		if got := int64(tuner.capacity); got < min(entries, plenty/4) || got > plenty || entries <= plenty && got != entries {
			t.Errorf("%d entries: a sample of %d", entries, got)
		}
	}
}

// No shard, bucket or tag has more than its part of the sampled keys, nor has a pair
// of a shard and a bucket.
func TestSampleIsSpread(t *testing.T) {
	t.Parallel()
	const shift, each = readShift, 100
	tuner := NewTuner(1 << 30)
	tuner.resample(shift)
	for name, c := range map[string]struct {
		of   func(h uint64) uint64
		bits uint
	}{
		"shards":             {func(h uint64) uint64 { return h >> 58 }, 6},
		"buckets":            {func(h uint64) uint64 { return h & 0xff }, 8},
		"upper buckets":      {func(h uint64) uint64 { return h >> 8 & 0xff }, 8},
		"tags":               {func(h uint64) uint64 { return h >> 32 & 0xff }, 8},
		"upper tags":         {func(h uint64) uint64 { return h >> 38 & 0xff }, 8},
		"shards and buckets": {func(h uint64) uint64 { return h>>60<<4 | h&0xf }, 8},
	} {
		counts := make([]int, 1<<c.bits)
		rng := rand.New(rand.NewPCG(5, 5))
		for n := 0; n < each<<c.bits; {
			if h := rng.Uint64(); tuner.Sampled(h) {
				counts[c.of(h)]++
				n++
			}
		}
		for i, n := range counts {
			if n < each/2 || n > each*3/2 { // five deviations
				t.Errorf("%s: %d has %d sampled keys, want about %d", name, i, n, each)
			}
		}
	}
}

// The reads of keys that are not reported as they happen count when their records are
// drained, as often as the frequency says, and those of other keys do not.
func TestDrainedReadsCount(t *testing.T) {
	t.Parallel()
	tuner, reported, hits := NewTuner(1<<30), 0, 0.0
	for _, h := range hashes(100, 6) {
		tuner.Insert(h, 100, false)
		before := tuner.shadows[0].hits
		tuner.Drained(h, 0)
		if tuner.shadows[0].hits != before {
			t.Fatal("a record that was not read counts")
		}
		tuner.Drained(h, 3)
		switch {
		case tuner.Sampled(h):
			reported++
			if tuner.shadows[0].hits != before {
				t.Fatalf("reads of %#x count twice", h)
			}
		case tuner.shadows[0].hits < (before+3*lateWeight)*decay-1e-9: // a choice may fall among them
			t.Fatalf("three late reads of %#x count %.2f", h, tuner.shadows[0].hits-before)
		}
		hits = tuner.shadows[0].hits
	}
	if reported == 0 || hits == 0 {
		t.Errorf("%d keys with reports, %.0f hits: want some of each", reported, hits)
	}
}
