package ram

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// What to clean is found without a look at the other segments, however many the
// shard has: here their links lead nowhere.
func TestCheapestIsFoundAtOnce(t *testing.T) {
	oneGoroutine(t)
	t.Parallel()
	tier, err := New(Config{Bytes: 64 << 10, MaxBytes: 16 << 20, Seed: 1, Now: func() int64 { return 1000 }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tier.Free)
	if err := tier.SetBytes(16 << 20); err != nil {
		t.Fatal(err)
	}
	var key [8]byte
	set := func(i uint64) {
		binary.LittleEndian.PutUint64(key[:], i)
		if err := tier.setKey(key[:], make([]byte, 100), 0); err != nil {
			t.Fatal(err)
		}
	}
	for i := range uint64(20_000) {
		set(i)
	}
	s := &tier.shards[0]
	for id := s.queues[1].Head; id != 0; id = tier.segs[id].Next {
		if tier.segs[id].Next == s.queues[1].Tail || id == s.queues[1].Head {
			continue
		}
		if tier.segs[id].Live > tier.segSize()/2 && id%1000 == 0 { // one of them dies for the most part
			base := uint64(id) << tier.segShift
			for at := uint64(tier.segs[id].First); tier.segs[id].Live > tier.segSize()/4; {
				r := tier.recordAt(base + at)
				tier.deleteKey(append([]byte{}, s.key(&r)...))
				at += r.size
			}
			want := id
			for id := s.queues[1].Head; id != 0; { // lest anybody walks there
				next := tier.segs[id].Next
				tier.segs[id].Next = 1 << 31
				id = next
			}
			if got := s.cleanable.Cheapest(); got != want {
				t.Errorf("segment %d is cheapest, want %d", got, want)
			}
			return
		}
	}
	t.Fatal("no segment to spoil")
}

// The grades are right after whatever happens to records that lie in one, two or
// many segments: Check compares them.
func TestGrades(t *testing.T) {
	oneGoroutine(t)
	t.Parallel()
	const seed = 3
	rng := rand.New(rand.NewPCG(seed, 0))
	now := int64(1000)
	tier := newOverLower(t, 256<<10, nil, &now)
	var key [8]byte
	for round := range 60 {
		for range 300 {
			binary.LittleEndian.PutUint64(key[:], rng.Uint64N(400))
			size := []int{10, 100, 900, 1500, 5000, 20_000}[min(rng.IntN(8), rng.IntN(8), 5)]
			deadline := int64(0)
			switch rng.IntN(8) {
			case 0:
				tier.deleteKey(key[:])
				continue
			case 1:
				deadline = now + rng.Int64N(5000)
			case 2:
				tier.Get(nil, key[:])
				continue
			}
			if err := tier.setKey(key[:], make([]byte, size), deadline); err != nil {
				t.Fatal(err)
			}
		}
		now += rng.Int64N(1000)
		if round%7 == 0 {
			tier.Sweep()
		}
		if round%20 == 19 {
			tier.Clear()
		}
		if err := tier.Check(); err != nil {
			t.Fatalf("seed %d, round %d: %v", seed, round, err)
		}
	}
}

// A segment is not cheap to clean if a large record begins at its end, though all
// others there have died before it was sealed.
func TestGradeOfStraddlingRecord(t *testing.T) {
	t.Parallel()
	tier := newTier(t, 64<<10)
	for _, size := range []int{800, 3000} {
		if err := tier.setKey([]byte("key"), make([]byte, size), 0); err != nil {
			t.Fatal(err)
		}
		if size == 800 {
			tier.deleteKey([]byte("key"))
		}
	}
	if err := tier.Check(); err != nil {
		t.Error(err)
	}
	if id := tier.shards[0].cleanable.Cheapest(); id != 0 {
		t.Errorf("segment %d is cheap to clean", id)
	}
}
