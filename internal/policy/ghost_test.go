package policy

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// hashes are n random hashes, the same for the same seed.
func hashes(n int, seed uint64) []uint64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	h := make([]uint64, n)
	for i := range h {
		h[i] = rng.Uint64()
	}
	return h
}

// ghostsOf evicts the keys from Small, in order, with memory for so many buckets.
func ghostsOf(buckets int, keys []uint64) *Ghosts {
	g := NewGhosts(make([]uint64, buckets*bucketWords))
	for _, h := range keys {
		g.Evict(Small, h)
	}
	return &g
}

// found counts the keys that have ghosts, and takes these.
func (g *Ghosts) found(keys []uint64) (n int) {
	for _, h := range keys {
		if _, ok := g.Take(h); ok {
			n++
		}
	}
	return n
}

func TestGhostIsTakenOnce(t *testing.T) {
	keys := hashes(1, 1)
	g := ghostsOf(16, keys)
	if age, ok := g.Take(keys[0]); !ok || age != 0 {
		t.Fatalf("Take after Evict = %d, %v; want 0, true", age, ok)
	}
	if g.found(keys) != 0 {
		t.Fatal("a ghost that was taken is still there")
	}
}

func TestMainLeavesNoGhosts(t *testing.T) {
	g := ghostsOf(1, nil)
	g.Evict(Main, 1)
	if g.found([]uint64{1}) != 0 || g.Clock() != 0 {
		t.Fatalf("an eviction from Main left a ghost or moved the clock to %d", g.Clock())
	}
}

func TestGhostsWithoutMemory(t *testing.T) {
	for _, g := range []Ghosts{{}, NewGhosts(nil), NewGhosts(make([]uint64, bucketWords-1))} {
		g.Evict(Small, 1)
		if g.found([]uint64{1}) != 0 {
			t.Fatal("a ghost without memory")
		}
		if lane := g.Lane(1, 0, 0); lane != Small {
			t.Fatalf("Lane = %d, want Small", lane)
		}
	}
}

// The age of a ghost is an estimate from its place: right on average.
func TestGhostAge(t *testing.T) {
	const buckets, probes = 256, 500
	keys := hashes(buckets*bucketPlaces, 2)
	g := ghostsOf(buckets, keys)
	for _, evictions := range []int{1000, 2000, 4000} {
		sum := 0.0
		for i := range probes {
			age, ok := g.Take(keys[len(keys)-evictions-i])
			if !ok {
				t.Fatalf("a ghost %d evictions old is gone from %d places", evictions+i, len(keys))
			}
			sum += float64(age)
		}
		if mean, want := sum/probes, float64(evictions+probes/2); mean < 0.9*want || mean > 1.1*want {
			t.Errorf("mean age of ghosts %.0f evictions old = %.0f", want, mean)
		}
	}
}

func TestOldGhostsAreForgotten(t *testing.T) {
	const places = 64 * bucketPlaces
	keys := hashes(4*places, 3)
	if n := ghostsOf(64, keys).found(keys[:places]); n > places/100 {
		t.Errorf("%d of %d ghosts outlived three times the places", n, places)
	}
}

func TestGhostsSeldomTakeStrangers(t *testing.T) {
	const strangers = 100_000
	g := ghostsOf(64, hashes(64*bucketPlaces, 4))
	if n := g.found(hashes(strangers, 5)); n > strangers/1000 {
		t.Errorf("%d of %d strangers were taken for ghosts", n, strangers)
	}
}

// The keys of one shard share the bits that chose it; their ghosts must not
// share a bucket or a fingerprint for that.
func TestGhostsOfOneShard(t *testing.T) {
	for name, pick := range map[string]func(uint64) uint64{
		"low bits":  func(h uint64) uint64 { return h &^ 0xff },
		"high bits": func(h uint64) uint64 { return h >> 8 },
	} {
		keys := hashes(32*bucketPlaces, 6)
		for i, h := range keys {
			keys[i] = pick(h)
		}
		if n := ghostsOf(64, keys).found(keys); n < len(keys)*98/100 {
			t.Errorf("%s alike: %d of %d ghosts are left in twice the places", name, n, len(keys))
		}
	}
}

func TestMatch16(t *testing.T) {
	for _, c := range []struct {
		w, x uint64
		at   int
	}{
		{0, 1, -1}, {1, 1, 0}, {1 << 48, 1, 3}, {0x0001_0001_0000_0000, 1, 2},
		{0xffff_0000_0000_0000, 0xffff, 3}, {0x8000_8001_7fff_8000, 0x8001, 2}, {0x1_0000, 0x8000, -1},
	} {
		if at := match16(c.w, c.x); at != c.at {
			t.Errorf("match16(%#x, %#x) = %d, want %d", c.w, c.x, at, c.at)
		}
	}
}

// A key enters Main if it was away for less than three quarters of the time
// that Main's tail has been there.
func TestLane(t *testing.T) {
	keys := hashes(20, 7)
	g := ghostsOf(1, keys) // one bucket: ages are exact
	for _, c := range []struct {
		name        string
		small, main uint32
		want        Lane
	}{
		{"older tail in Main", 20, 5, Main},
		{"younger tail in Main", 20, 15, Small},
		{"as old", 20, 10, Small},
		{"not old enough", 20, 8, Small},
		{"time in Small counts", 15, 5, Small},
	} {
		copied := Ghosts{slices.Clone(g.words), g.clock}
		if lane := copied.Lane(keys[10], c.small, c.main); lane != c.want { // 9 evictions before the last
			t.Errorf("%s: lane %d, want %d", c.name, lane, c.want)
		}
	}
	if lane := g.Lane(hashes(1, 99)[0], 20, 0); lane != Small {
		t.Errorf("a key without a ghost enters lane %d", lane)
	}
}

func TestGhostWords(t *testing.T) {
	for _, c := range []struct {
		entries, bytes int64
		want           int
	}{
		{0, 1 << 20, 0}, {-1, 1 << 20, 0}, {10, 1 << 20, 0},
		{1000, 1 << 30, 6000 / 64 * 8}, {1 << 20, 1 << 20, 1 << 15 / 8},
	} {
		if n := GhostWords(c.entries, c.bytes); n != c.want {
			t.Errorf("GhostWords(%d, %d) = %d, want %d", c.entries, c.bytes, n, c.want)
		}
	}
}

// Offset is where a ghost is.
func TestGhostOffset(t *testing.T) {
	t.Parallel()
	if _, ok := new(Ghosts).Offset(1); ok {
		t.Error("there is a place without memory")
	}
	memory := make([]uint64, 100*bucketWords)
	g := NewGhosts(memory)
	for _, h := range hashes(50, 3) {
		off, ok := g.Offset(h)
		before := memory[off/8]
		if g.Evict(Small, h); !ok || memory[off/8] == before {
			t.Errorf("the ghost of %#x is not at %d", h, off)
		}
	}
}
