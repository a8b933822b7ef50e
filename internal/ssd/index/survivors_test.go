package index

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/firncache/firn/internal/ssd/files"
	"github.com/firncache/firn/internal/ssd/format"
)

// tables are the states of a table, in order: what a process leaves of it that is
// killed between two stores.
type tables [][]uint64

// store is the state after one more store.
func (t *tables) store(at int, w uint64) {
	next := slices.Clone((*t)[len(*t)-1])
	next[at] = w
	*t = append(*t, next)
}

// statesOfPut are those of put, by the order in which index says that it stores.
func statesOfPut(s *Shard, e format.Entry) (states tables) {
	states = tables{slices.Clone(s.slots)}
	at, _, ok := s.Search(s.Fingerprint(e))
	end := at
	for !ok && s.slots[end] != 0 {
		end++
	}
	for ; end > at; end-- {
		states.store(end, s.slots[end-1])
	}
	states.store(at, uint64(e))
	return states
}

// statesOfRemove are those of RemoveAt.
func statesOfRemove(s *Shard, at int) (states tables) {
	states = tables{slices.Clone(s.slots)}
	end := at + 1
	for end < len(s.slots) && s.slots[end] != 0 && s.home(s.Fingerprint(format.Entry(s.slots[end]))) < end {
		end++
	}
	for ; at+1 < end; at++ {
		states.store(at, s.slots[at+1])
	}
	states.store(at, 0)
	return states
}

// leftOf is the shard of a process that finds a table in memory.
func leftOf(s *Shard, table []uint64) *Shard {
	left := &Shard{Layout: s.Layout, all: table, head: new(format.ShardHead), capacity: s.capacity}
	left.head.Capacity.Store(uint32(s.capacity))
	return left
}

// entriesOf are a table's entries that are there.
func entriesOf(table []uint64, there func(format.Entry) bool) (entries []uint64) {
	for _, w := range table {
		if w != 0 && there(format.Entry(w)) {
			entries = append(entries, w)
		}
	}
	return entries
}

func everywhere(format.Location) bool { return true }

// Whatever store a process is killed after, what it leaves of a table are the entries
// from before the change or from after it: none is lost but the one that is taken out,
// none is there twice, and none is made up.
func TestSurvivorsOfEveryStore(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		rng := rand.New(rand.NewPCG(seed, 1))
		x := testIndex(t, 0, 8*(MinCapacity+shardSlack))
		s := &x.Shards[0]
		span := format.ID(1) << (20 + rng.IntN(9)) // the fewer of the ids, the longer the runs
		changes, twice := 0, 0
		for changes < 250 {
			n := format.ID(rng.Int64N(int64(span))) * (1 << 28 / span) % (1 << x.FingerprintBits())
			at, _, ok := s.Search(s.FingerprintOf(n))
			var states tables
			switch {
			case ok && rng.IntN(3) > 0:
				states = statesOfRemove(s, at)
				s.RemoveAt(at)
			case x.ReserveSlot(s):
				e := s.NewEntry(n, format.Location(1+rng.IntN(1<<20)), rng.IntN(1<<12), format.IsWhole)
				states = statesOfPut(s, e)
				s.Put(e)
			default:
				states = statesOfRemove(s, fullSlot(s, rng))
				s.RemoveAt(slices.IndexFunc(s.slots, func(w uint64) bool { return w != 0 && !slices.Contains(states[len(states)-1], w) }))
			}
			changes++
			if !slices.Equal(states[len(states)-1], s.slots) {
				t.Fatalf("seed %d: the stores are others than the test's", seed)
			}
			before, after := states[0], s.slots
			all := func(format.Entry) bool { return true }
			for i, state := range states {
				kept, whole := leftOf(s, state).Survivors(nil, everywhere)
				if !slices.Equal(kept, entriesOf(before, all)) && !slices.Equal(kept, entriesOf(after, all)) {
					t.Fatalf("seed %d, change %d, store %d of %d: survivors are\n%x of\n%x", seed, changes, i, len(states)-1, kept, state)
				}
				if whole != (i == 0 || i == len(states)-1 || slices.Equal(state, after) || slices.Equal(state, before)) {
					t.Fatalf("seed %d, change %d, store %d of %d: whole: %v", seed, changes, i, len(states)-1, whole)
				}
				if !whole {
					twice++
				}
			}
		}
		if twice < 50 {
			t.Errorf("seed %d: %d states with an entry twice: the test shows little", seed, twice)
		}
	}
}

// fullSlot is one of the slots that have entries.
func fullSlot(s *Shard, rng *rand.Rand) int {
	for {
		if at := rng.IntN(len(s.slots)); s.slots[at] != 0 {
			return at
		}
	}
}

// Entries of what is not on the disk go, the others stay.
func TestSurvivorsThatAreThere(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	x := testIndex(t, 0, 64<<10)
	s := &x.Shards[0]
	for range 2000 {
		if n := format.ID(rng.Uint64() >> (64 - format.IDBits)); x.ReserveSlot(s) {
			s.Put(s.NewEntry(n, format.Location(1+rng.IntN(1<<20)), 100, format.IsWhole))
		}
	}
	written := func(loc format.Location) bool { return loc%3 != 0 }
	kept, whole := leftOf(s, s.slots).Survivors(nil, written)
	if want := entriesOf(s.slots, func(e format.Entry) bool { return written(s.Location(e)) }); whole || !slices.Equal(kept, want) {
		t.Errorf("whole: %v, %d entries, want %d", whole, len(kept), len(want))
	}
	kept, whole = leftOf(s, s.slots).Survivors(kept[:0], everywhere)
	if !whole || len(kept) != s.count {
		t.Errorf("whole: %v, %d entries, want %d", whole, len(kept), s.count)
	}
}

