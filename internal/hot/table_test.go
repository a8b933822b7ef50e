package hot

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// newBudget is a budget of so many bytes, and what of them is lent.
func newBudget(limit int64) (b *Budget, lent *atomic.Int64) {
	b, lent = new(Budget), new(atomic.Int64)
	b.Open(func(bytes int64) error {
		if lent.Add(bytes) > limit {
			lent.Add(-bytes)
			return errors.New("too much")
		}
		return nil
	}, func() bool { return false }, limit)
	return b, lent
}

// put reads a key twice, as it were, and puts its value there.
func put(t *Table[string, int], key string, value, size int) bool {
	for range 2 {
		if place, ok := t.Admit(key, size); ok {
			t.Put(key, value, place)
			return true
		}
	}
	return false
}

func TestTable(t *testing.T) {
	b, lent := newBudget(1 << 20)
	table := newTable[string, int](100, 0, b)
	if table.Get("a") != nil || lent.Load() != 0 {
		t.Error("an empty table has something")
	}
	table.Delete("a")
	put(table, "read", 1, 10)
	if _, ok := table.Read("read"); ok || table.Get("read") == nil {
		t.Error("a value that was put there is missing, or was read already")
	}
	if own, ok := table.Read("read"); !ok || own != "read" {
		t.Error("a value that was read was not")
	}
	for i := range 50 {
		put(table, strconv.Itoa(i), i, 10)
	}
	found := 0
	for i := range 50 {
		if v := table.Get(strconv.Itoa(i)); v != nil {
			if found++; *v != i {
				t.Errorf("%d: got %d", i, *v)
			}
		}
	}
	if found < 45 {
		t.Errorf("%d of 50 values found in a table of 224", found)
	}
	put(table, "7", 77, 10)
	if v := table.Get("7"); v == nil || *v != 77 {
		t.Errorf("a value that was replaced: %v", v)
	}
	if table.Delete("7"); table.Get("7") != nil {
		t.Error("a deleted value is found")
	}
	table.Drop()
	if table.Get("8") != nil || b.Used() != 0 {
		t.Errorf("%d bytes in use after Drop", b.Used())
	}
	table.Close()
}

// Keys that are read in turn become hot, if there is room for them: the table grows.
func TestKeysInTurn(t *testing.T) {
	b, _ := newBudget(1 << 20)
	table := newTable[int, int](4096, 0, b)
	found := 0
	for i := range 40 * 1024 {
		key := i % 1024
		if table.Get(key) != nil {
			found++
		} else if place, ok := table.Admit(key, 8); ok {
			table.Put(key, i, place)
		}
	}
	if found < 20*1024 {
		t.Errorf("%d of %d found", found, 40*1024)
	}
}

// A value that is read stays where others come and go.
func TestClock(t *testing.T) {
	b, _ := newBudget(1 << 20)
	table := newTable[string, int](1, 0, b)
	put(table, "hot", 1, 0)
	for i := range 10_000 {
		if table.Get("hot") == nil {
			t.Fatalf("gone after %d others", i)
		}
		put(table, strconv.Itoa(i), i, 0)
	}
}

// All that is put into a table is paid for, and no more than there is.
func TestBudget(t *testing.T) {
	const limit = 64 << 10
	b, lent := newBudget(limit)
	tables := []*Table[string, int]{newTable[string, int](10_000, 0, b), newTable[string, int](10_000, 0, b)}
	for i := range 20_000 {
		put(tables[i%2], fmt.Sprint("key ", rand.IntN(2000)), i, rand.IntN(200))
		if b.Used() > b.lent.Load() || b.lent.Load() != lent.Load() || b.lent.Load() > limit {
			t.Fatalf("%d bytes in use of %d, %d lent, of %d", b.Used(), b.lent.Load(), lent.Load(), limit)
		}
	}
	if b.Used() < limit/2 {
		t.Errorf("%d bytes in use of %d", b.Used(), limit)
	}
	if place, ok := tables[0].Admit("key 1", 1<<20); ok {
		tables[0].Put("key 1", 1, place)
		if tables[0].Get("key 1") != nil {
			t.Error("a value larger than the budget is there")
		}
	}
	b.Limit(limit / 2)
	if b.Used() != 0 || lent.Load() != 0 {
		t.Errorf("%d bytes in use and %d lent after the limit was lowered", b.Used(), lent.Load())
	}
	put(tables[0], "again", 1, 1)
	if tables[0].Get("again") == nil {
		t.Error("nothing can be put there any more")
	}
	for _, table := range tables {
		table.Close()
	}
	if b.Used() != 0 {
		t.Errorf("%d bytes in use without tables", b.Used())
	}
}

// What is lent while OnEvict panics is lent, and given back, and there may be more.
func TestLendPanics(t *testing.T) {
	const limit = 64 << 10
	b, lent := newBudget(limit)
	lend, panics := b.lend, true
	b.lend = func(bytes int64) error {
		err := lend(bytes)
		if panics {
			panic("callback")
		}
		return err
	}
	table := newTable[string, int](10_000, 0, b)
	caught := func(f func()) (p any) {
		defer func() { p = recover() }()
		f()
		return nil
	}
	for _, f := range []func(){func() { put(table, "k", 1, 100) }, func() { b.Limit(0) }} {
		if caught(f) == nil || b.lent.Load() != lent.Load() || b.busy.Load() {
			t.Fatalf("%d bytes are lent, and counted as %d; busy: %v", lent.Load(), b.lent.Load(), b.busy.Load())
		}
	}
	panics = false
	if b.Limit(limit); !put(table, "k", 1, 100) || table.Get("k") == nil || lent.Load() == 0 {
		t.Error("nothing can be put there any more")
	}
}

