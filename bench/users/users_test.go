package users

import (
	"encoding/binary"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/firncache/firn/bench/rivals"
)

// forEach starts every workload, in small, on every store.
func forEach(t *testing.T, test func(t *testing.T, r *Run, name string)) {
	for _, w := range Workloads {
		for _, table := range Tables {
			for _, name := range Stores(w, table) {
				t.Run(w.Name+"/"+string(table)+"/"+name, func(t *testing.T) {
					r, err := Start(w.Small(), table, name)
					if err != nil {
						t.Fatal(err)
					}
					test(t, r, name)
				})
			}
		}
	}
}

// operate lets all workers do so many operations at once.
func operate(r *Run, each int) (all counts) {
	var mu sync.Mutex
	var done sync.WaitGroup
	for _, k := range r.workers {
		done.Go(func() {
			var c counts
			for range each {
				k.step(r.env.w.Batch, &c)
			}
			mu.Lock()
			defer mu.Unlock()
			all.add(c)
		})
	}
	done.Wait()
	r.ops += uint64(all.ops)
	return all
}

// TestStores: every store finds what fits, with the right values, and counts
// right. Byte caches whose parts fill unevenly may drop some.
func TestStores(t *testing.T) {
	forEach(t, func(t *testing.T, r *Run, name string) {
		r.env.rounds = 0
		c := operate(r, 3000/r.env.w.Batch)
		allowed := int64(0)
		if slices.Contains(byteRivals, name) {
			allowed = c.reads / 20
		}
		if c.wrong > 0 || c.refused > 0 || c.reads == 0 {
			t.Errorf("%+v; expected right values, and none refused", c)
		}
		if r.env.w.Fits() && c.hits < c.reads-allowed {
			t.Errorf("%d of %d entries missing; all fit", c.reads-c.hits, c.reads)
		}
		if loads := r.env.loads.Load(); !r.env.w.Fits() && loads == 0 {
			t.Error("nothing was loaded; expected that not all fit")
		}
		runtime.GC() // one under way would count, as a whole, in the turn in which it ends
		r.Begin()
		turn := r.Turn(time.Millisecond)
		if turn.Ops == 0 || turn.Times.TotalCount() == 0 || turn.Times.TotalCount() > turn.Ops || turn.Elapsed <= 0 {
			t.Errorf("%d operations in %s, %d timed", turn.Ops, turn.Elapsed, turn.Times.TotalCount())
		}
		cost := r.End()
		if cost.GCShare < 0 || cost.GCShare > 100 {
			t.Errorf("the collector took %.1f %%", cost.GCShare)
		}
		if cost.Lost < 0 || cost.Lost > allowed {
			t.Errorf("%d operations lost", cost.Lost)
		}
	})
}

// pagesHeld counts the pages in a store, without a load.
func pagesHeld(r *Run) (n int) {
	var has func(e uint32) bool
	switch s := r.store.(type) {
	case *byteStore:
		has = func(e uint32) bool { _, ok := s.c.Get(nil, s.keys.bytes(e)); return ok }
	case *objectStore[string, []byte]:
		if t, ok := s.c.(*theineLoading[string, []byte]); ok {
			return t.c.Len()
		}
		has = func(e uint32) bool { _, ok := s.c.get(s.key(e)); return ok }
	}
	for e := range uint32(r.env.w.Entries) {
		if has(e) {
			n++
		}
	}
	return n
}

// TestBudgets: where not all fits, a store holds no more than its budget, and uses
// it.
func TestBudgets(t *testing.T) {
	w := Find("pages").Small()
	for _, table := range Tables {
		for _, name := range Stores(w, table) {
			t.Run(string(table)+"/"+name, func(t *testing.T) {
				r, err := Start(w, table, name)
				if err != nil {
					t.Fatal(err)
				}
				held := int64(pagesHeld(r)) * int64(w.Value)
				most := w.Budget
				if name == "fastcache" {
					most = max(most, 32<<20) // has no smaller caches
				}
				if held > most || held < w.Budget/3 {
					t.Errorf("%d bytes of values are there; the budget is %d", held, most)
				}
				if cost := r.End(); table == Objects && cost.Heap > w.Budget*5/4 {
					t.Errorf("%d bytes of heap; the budget is %d", cost.Heap, w.Budget)
				}
			})
		}
	}
}

// hostile is a byte cache that takes everything, and drops or confuses some.
type hostile struct {
	mu       sync.Mutex
	m        map[string][]byte
	sets     int
	drop     int  // every so many Sets; 0: none
	confuses bool // gives each entry the value of the first
	tears    bool // the end of a value is from another
}

func (h *hostile) Get(dst, key []byte) ([]byte, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	v, ok := h.m[string(key)]
	return append(dst, v...), ok
}

func (h *hostile) Set(key, value []byte) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sets++
	switch {
	case h.drop > 0 && h.sets%h.drop == 0:
		delete(h.m, string(key))
		return true
	case h.confuses && len(h.m) > 0:
		for _, other := range h.m {
			h.m[string(key)] = other
			return true
		}
	}
	own := append([]byte(nil), value...)
	if h.tears {
		last := (len(own) - 8) / line * line
		binary.LittleEndian.PutUint64(own[last:], binary.LittleEndian.Uint64(own[last:])+1<<32)
	}
	h.m[string(key)] = own
	return true
}

