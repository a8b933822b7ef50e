package index

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/firncache/firn/internal/offheap"
)

// world is a table with a map beside it. Location i+1 stands for hash hashes[i].
type world struct {
	t      testing.TB
	table  Table
	hashes []uint64
	live   map[uint32]bool
	chunks uint32 // chunks handed out
	back   []uint32
}

const testChunk = 10 // 1 KiB: 16 buckets

func newWorld(t testing.TB, capacity int) *world {
	r, err := offheap.Reserve(uint64(capacity))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Release() })
	w := &world{t: t, live: map[uint32]bool{}, chunks: 2}
	w.table.Init(Memory{Region: r, ChunkShift: testChunk}, 1, make([]atomic.Uint32, capacity>>testChunk), w.hashAll)
	return w
}

func (w *world) hashAll(hashes []uint64, locs []uint32) {
	for i, l := range locs {
		hashes[i] = w.hashes[l-1]
	}
}

func (w *world) chunk() uint32 {
	if n := len(w.back); n > 0 {
		c := w.back[n-1]
		w.back = w.back[:n-1]
		return c
	}
	w.chunks++
	return w.chunks - 1
}

func (w *world) insert(hash uint64) uint32 {
	for w.table.NeedsChunk() {
		w.table.AddChunk(w.chunk())
	}
	w.hashes = append(w.hashes, hash)
	loc := uint32(len(w.hashes))
	w.table.Insert(hash, loc, int(loc%4))
	w.live[loc] = true
	return loc
}

func (w *world) remove(loc uint32) {
	b, slot, ok := w.table.Find(w.hashes[loc-1], loc)
	if !ok {
		w.t.Fatalf("location %d is lost", loc)
	}
	w.table.Remove(w.hashes[loc-1], b, slot)
	w.table.Shrink()
	delete(w.live, loc)
	w.takeBack()
}

func (w *world) takeBack() {
	for c, ok := w.table.Surplus(); ok; c, ok = w.table.Surplus() {
		w.back = append(w.back, c)
	}
}

// check compares the whole table with the map.
func (w *world) check() {
	w.t.Helper()
	if w.table.Len() != len(w.live) {
		w.t.Fatalf("Len is %d, want %d", w.table.Len(), len(w.live))
	}
	for loc := range w.live {
		b, slot, ok := w.table.Find(w.hashes[loc-1], loc)
		if !ok {
			w.t.Fatalf("location %d is lost among %d", loc, len(w.live))
		}
		if b.Freq(slot) != int(loc%4) {
			w.t.Fatalf("location %d has frequency %d, want %d", loc, b.Freq(slot), loc%4)
		}
	}
	seen := 0
	for j := range w.table.Buckets() {
		for b := w.table.bucket(j); b != nil; b = w.table.Next(b) {
			for m := b.Used(); m != 0; seen++ {
				if loc := b.Location(m.Next()); !w.live[loc] {
					w.t.Fatalf("bucket %d holds location %d, which was removed", j, loc)
				}
			}
		}
	}
	if seen != len(w.live) {
		w.t.Fatalf("the buckets hold %d entries, want %d", seen, len(w.live))
	}
}

func TestGrowAndShrink(t *testing.T) {
	w := newWorld(t, 16<<20)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		w.insert(rng.Uint64())
	}
	w.check()
	grown := w.table.Chunks()
	if per := float64(grown<<testChunk) / 100_000; per > 12.8 {
		t.Errorf("%.2f bytes per entry, want at most 12.8", per)
	}
	for loc := range w.live {
		if len(w.live) <= 1000 {
			break
		}
		w.remove(loc)
	}
	w.check()
	if got := w.table.Chunks(); got > grown/5 { // overflow chunks stay
		t.Errorf("%d chunks for 1000 entries after %d for 100000", got, grown)
	}
}

func TestRandomAgainstMap(t *testing.T) {
	w := newWorld(t, 4<<20)
	rng := rand.New(rand.NewPCG(3, 4))
	for round := range 40 {
		grow := rng.IntN(100)
		for range 500 {
			if len(w.live) == 0 || rng.IntN(100) < grow {
				w.insert(rng.Uint64())
				continue
			}
			for loc := range w.live {
				w.remove(loc)
				break
			}
		}
		if round%8 == 7 {
			w.table.Clear()
			w.takeBack()
			clear(w.live)
		}
		w.check()
	}
}

// All hashes equal: every entry is in one chain, and still none is lost.
func TestFullCollisions(t *testing.T) {
	w := newWorld(t, 4<<20)
	for range 300 {
		w.insert(0xabcd_0000_0042)
	}
	w.check()
	for loc := range w.live {
		w.remove(loc)
		w.check()
	}
}

func TestMatchIsExact(t *testing.T) {
	var b Bucket
	rng := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		var want [Slots]Tag
		b.reset()
		for free := b.Free(); free != 0; {
			slot := free.Next()
			tag := Tag(rng.IntN(4)) // few tags, so that many match
			if tag != 0 {
				b.put(slot, tag, rng.IntN(4), 7)
			}
			want[locOf(slot)] = tag
		}
		b.setLink(rng.Uint32())
		for tag := range Tag(4) {
			got := 0
			for m := b.Match(tag); m != 0; got++ {
				if slot := m.Next(); want[locOf(slot)] != tag {
					t.Fatalf("slot %#x matches tag %d, holds %d", slot, tag, want[locOf(slot)])
				}
			}
			n := 0
			for _, w := range want {
				if w == tag {
					n++
				}
			}
			if got != n {
				t.Fatalf("%d slots match tag %d, want %d", got, tag, n)
			}
		}
	}
}

func TestTouchSaturates(t *testing.T) {
	var b Bucket
	for m := b.Free(); m != 0; {
		slot := m.Next()
		b.put(slot, 9, 0, 1)
		for i := range 6 {
			if got := b.Freq(slot); got != min(i, MaxFreq) {
				t.Fatalf("frequency %d after %d touches", got, i)
			}
			b.Touch(slot, b.Word(slot))
		}
		if b.Tag(slot) != 9 {
			t.Fatal("a touch changed the tag")
		}
	}
}