// A table of which the budget fills but a few places does not grow.
func TestGrowsNotBeyondBudget(t *testing.T) {
	b, _ := newBudget(1 << 20)
	table := newTable[string, int](100_000, 0, b)
	for i := range 20_000 {
		put(table, strconv.Itoa(i%1000), i, 64<<10)
	}
	if n := len(table.now.Load().sets); n != minSets || b.Used() < 900<<10 {
		t.Errorf("%d sets, %d bytes in use", n, b.Used())
	}
}

// Values that are read stay where the budget is spent, though others come and go, each in a set of
// its own.
func TestReadValuesStay(t *testing.T) {
	const hot, rounds = 500, 200 // of the 1,200 values or so that there is room for
	b, _ := newBudget(256 << 10)
	table := newTable[string, int](100_000, 0, b)
	found := 0
	for i := range 2 * hot * rounds {
		key := strconv.Itoa(i)
		if i%2 == 0 {
			key = "read " + strconv.Itoa(i/2%hot)
		}
		switch {
		case table.Get(key) == nil:
			put(table, key, i, 100)
		case i > hot*rounds:
			found++
		}
	}
	if found < hot*rounds/2*95/100 {
		t.Errorf("%d of %d reads found the value", found, hot*rounds/2)
	}
}

// A table that has little of a budget that others have spent does not search all of its places for
// each value.
func TestSearchIsBounded(t *testing.T) {
	b, _ := newBudget(1 << 20)
	table := newTable[string, int](100_000, 0, b)
	for i := range 2000 {
		put(table, strconv.Itoa(i), i, 100)
	}
	now := table.now.Load()
	for i := range now.sets {
		for j := range ways {
			now.evict(&now.sets[i], j)
		}
	}
	for b.take(1 << 10) { // for another table
	}
	before := now.hand
	table.Put("a", 1, Place{bytes: 4 << 10})
	if passed := now.hand - before; len(now.sets)*ways <= maxPassed || passed > maxPassed {
		t.Errorf("%d of %d places were searched, want %d at most", passed, len(now.sets)*ways, maxPassed)
	}
}

// Once the RAM tier is full, the next value that comes finds the others gone if they have more
// than is allowed then.
func TestFullBudget(t *testing.T) {
	const limit = 64 << 10
	b, lent := newBudget(limit)
	full := false
	b.full = func() bool { return full }
	table := newTable[string, int](1000, 0, b)
	for i := range ways - 1 { // as many as one set has room for: none drives out another
		put(table, strconv.Itoa(i), i, 4<<10)
	}
	for _, now := range []bool{false, true} {
		full = now
		put(table, "another", 1, 200)
		if gone := table.Get("0") == nil; table.Get("another") == nil || gone != full || full && lent.Load() > limit/FullShare {
			t.Errorf("full %v: the others are gone %v, %d bytes lent", full, gone, lent.Load())
		}
	}
}

// A Get that begins after Delete finds no value from before it, while the table grows, is
// dropped and other keys are put there.
func TestDeleteIsSeen(t *testing.T) {
	b, _ := newBudget(1 << 20)
	table := newTable[string, int](10_000, 0, b)
	var owners sync.WaitGroup
	for g := range 4 {
		owners.Go(func() {
			for i := range 20_000 {
				key := fmt.Sprint(g, " ", rand.IntN(64))
				table.Delete(key)
				if v := table.Get(key); v != nil {
					t.Errorf("%s: %d found after Delete", key, *v)
				}
				put(table, key, i, 10)
				if v := table.Get(key); v != nil && *v != i {
					t.Errorf("%s: got %d, want %d or nothing", key, *v, i)
				}
				if i%1000 == 0 {
					table.Drop()
				}
			}
		})
	}
	owners.Wait()
	if table.Close(); b.Used() != 0 {
		t.Errorf("%d bytes in use after Close", b.Used())
	}
}

func BenchmarkGet(b *testing.B) {
	budget, _ := newBudget(1 << 26)
	table := newTable[string, int](5000, 0, budget)
	keys := make([]string, 5000)
	for range 4 {
		for i := range keys {
			keys[i] = fmt.Sprint("metadata/", i)
			put(table, keys[i], i, 100)
		}
	}
	hits := 0
	b.ResetTimer()
	for i := range b.N {
		if table.Get(keys[i%len(keys)]) != nil {
			hits++
		}
	}
	b.ReportMetric(float64(hits)/float64(b.N), "hits/op")
}

func newTable[K comparable, V any](n, inline int, b *Budget) *Table[K, V] {
	t := new(Table[K, V])
	t.Open(n, inline, b)
	return t
}

// One long value does not drive out all that there are, in one hold of the lock; the next finds the
// room that it has made.
func TestLongValue(t *testing.T) {
	const budget, short, n = 1 << 20, 200, 10_000
	b, _ := newBudget(budget)
	table := newTable[string, int](n, 0, b)
	for i := range n {
		put(table, strconv.Itoa(i), i, short)
	}
	entries := func() (found int) {
		now := table.now.Load()
		for i := range now.sets {
			for j := range ways {
				if now.sets[i].entries[j].Load() != nil {
					found++
				}
			}
		}
		return found
	}
	before, tries := entries(), 0
	for ; table.Get("long") == nil && tries < 1000; tries++ {
		was := entries()
		table.Put("long", 1, table.Room(budget/4))
		if gone := was - entries(); gone > maxEvicted+1 {
			t.Fatalf("%d values were driven out at once", gone)
		}
	}
	if tries < 10 || tries == 1000 {
		t.Errorf("the long value was there after %d tries, of %d short ones", tries, before)
	}
}
