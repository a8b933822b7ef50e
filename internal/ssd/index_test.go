package ssd

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/firncache/firn/internal/ssd/files"
	"github.com/firncache/firn/internal/ssd/format"
)

func testIndex(t *testing.T, shardBits uint, most int64) *index {
	t.Helper()
	m, _, err := files.NewMemory(format.MemoryShape{Slots: 1, Shards: 1 << shardBits, Stride: uint64(most >> shardBits / 8), LocationBits: 30}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Release)
	x := newIndex(shardBits, m, false)
	x.allowed.Store(x.maxBytes)
	return x
}

// remove takes the entry of an id out.
func (s *shard) remove(n format.ID) {
	if at, _, ok := s.search(s.FingerprintOf(n)); ok {
		s.removeAt(at)
	}
}

// check verifies a shard's order: sorted, nobody before its home, and no gap
// between an entry and its home.
func (s *shard) check(t *testing.T) {
	t.Helper()
	n, last := 0, -1
	for at, w := range s.slots {
		if w == 0 {
			continue
		}
		n++
		fp := s.Fingerprint(format.Entry(w))
		if int(fp) <= last {
			t.Fatalf("slot %d: fingerprint %d after %d", at, fp, last)
		}
		last = int(fp)
		h := s.home(fp)
		if h > at {
			t.Fatalf("slot %d: its home is %d", at, h)
		}
		for i := h; i < at; i++ {
			if s.slots[i] == 0 {
				t.Fatalf("slot %d: gap at %d behind its home %d", at, i, h)
			}
		}
	}
	if n != s.count {
		t.Fatalf("%d entries, count says %d", n, s.count)
	}
}

// The index against a map, while it grows and shrinks.
func TestIndexModel(t *testing.T) {
	for _, spread := range []uint{40, 24, 12} { // of how many bits of the id vary
		rng := rand.New(rand.NewPCG(1, uint64(spread)))
		x := testIndex(t, 2, 1<<20)
		model := map[format.ID]format.Entry{}
		draw := func() format.ID { return format.ID(rng.Uint64()&(1<<spread-1)) * 0x9e3779b97f % (1 << format.IDBits) }
		identity := func(n format.ID) format.ID {
			return n>>(format.IDBits-2)<<(format.IDBits-2) | format.ID(x.FingerprintOf(n))
		}
		for step := range 60_000 {
			n := draw()
			s := x.shardOf(n)
			if rng.IntN(3) == 0 {
				s.remove(n)
				delete(model, identity(n))
			} else if x.reserveSlot(s) {
				e := s.NewEntry(n, format.Location(1+rng.IntN(1<<30)), rng.IntN(1<<20), format.IsWhole)
				s.put(e)
				model[identity(n)] = e
			} else {
				t.Fatalf("step %d: no room", step)
			}
			n = draw()
			got, ok := x.shardOf(n).find(n)
			if want, has := model[identity(n)]; ok != has || ok && got != want {
				t.Fatalf("step %d: find(%x) = %x, %v; want %x, %v", step, n, got, ok, want, has)
			}
			if step%1000 == 0 {
				for i := range x.shards {
					x.shards[i].check(t)
				}
			}
		}
		if x.len() != len(model) {
			t.Fatalf("%d entries, want %d", x.len(), len(model))
		}
		x.each(func(n format.ID, e format.Entry) format.Entry {
			if model[n] != e {
				t.Fatalf("each yields %x: %x, want %x", n, e, model[n])
			}
			if e&1 == 0 {
				delete(model, n)
				return 0
			}
			return e
		})
		for i := range x.shards {
			x.shards[i].check(t)
		}
		if x.len() != len(model) {
			t.Fatalf("%d entries after each, want %d", x.len(), len(model))
		}
		used := x.used.Load()
		x.clear(nil)
		if x.len() != 0 || x.used.Load() >= used {
			t.Fatalf("after clear: %d entries, %d bytes", x.len(), x.used.Load())
		}
	}
}

func TestIndexKeepsToItsMemory(t *testing.T) {
	x := testIndex(t, 0, 64<<10)
	s := &x.shards[0]
	n := 0
	for rng := rand.New(rand.NewPCG(1, 1)); ; n++ {
		if !x.reserveSlot(s) {
			break
		}
		s.put(s.NewEntry(format.ID(rng.Uint64()>>(64-format.IDBits)), 1, 1, format.IsWhole))
	}
	s.check(t)
	if x.used.Load() > x.maxBytes {
		t.Fatalf("%d bytes used, %d allowed", x.used.Load(), x.maxBytes)
	}
	if per := float64(x.maxBytes) / float64(n); per > 10 {
		t.Fatalf("%.1f bytes for an entry, want at most 10", per)
	}
}

// An id that the index takes for another's is the other's everywhere: a write of
// either takes out what there is.
func TestIDsThatTheIndexCannotTell(t *testing.T) {
	bubble(t, func(t *testing.T) {
		config := with(testConfig, func(cfg *Config) { cfg.Bytes = 4 << 20 })
		w, mem := started(t, 1, config)
		key := w.key(1)
		a := w.hasher.Hash(key)
		b := a ^ 1<<(63-w.tier.index.shardBits) // differs in the highest bit below the shard's number
		if n := w.tier.index.shardBits + w.tier.index.FingerprintBits(); n >= format.IDBits {
			t.Fatalf("the index keeps %d bits of an id: nothing to test", n)
		}
		if !w.tier.Demote(a, key, []byte("old"), 0, true, SameCopy) {
			t.Fatal("not demoted")
		}
		w.tier.Invalidate(b) // another key is being written
		w.tier.Invalidate(a) // and this one is
		w.written()
		h := w.killed(t, mem, config)
		if f, err := h.tier.Get(background, nil, key, a); err == nil {
			t.Errorf("%q is back", f.Value)
		}
		for i := range 20 {
			h.put(t, h.key(100+i))
		}
		h.close(t)
		w.close(t)
	})
}

// Row 28: few bits of the hash are kept, so that keys collide, in the end all of
// them: the right key, or a miss.
func TestFault28Collisions(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 200
		for _, bits := range []int{0, 1, 4, 7} {
			mask := max(^(uint64(math.MaxUint64) >> bits), 1) // of the low bits nothing is an id's
			config := with(smallConfig, func(cfg *Config) { cfg.HashMask = mask })
			w, mem := started(t, uint64(bits), config)
			collisions := uint64(0)
			for range 4 {
				w.steps(t, 1500, keys)
				collisions += w.tier.Stats().Collisions
				end := []ending{closing, killed}[w.rng.IntN(2)]
				w.written()
				mem = w.end(t, mem, end)
				w.reopen(t, config(mem, w))
				w.check(t, keys, false)
			}
			if w.hits == 0 || collisions == 0 {
				t.Fatalf("%d bits: %d hits, %d collisions: want both", bits, w.hits, collisions)
			}
			w.close(t)
		}
	})
}