func (h *hostile) Delete(key []byte) {}
func (h *hostile) Wait()             {}
func (h *hostile) Close()            {}

// onHostile runs a workload on a store that is not what it seems.
func onHostile(t *testing.T, w Workload, c rivals.Cache) (*Run, counts) {
	t.Helper()
	w = w.Small()
	r, err := Start(w, Bytes, "freecache")
	if err != nil {
		t.Fatal(err)
	}
	r.store.close()
	r.store = &byteStore{env: r.env, c: c}
	for i, k := range r.workers {
		k.client = r.store.client(uint32(i))
	}
	r.env.rounds = 0
	r.fill()
	r.counted = r.store.counted()
	return r, operate(r, 2000)
}

// TestDropsAreCounted: a store that drops in silence gains nothing by it.
func TestDropsAreCounted(t *testing.T) {
	for _, name := range []string{"sessions", "metadata"} {
		_, c := onHostile(t, Find(name), &hostile{m: make(map[string][]byte), drop: 3})
		if c.hits == c.reads || c.refused > 0 {
			t.Errorf("%s: %d of %d entries found, %d refused; a third was dropped in silence", name, c.hits, c.reads, c.refused)
		}
	}
	r, _ := onHostile(t, Find("limiter"), &hostile{m: make(map[string][]byte), drop: 3})
	if lost := int64(r.ops - (r.store.counted() - r.counted)); lost <= 0 {
		t.Errorf("%d operations lost; a third of the counters was dropped", lost)
	}
	r.Turn(0)
	if cost := r.End(); cost.Lost <= 0 {
		t.Errorf("%d operations lost; a third of the counters was dropped", cost.Lost)
	}
}

// TestWrongValuesAreCounted: so are values of others, and torn ones.
func TestWrongValuesAreCounted(t *testing.T) {
	for _, h := range []*hostile{{confuses: true}, {tears: true}} {
		h.m = make(map[string][]byte)
		if _, c := onHostile(t, Find("sessions"), h); c.wrong == 0 || c.hits != c.reads {
			t.Errorf("%+v; expected wrong values", c)
		}
	}
}

// TestValues: a value is of its entry, of any version, and whole.
func TestValues(t *testing.T) {
	for _, size := range []int{64, 192, 2000, 20_000} {
		v := make([]byte, size)
		fillValue(v, 7, 1<<31+5)
		if !isValue(v, 7, size) || isValue(v, 8, size) || isValue(v[:size-1], 7, size) {
			t.Errorf("%d bytes: expected the value of 7, not of 8 and not a part", size)
		}
		other := make([]byte, size)
		fillValue(other, 7, 6)
		for at := line; at+8 <= size; at += line {
			torn := append(append([]byte(nil), v[:at]...), other[at:]...)
			if isValue(torn, 7, size) {
				t.Fatalf("%d bytes: torn at %d passes", size, at)
			}
		}
	}
}

func TestKeys(t *testing.T) {
	for _, w := range Workloads {
		k := newKeys(1000, w.Key)
		seen := make(map[string]bool)
		for n := range uint32(1000) {
			if len(k.text(n)) != w.Key || k.text(n) != string(k.bytes(n)) || seen[k.text(n)] {
				t.Fatalf("%s: key %q of %d", w.Name, k.text(n), n)
			}
			if w.Key > 8 && (number(k.text(n)) != n || number(k.bytes(n)) != n) {
				t.Fatalf("%s: key %q of %d names %d", w.Name, k.text(n), n, number(k.text(n)))
			}
			seen[k.text(n)] = true
		}
	}
}

// TestSequences: as many operations write as the workload says.
func TestSequences(t *testing.T) {
	for _, w := range Workloads {
		s, err := w.newSequence(100_000, 1)
		if err != nil {
			t.Fatal(err)
		}
		writes := 0
		for i, e := range s {
			if e&write != 0 {
				writes++
				if i%w.Batch != 0 {
					t.Fatalf("%s: a write in the midst of an operation", w.Name)
				}
			}
			if e&^write >= uint32(w.Entries) {
				t.Fatalf("%s: entry %d", w.Name, e&^write)
			}
		}
		want := 0.0
		if w.WriteEvery > 0 {
			want = float64(len(s)/w.Batch) / float64(w.WriteEvery)
		}
		if got := float64(writes); got < 0.6*want || got > 1.4*want {
			t.Errorf("%s: %v writes; expected about %v", w.Name, got, want)
		}
	}
}

// TestCounters: a counter that has ended begins anew, and one that has not keeps
// its end.
func TestCounters(t *testing.T) {
	r, err := Start(Find("limiter").Small(), Bytes, rivals.Firn)
	if err != nil {
		t.Fatal(err)
	}
	e := r.env
	now := uint32(e.clock.NowNano() / int64(time.Second))
	if v, left := e.nextCount(0, false); countOf(v) != 1 || left != e.w.TTL {
		t.Errorf("the first request makes %d, for %s", countOf(v), left)
	}
	if v, left := e.nextCount(counterValue(now+100, 41), true); countOf(v) != 42 || left > 100*time.Second || left < 50*time.Second {
		t.Errorf("the 42nd makes %d, for %s", countOf(v), left)
	}
	if v, left := e.nextCount(counterValue(now, 41), true); countOf(v) != 1 || left != e.w.TTL {
		t.Errorf("the first after its end makes %d, for %s", countOf(v), left)
	}
	r.End()
}