// Of a table that was being spread, or whose size cannot be, nothing is believed.
func TestSurvivorsOfSpreading(t *testing.T) {
	t.Parallel()
	x := testIndex(t, 0, 8<<10)
	s := &x.Shards[0]
	for n := range format.ID(50) {
		s.Put(s.NewEntry(n<<20, 1, 1, format.IsWhole))
	}
	for name, change := range map[string]func(left *Shard){
		"moving":    func(left *Shard) { left.head.Moving.Store(1) },
		"too small": func(left *Shard) { left.capacity = MinCapacity - 1 },
		"too large": func(left *Shard) { left.capacity = len(left.all) - shardSlack + 1 },
		"endless":   func(left *Shard) { left.capacity = -1 },
	} {
		left := leftOf(s, s.slots)
		change(left)
		if kept, whole := left.Survivors(nil, everywhere); whole || len(kept) > 0 {
			t.Errorf("%s: whole: %v, %d entries", name, whole, len(kept))
		}
	}
}

// A table that is adopted is the shard's, and so is one that is loaded from what
// survived.
func TestAdoptedAndLoaded(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	x := testIndex(t, 0, 256<<10)
	s := &x.Shards[0]
	for s.count < 5000 && x.ReserveSlot(s) {
		s.Put(s.NewEntry(format.ID(rng.Uint64()>>(64-format.IDBits)), format.Location(1+rng.IntN(1<<20)), 100, format.IsWhole))
	}
	adopted := leftOf(s, slices.Clone(s.all))
	adopted.shared = &x.capacities[0]
	kept, whole := adopted.Survivors(nil, everywhere)
	if !whole {
		t.Fatal("it is not whole")
	}
	adopted.Adopt(len(kept))
	y := testIndex(t, 0, 256<<10)
	loaded := &y.Shards[0]
	if !y.Fill(loaded, kept) {
		t.Fatal("it is not loaded")
	}
	for _, got := range []*Shard{adopted, loaded} {
		got.check(t)
		if all := func(format.Entry) bool { return true }; !slices.Equal(entriesOf(got.slots, all), entriesOf(s.slots, all)) {
			t.Error("it has other entries")
		}
	}
	if n := y.TableBytes(); n != y.Used.Load() {
		t.Errorf("the tables take %d bytes, %d are counted", n, y.Used.Load())
	}
	for range 3000 { // both go on
		n := format.ID(rng.Uint64() >> (64 - format.IDBits))
		if y.ReserveSlot(loaded) {
			loaded.Put(loaded.NewEntry(n, 1, 100, format.IsWhole))
		}
		loaded.remove(n + 1)
	}
	loaded.check(t)
}

// An index that is killed while it moves entries has each of them where it was, or
// where it goes, or there twice; and no entry that was taken out.
func TestKilledBetweenTwoStores(t *testing.T) {
	m, _, err := files.NewMemory(format.MemoryShape{Slots: 4, Shards: 1, Stride: 512, SegmentShift: 16, UnitShift: 3, LocationBits: 16}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Release()
	x := New(0, m, false)
	x.Allowed.Store(x.Most)
	s := &x.Shards[0]
	want := map[uint64]format.Location{}
	rng := rand.New(rand.NewPCG(1, 1))
	before := make([]uint64, len(s.all))
	all := func(format.Location) bool { return true }
	for range 4000 {
		copy(before, s.all)
		old := map[uint64]format.Location{}
		for fp, loc := range want {
			old[fp] = loc
		}
		homes := s.capacity
		n := format.ID(rng.IntN(300)) << 32
		fp := s.FingerprintOf(n)
		if at, _, ok := s.Search(fp); ok {
			s.RemoveAt(at)
			delete(want, fp)
		} else if x.ReserveSlot(s) {
			loc := format.Location(1024 + rng.IntN(1000))
			s.Put(s.NewEntry(n, loc, 100, format.IsWhole))
			want[fp] = loc
		}
		if s.capacity != homes || slices.Equal(before, s.all) {
			continue
		}
		// What the shard has of before and after, store for store, in either order of
		// those that the change is made of, is tried by killedHalfway in the order in
		// which it made them: from the end to the gap for put, on from it for remove.
		got, _ := s.Survivors(nil, all)
		if len(got) != len(want) {
			t.Fatalf("%d entries, want %d", len(got), len(want))
		}
		halves(before, s.all, len(want) > len(old), func(table []uint64) {
			half := &Shard{Layout: s.Layout, all: table, head: s.head, capacity: s.capacity}
			kept, _ := half.Survivors(nil, all)
			for _, w := range kept {
				fp, loc := s.Fingerprint(format.Entry(w)), s.Location(format.Entry(w))
				if want[fp] != loc && old[fp] != loc {
					t.Fatalf("entry %x: location %d, want %d or %d", fp, loc, want[fp], old[fp])
				}
			}
			for fp := range want {
				if _, was := old[fp]; was && !has(s, kept, fp) {
					t.Fatalf("entry %x is gone", fp)
				}
			}
		})
	}
}

func has(s *Shard, words []uint64, fp uint64) bool {
	for _, w := range words {
		if s.Fingerprint(format.Entry(w)) == fp {
			return true
		}
	}
	return false
}

// halves calls f for every table between two: with the changed words stored one
// after the other, from the last to the first if down is set, or from the first.
func halves(before, after []uint64, down bool, f func(table []uint64)) {
	table := append([]uint64(nil), before...)
	var changed []int
	for i := range before {
		if before[i] != after[i] {
			changed = append(changed, i)
		}
	}
	for k := range changed {
		i := changed[k]
		if down {
			i = changed[len(changed)-1-k]
		}
		table[i] = after[i]
		f(table)
	}
}
