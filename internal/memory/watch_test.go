package memory

import (
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

const mib = 1 << 20

// machine is a limit, what the neighbors hold, and full caches that hold what they may.
type machine struct {
	mu        sync.Mutex
	limit     int64
	neighbors int64
	stalled   time.Duration
	caches    []*full
	looks     int
	worst     int64 // the least that was ever free when somebody looked
}

type full struct {
	m     *machine
	state State
	gone  bool
}

func (f *full) State() (State, bool) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	return f.state, !f.gone
}

func (f *full) SetBudget(bytes int64) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	f.state.Budget, f.state.Resident = bytes, bytes
}

func (m *machine) usage() Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	left := m.limit - m.neighbors
	for _, f := range m.caches {
		left -= f.state.Resident
	}
	m.looks++
	m.worst = min(m.worst, left)
	return Usage{Limit: m.limit, File: "max", Available: left, Stalled: m.stalled}
}

// cache adds a full cache, and joins it.
func (m *machine) cache(w *Watcher, least, most int64) *full {
	f := &full{m: m, state: State{Budget: most, Resident: most, Least: least, Most: most}}
	m.caches = append(m.caches, f)
	w.Join(f)
	return f
}

func (m *machine) take(bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.neighbors += bytes
}

func newMachine(limit int64) (*machine, *Watcher) {
	m := &machine{limit: limit, worst: limit}
	return m, &Watcher{Usage: m.usage, Growth: func() int64 { return 0 }, Calm: time.Minute}
}

func (f *full) want(t *testing.T, least, most int64) {
	t.Helper()
	if of, _ := f.State(); of.Budget < least || of.Budget > most {
		t.Errorf("the budget is %d MiB, want %d to %d", of.Budget/mib, least/mib, most/mib)
	}
}

func TestBudgetFollowsNeighbors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, w := newMachine(1024 * mib)
		c := m.cache(w, 64*mib, 512*mib)
		time.Sleep(10 * time.Second)
		c.want(t, 512*mib, 512*mib) // nothing else is there

		m.take(600 * mib) // 1,024 - 600 - 64 for surprises
		time.Sleep(2 * time.Second)
		c.want(t, 360*mib, 360*mib)
		m.take(400 * mib)
		time.Sleep(2 * time.Second)
		c.want(t, 64*mib, 64*mib) // and no less

		m.take(-1000 * mib)
		time.Sleep(50 * time.Second)
		c.want(t, 64*mib, 64*mib) // it waits for calm
		time.Sleep(20 * time.Second)
		c.want(t, 512*mib, 512*mib)
		w.Leave(c)
	})
}

func TestBudgetDoesNotSwing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, w := newMachine(1024 * mib)
		c := m.cache(w, 64*mib, 512*mib)
		m.take(600 * mib)
		time.Sleep(10 * time.Minute)
		before, _ := c.State()
		for i := range int64(600) { // a neighbor that breathes by 16 MiB
			m.take(16 * mib * (1 - 2*(i&1)))
			time.Sleep(time.Second)
			of, _ := c.State()
			if of.Budget > before.Budget {
				t.Fatalf("second %d: the budget grew from %d to %d MiB", i, before.Budget/mib, of.Budget/mib)
			}
			before = of
		}
		c.want(t, 328*mib, 360*mib)
		w.Leave(c)
	})
}

func TestPressureShrinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, w := newMachine(1024 * mib)
		c := m.cache(w, 64*mib, 512*mib)
		time.Sleep(10 * time.Second)
		m.mu.Lock()
		m.stalled += time.Second // once, though much is free
		m.mu.Unlock()
		time.Sleep(5 * time.Second)
		c.want(t, 484*mib, 484*mib) // a sixteenth of 64 to 512
		w.Leave(c)
	})
}

func TestHeapThatGrowsHasRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, w := newMachine(1024 * mib)
		w.Growth = func() int64 { return 600 * mib }
		c := m.cache(w, 64*mib, 512*mib)
		time.Sleep(2 * time.Second)
		c.want(t, 360*mib, 360*mib)
		w.Leave(c)
	})
}

func TestCachesShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, w := newMachine(1024 * mib)
		large, small := m.cache(w, 16*mib, 600*mib), m.cache(w, 16*mib, 200*mib)
		m.take(560 * mib)
		time.Sleep(5 * time.Second)
		large.want(t, 290*mib, 301*mib) // three quarters of 400
		small.want(t, 97*mib, 101*mib)
		large.gone = true // forgotten
		m.take(-100 * mib)
		time.Sleep(2 * time.Minute)
		w.Leave(small)
		if n := len(w.caches); n != 0 {
			t.Errorf("%d caches are left", n)
		}
	})
}

// TestBudgetUnderSqueezes has neighbors that take up to 60 MiB at a time and give it back:
// what is free never runs out, and no look is made beyond ten a second.
func TestBudgetUnderSqueezes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, w := newMachine(1024 * mib)
		c := m.cache(w, 64*mib, 900*mib)
		time.Sleep(5 * time.Second)
		random := rand.New(rand.NewPCG(1, 2))
		began := time.Now()
		for range 100 {
			var taken int64
			for taken < 800*mib {
				n := random.Int64N(60 * mib)
				m.take(n)
				taken += n
				time.Sleep(time.Second + time.Millisecond)
			}
			m.take(-taken)
			time.Sleep(time.Minute + 10*time.Second)
			c.want(t, 800*mib, 900*mib)
		}
		w.Leave(c)
		if m.worst < 0 {
			t.Errorf("%d MiB were missing", -m.worst/mib)
		}
		if most := int(time.Since(began)/(time.Second/10)) + 100; m.looks > most {
			t.Errorf("%d looks, want at most %d", m.looks, most)
		}
	})
}

func TestNoLimitLeavesBudgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, w := newMachine(0)
		c := m.cache(w, 64*mib, 512*mib)
		time.Sleep(time.Hour)
		c.want(t, 512*mib, 512*mib)
		w.Leave(c)
	})
}

func TestHeapGrowth(t *testing.T) {
	if n := heapGrowth(); n < 0 || n > 1<<40 {
		t.Errorf("Go's heap will take %d bytes more", n)
	}
}
