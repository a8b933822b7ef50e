package registry

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

const seed = 0x0123456789abcdef

func tableOf(slots int) (*Table, []byte) {
	mem := make([]byte, Bytes(slots))
	return New(mem, seed), mem
}

func tag(i int) ID       { return IDOf(Tag, fmt.Sprint("tag ", i)) }
func namespace(i int) ID { return IDOf(Namespace, fmt.Sprint("namespace ", i)) }

func TestNumbers(t *testing.T) {
	t.Parallel()
	x, mem := tableOf(MinSlots)
	for _, id := range []ID{tag(1), namespace(1), IDOf(Tag, "namespace 1")} {
		if n, ok := x.Get(id); ok {
			t.Errorf("%x: %d before it was drawn", id, n)
		}
		n := x.GetOrDraw(id)
		if got, ok := x.Get(id); n == 0 || !ok || got != n || x.GetOrDraw(id) != n {
			t.Errorf("%x: %d, %v after %d was drawn", id, got, ok, n)
		}
		next := x.Bump(id)
		if got, ok := x.Get(id); next == 0 || next == n || !ok || got != next {
			t.Errorf("%x: %d, %v after it was replaced by %d", id, got, ok, next)
		}
		if got, ok := New(mem, 1).Get(id); !ok || got != next {
			t.Errorf("%x: the next process finds %d, %v, want %d", id, got, ok, next)
		}
	}
}

// The first numbers are the same for whoever has lost the table, as long as it has
// forgotten nothing, and only with the seed.
func TestFirstNumbers(t *testing.T) {
	t.Parallel()
	a, _ := tableOf(MinSlots)
	b, _ := tableOf(MinSlots)
	other := New(nil, seed+1)
	for i := range 10 {
		if n := a.GetOrDraw(tag(i)); b.GetOrDraw(tag(i)) != n || other.GetOrDraw(tag(i)) == n {
			t.Errorf("tag %d: %d with one seed, %d with another; %d again", i, n, other.GetOrDraw(tag(i)), b.GetOrDraw(tag(i)))
		}
	}
	if a.Bump(tag(11)) == b.GetOrDraw(tag(11)) {
		t.Error("a number that replaces none is a first one")
	}
}

// A number that an id has had never comes back, however many are forgotten, and
// whatever process asks.
func TestNothingComesBack(t *testing.T) {
	t.Parallel()
	for name, idOf := range map[string]func(int) ID{"tags": tag, "namespaces": namespace} {
		x, mem := tableOf(MinSlots)
		rng := rand.New(rand.NewPCG(1, 2))
		dead, live := map[uint64]bool{}, map[ID]uint64{}
		forgotten := 0
		for i := range 20_000 {
			if i%500 == 0 {
				x = New(mem, seed)
			}
			id := idOf(rng.IntN(400))
			n, known := x.Get(id)
			if rng.IntN(2) == 0 {
				n = x.Bump(id)
			} else if !known {
				n = x.GetOrDraw(id)
			}
			if old := live[id]; old != n {
				dead[old] = true
				if old != 0 && !known {
					forgotten++
				}
			}
			if dead[n] {
				t.Fatalf("%s: %d came back at step %d", name, n, i)
			}
			live[id] = n
		}
		if forgotten == 0 || !x.Forgot() {
			t.Errorf("%s: %d forgotten, and the table says %v", name, forgotten, x.Forgot())
		}
	}
}

// What is held stays, and tags and namespaces do not drive out each other; when all
// is held, a number is good for its caller.
func TestHeld(t *testing.T) {
	t.Parallel()
	x, _ := tableOf(MinSlots)
	most := MinSlots / 4
	var numbers []uint64
	for i := range most {
		numbers = append(numbers, x.Hold(namespace(i)))
	}
	for i := range 10_000 {
		x.Bump(tag(i))
	}
	late := x.Hold(namespace(most))
	if n, ok := x.Get(namespace(most)); ok || late == 0 {
		t.Errorf("with all slots held another id has %d, and %d in the table", late, n)
	}
	if again := x.Hold(namespace(most)); again == late {
		t.Error("the number of an id that found no slot came back")
	}
	for i, n := range numbers {
		if got, ok := x.Get(namespace(i)); !ok || got != n {
			t.Errorf("namespace %d, which is held: %d, %v, want %d", i, got, ok, n)
		}
	}
	x.Release(namespace(3))
	x.Release(namespace(most)) // which has no slot
	for i := range 3 {
		x.Hold(namespace(most + i))
	}
	if _, ok := x.Get(namespace(3)); ok {
		t.Error("a released id kept its slot from one that is held")
	}
}

// Ids that are used stay while others come and go.
func TestClock(t *testing.T) {
	t.Parallel()
	x, _ := tableOf(1 << 10)
	n := x.GetOrDraw(tag(0))
	for i := 1; i < 20_000; i++ {
		x.GetOrDraw(tag(i))
		if got, ok := x.Get(tag(0)); !ok || got != n {
			t.Fatalf("lost after %d others, though it was read before each", i)
		}
	}
}

