package index

import (
	"math/rand/v2"
	"testing"

	"github.com/firncache/firn/internal/ssd/files"
	"github.com/firncache/firn/internal/ssd/format"
)

func testIndex(t *testing.T, shardBits uint, most int64) *Index {
	t.Helper()
	m, _, err := files.NewMemory(format.MemoryShape{Slots: 1, Shards: 1 << shardBits, Stride: uint64(most >> shardBits / 8), LocationBits: 30}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Release)
	x := New(shardBits, m, false)
	x.Allowed.Store(x.Most)
	return x
}

// remove takes the entry of an id out.
func (s *Shard) remove(n format.ID) {
	if at, _, ok := s.Search(s.FingerprintOf(n)); ok {
		s.RemoveAt(at)
	}
}

// check verifies a shard's order: sorted, nobody before its home, and no gap
// between an entry and its home.
func (s *Shard) check(t *testing.T) {
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
			s := x.ShardOf(n)
			if rng.IntN(3) == 0 {
				s.remove(n)
				delete(model, identity(n))
			} else if x.ReserveSlot(s) {
				e := s.NewEntry(n, format.Location(1+rng.IntN(1<<30)), rng.IntN(1<<20), format.IsWhole)
				s.Put(e)
				model[identity(n)] = e
			} else {
				t.Fatalf("step %d: no room", step)
			}
			n = draw()
			got, ok := x.ShardOf(n).Find(n)
			if want, has := model[identity(n)]; ok != has || ok && got != want {
				t.Fatalf("step %d: find(%x) = %x, %v; want %x, %v", step, n, got, ok, want, has)
			}
			if step%1000 == 0 {
				for i := range x.Shards {
					x.Shards[i].check(t)
				}
			}
		}
		if x.Len() != len(model) {
			t.Fatalf("%d entries, want %d", x.Len(), len(model))
		}
		x.Each(func(n format.ID, e format.Entry) format.Entry {
			if model[n] != e {
				t.Fatalf("each yields %x: %x, want %x", n, e, model[n])
			}
			if e&1 == 0 {
				delete(model, n)
				return 0
			}
			return e
		})
		for i := range x.Shards {
			x.Shards[i].check(t)
		}
		if x.Len() != len(model) {
			t.Fatalf("%d entries after each, want %d", x.Len(), len(model))
		}
		used := x.Used.Load()
		x.Clear(nil)
		if x.Len() != 0 || x.Used.Load() >= used {
			t.Fatalf("after clear: %d entries, %d bytes", x.Len(), x.Used.Load())
		}
	}
}

func TestIndexKeepsToItsMemory(t *testing.T) {
	x := testIndex(t, 0, 64<<10)
	s := &x.Shards[0]
	n := 0
	for rng := rand.New(rand.NewPCG(1, 1)); ; n++ {
		if !x.ReserveSlot(s) {
			break
		}
		s.Put(s.NewEntry(format.ID(rng.Uint64()>>(64-format.IDBits)), 1, 1, format.IsWhole))
	}
	s.check(t)
	if x.Used.Load() > x.Most {
		t.Fatalf("%d bytes used, %d allowed", x.Used.Load(), x.Most)
	}
	if per := float64(x.Most) / float64(n); per > 10 {
		t.Fatalf("%.1f bytes for an entry, want at most 10", per)
	}
}
