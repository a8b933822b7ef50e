package bufpool

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestRetention holds the ceilings under mixed sizes from many goroutines.
func TestRetention(t *testing.T) {
	const ceiling, levelCeiling = 1 << 20, 128 << 10
	p, _ := New(Options{MaxBytes: ceiling, Levels: []Level{{Size: 512}, {Size: 4096, MaxBytes: levelCeiling}, {Size: 64 << 10}}})
	hold := func(rng *rand.Rand) {
		var held []*Buffer
		for range 60 {
			held = append(held, p.Get(rng.IntN(80<<10)))
		}
		for _, i := range rng.Perm(len(held)) {
			held[i].Release()
		}
	}
	for round := range uint64(20) {
		var wg sync.WaitGroup
		for g := range uint64(4) {
			wg.Go(func() { hold(rand.New(rand.NewPCG(round, g))) })
		}
		wg.Wait()
		if p.Bytes() > ceiling {
			t.Fatalf("%d bytes kept, ceiling %d", p.Bytes(), ceiling)
		}
		for _, s := range p.Stats() {
			if s.InUse != 0 || s.Size == 4096 && s.Bytes > levelCeiling || int64(s.Idle*s.Size) > s.Bytes {
				t.Fatalf("%+v", s)
			}
		}
	}
	if p.Bytes() == 0 {
		t.Fatal("nothing was kept")
	}
}

// TestLargeBuffersDoNotCrowdOut: what is lent above the top level counts against
// no ceiling.
func TestLargeBuffersDoNotCrowdOut(t *testing.T) {
	p, _ := New(Options{Levels: []Level{{Size: 64}}, MaxBytes: 1024})
	large := p.Get(1 << 20)
	p.Get(64).Release()
	if s := p.Stats()[0]; s.Idle != 1 || p.Bytes() != 1<<20+64 {
		t.Fatalf("%+v, %d bytes: want the small buffer to be kept", s, p.Bytes())
	}
	large.Release()
}

// eventually waits for what the collector's cleanups do: for as many cycles as it
// takes, each until its cleanups have begun.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	hangs := time.After(time.Minute)
	for !ok() {
		cycle := make(chan struct{})
		runtime.AddCleanup(new([16]byte), func(c chan struct{}) { close(c) }, cycle)
		runtime.GC()
		select {
		case <-cycle:
		case <-hangs:
			t.Fatalf("not within a minute: %s", what)
		}
		select {
		case <-hangs:
			t.Fatalf("not within a minute: %s", what)
		default:
		}
	}
}

func TestIdleMemoryIsGivenBack(t *testing.T) {
	for _, offHeap := range []bool{false, true} {
		p, _ := New(Options{Levels: []Level{{Size: 4096, OffHeap: offHeap}, {Size: 1 << 20, OffHeap: offHeap}}})
		var mapped atomic.Int64
		for i := range p.levels {
			countMapped(&p.levels[i].memory, &mapped)
		}
		var held []*Buffer
		for i := range 40 {
			held = append(held, p.Get(1+i%2*(1<<20-1)))
		}
		for _, b := range held {
			b.Release()
		}
		if p.Bytes() < 20<<20 {
			t.Fatalf("%d bytes owned, expected more than 20 MiB", p.Bytes())
		}
		if elsewhere := offHeap && !checkedBuild; elsewhere != (mapped.Load() == p.Bytes()) {
			t.Fatalf("%d bytes mapped of %d owned", mapped.Load(), p.Bytes())
		}
		eventually(t, fmt.Sprintf("nothing owned (off-heap %t)", offHeap), func() bool { return p.Bytes() == 0 })
		if n := mapped.Load(); n != 0 {
			t.Fatalf("%d bytes still mapped, expected 0", n)
		}
		if n := total(p, func(s LevelStats) uint64 { return s.GivenBack }); n < 40 {
			t.Fatalf("%d blocks given back, expected 40 or more", n)
		}
		if n := p.lentNow(); n != 0 {
			t.Fatalf("%d buffers lent or leaked, expected 0", n)
		}
		b := p.Get(100) // and the pool goes on
		b.WriteString("x")
		b.Release()
	}
}

// countMapped keeps the number of bytes that m has lent out.
func countMapped(m *memory, n *atomic.Int64) {
	if m.alloc == nil {
		return
	}
	alloc, free := m.alloc, m.free
	m.alloc = func(size int) ([]byte, error) { n.Add(int64(size)); return alloc(size) }
	m.free = func(b []byte) error { n.Add(-int64(len(b))); return free(b) }
}

// TestPoolIsCollected: a pool that is dropped takes its memory along.
func TestPoolIsCollected(t *testing.T) {
	gone := make(chan struct{})
	func() {
		p, _ := New(Options{Levels: []Level{{Size: 4096}}})
		p.Get(1).Release()
		runtime.AddCleanup(p, func(c chan struct{}) { close(c) }, gone)
	}()
	eventually(t, "the pool is collected", func() bool {
		select {
		case <-gone:
			return true
		default:
			return false
		}
	})
}

func TestForgottenBuffers(t *testing.T) {
	p, _ := New(Options{Levels: []Level{{Size: 4096}}, Checked: true})
	forget(p)
	eventually(t, "the forgotten buffer is found", func() bool { return p.Stats()[0].Leaked == 1 })
	leaks := p.Leaks()
	if len(leaks) != 1 || !leaks[0].Forgotten || leaks[0].References != 1 || !strings.Contains(leaks[0].Stack, "bufpool.forget") {
		t.Fatalf("%v", leaks)
	}
	if p.Bytes() != 0 {
		t.Fatalf("%d bytes owned, expected 0", p.Bytes())
	}
}

//go:noinline
func forget(p *Pool) { p.Get(100) }

func TestOffHeap(t *testing.T) {
	if checkedBuild {
		t.Skip("checked pools take all memory from the heap")
	}
	p, _ := New(Options{Levels: []Level{{Size: 4096, OffHeap: true}}})
	b := p.Get(1)
	b.WriteString("kept")
	if b.slot.slab.mapped == nil {
		t.Fatal("memory is not from internal/offheap")
	}
	b.Release()

	p.levels[0].memory.alloc = func(int) ([]byte, error) { return nil, fmt.Errorf("no memory") }
	a, b := p.Get(1), p.Get(1)
	b.WriteString("from the heap")
	if s := p.Stats()[0]; s.OffHeapFail == 0 || s.InUse != 2 {
		t.Fatalf("%+v: want a refusal counted and the heap to serve", s)
	}
	a.Release()
	b.Release()
}