// A process that dies after any store leaves a table in which every other id has its
// number, or is known to be forgotten, and the one that came has its own, or none.
func TestKilledWhileInserting(t *testing.T) {
	t.Parallel()
	x, mem := tableOf(MinSlots)
	before, numbers, kills := map[ID]uint64{}, map[uint64]bool{}, 0
	x.stored = func() {
		kills++
		next := New(bytes.Clone(mem), seed)
		found := map[ID]uint64{}
		for id, n := range next.All {
			found[id] = n
		}
		lost := 0
		for id, n := range before {
			if found[id] == 0 {
				lost++
			} else if found[id] != n {
				t.Errorf("%x has %d, want %d", id, found[id], n)
			}
			delete(found, id)
		}
		for id, n := range found {
			if numbers[n] {
				t.Errorf("%x has the number of another", id)
			}
		}
		if lost > 1 || len(found) > 1 || lost > 0 && !next.Forgot() {
			t.Errorf("%d are lost, %d have come, and the table says that it forgot some: %v", lost, len(found), next.Forgot())
		}
	}
	for i := range 400 {
		clear(before)
		for id, n := range x.All {
			before[id], numbers[n] = n, true
		}
		x.Bump(tag(i % 150))
	}
	if kills < 400 {
		t.Errorf("%d stores", kills)
	}
}

func TestRestoreAndReset(t *testing.T) {
	t.Parallel()
	x, _ := tableOf(1 << 8)
	for i := range 30 {
		x.Bump(tag(i))
		x.Bump(namespace(i))
	}
	for _, slots := range []int{1 << 10, 1 << 8, MinSlots} {
		y, _ := tableOf(slots)
		y.Restore(false, x.All)
		n := 0
		for id, number := range y.All {
			n++
			if got, ok := x.Get(id); !ok || got != number {
				t.Errorf("%d slots: %x has %d, want %d", slots, id, number, got)
			}
		}
		if forgot := n < 60; forgot != y.Forgot() || forgot != (slots == MinSlots) {
			t.Errorf("%d slots: %d numbers, and it says that it forgot some: %v", slots, n, y.Forgot())
		}
		z, _ := tableOf(slots)
		z.Restore(true, func(func(ID, uint64) bool) {})
		if !z.Forgot() {
			t.Error("a table does not say what the one before it forgot")
		}
		y.Reset()
		for id := range y.All {
			t.Errorf("%x after Reset", id)
		}
		if y.Forgot() {
			t.Error("an empty table says that it forgot")
		}
	}
}

// Any bytes are a table.
func FuzzTable(f *testing.F) {
	x, mem := tableOf(MinSlots)
	x.Bump(tag(1))
	x.Hold(namespace(1))
	f.Add(mem[:200])
	f.Fuzz(func(t *testing.T, b []byte) {
		mem := make([]byte, Bytes(MinSlots))
		copy(mem, b)
		x := New(mem, seed)
		for i := range 100 {
			n := x.Bump(tag(i))
			if got, ok := x.Get(tag(i)); n == 0 || !ok || got == 0 {
				t.Fatalf("%d, %v after %d", got, ok, n)
			}
			x.Release(namespace(i))
			x.Hold(namespace(i))
		}
		y := New(nil, seed)
		y.Restore(x.Forgot(), x.All)
	})
}

// Readers never see the number of another id while slots are taken over.
func TestReadsDuringTakeovers(t *testing.T) {
	t.Parallel()
	x, _ := tableOf(MinSlots)
	const ids, steps = 200, 5_000
	var mu sync.Mutex
	owner := map[uint64]ID{}
	seen := make([]map[uint64]ID, 2)
	var group sync.WaitGroup
	for k := range seen {
		seen[k] = map[uint64]ID{}
		group.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(k), 9))
			for range steps {
				id := tag(rng.IntN(ids))
				if n, ok := x.Get(id); ok {
					seen[k][n] = id
				}
			}
		})
		group.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(k), 10))
			for range steps {
				id := tag(rng.IntN(ids))
				mu.Lock()
				owner[x.Bump(id)] = id
				mu.Unlock()
			}
		})
	}
	group.Wait()
	for _, s := range seen {
		for n, id := range s {
			if owner[n] != id {
				t.Errorf("%x was read with the number of %x", id, owner[n])
			}
		}
	}
}

func TestSizes(t *testing.T) {
	t.Parallel()
	var got []int
	for _, bytes := range []int64{0, 1 << 10, 4 << 10, 16 << 10, 1 << 20, 1 << 40} {
		n := SlotsFor(bytes)
		got = append(got, n)
		if n > MinSlots && Memory(n) > bytes {
			t.Errorf("%d slots with %d bytes", n, bytes)
		}
	}
	if want := []int{64, 64, 128, 512, 32768, 32768}; !slices.Equal(got, want) {
		t.Errorf("%v slots, want %v", got, want)
	}
	if x := New(nil, 1); x.Slots() != MinSlots {
		t.Errorf("%d slots on the heap, want %d", x.Slots(), MinSlots)
	}
}
