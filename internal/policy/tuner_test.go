package policy

import (
	"math/rand/v2"
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
		case !t.Sampled(hash):
		case seen[key]:
			t.Hit(hash)
		default:
			t.Insert(hash, int64(min(entries, len(seen)+1)), len(seen) < entries)
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
	for _, entries := range []int64{100, 10_000, 1 << 20, 1 << 30, 5000, 50} {
		for _, h := range keys {
			tuner.Insert(h, entries, false)
		}
		got := entries >> tuner.shift
		if got > int64(tuner.size) || got < int64(tuner.size/4) && tuner.shift > 0 {
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
		if tuner.Sampled(h) {
			tuner.Insert(h, 10, true)
		}
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
	if tuner.Bytes() != 0 || tuner.Setting() != settings[0] {
		t.Errorf("%d bytes, setting %+v", tuner.Bytes(), tuner.Setting())
	}
}

func TestTunerKeepsToItsShare(t *testing.T) {
	for _, bytes := range []int64{minCache, 1 << 20, 32 << 20, 1 << 40} {
		if got := NewTuner(bytes).Bytes(); got > max(bytes/tunerShare, int64(minShadow*shadowKeyBytes)) || got > 64<<10 {
			t.Errorf("the tuner of %d bytes takes %d", bytes, got)
		}
	}
}

func TestTunerIsSafeForConcurrentUse(t *testing.T) {
	tuner := NewTuner(1 << 24)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i, h := range hashes(20_000, uint64(g%2)) {
				if tuner.Sampled(h) {
					tuner.Hit(h)
					if i%4 == 0 {
						tuner.Insert(h, int64(i), i < 1000)
					}
				}
				_ = tuner.Setting()
			}
			_ = tuner.Changes()
		})
	}
	wg.Wait()
}

func TestReportsDoNotAllocate(t *testing.T) {
	tuner, keys, i := NewTuner(1<<24), hashes(1000, 9), 0
	if n := testing.AllocsPerRun(2000, func() {
		h := keys[i%len(keys)]
		tuner.Hit(h)
		tuner.Insert(h, 100, false)
		i++
	}); n != 0 {
		t.Errorf("%v allocations per request", n)
	}
}

func TestRingKeepsTheNewest(t *testing.T) {
	r := &NewTuner(minCache).recent
	n := uint64(len(r.places))
	for h := range 3 * n {
		r.add(h)
	}
	want := 2 * n
	r.drain(func(h uint64) {
		if h != want {
			t.Fatalf("drained %d, want %d", h, want)
		}
		want++
	})
	if want != 3*n {
		t.Errorf("drained up to %d of %d", want, 3*n)
	}
	r.drain(func(h uint64) { t.Errorf("drained %d twice", h) })
}
