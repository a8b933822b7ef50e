package whatif

import (
	"sync"
	"testing"
	"time"

	"github.com/firncache/firn/internal/policy"
	"github.com/firncache/firn/internal/workload"
)

func TestKeepsToItsMemory(t *testing.T) {
	t.Parallel()
	for bytes := MinBytes; bytes <= 1<<20; bytes += 13_000 {
		s := New(bytes, 0.01)
		if got := int(s.Bytes()); got > bytes || got < bytes*8/10 {
			t.Errorf("one of %d bytes takes %d", bytes, got)
		}
		s.Sync(10<<20, false, 0, 0)
		for i := range uint64(3000) {
			if s.Wants(i) {
				s.Store(i, 10, 0, 0)
			}
		}
		if s.Curve().Points[4].Keys == 0 {
			t.Errorf("%d bytes: no keys", bytes)
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	b := newBeside(t, 1<<18, 1<<18)
	b.reads(10_000, true, 100, b.zipf(10_000))
	i := uint64(0)
	if n := testing.AllocsPerRun(5000, func() {
		i++
		hash := workload.Scramble(i % 9000)
		b.Read(hash, i%3 == 0, 100, 0, int64(i))
		b.Store(hash, 100, int64(i)+500, int64(i))
		b.Delete(workload.Scramble(i % 777))
		b.Sync(1<<18+int64(i%3)<<17, true, i, i)
		_ = b.Curve()
		if i%1000 == 0 {
			b.Clear()
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	s := New(1<<17, 1)
	var wg sync.WaitGroup
	for n := range uint64(4) {
		wg.Go(func() {
			for i := range uint64(20_000) {
				hash := workload.Scramble(i*n%5000 + 1)
				if !s.Wants(hash) {
					continue
				}
				switch i % 8 {
				case 0:
					s.Delete(hash)
				case 1:
					s.Sync(int64(i%5)<<16, true, i, i)
				case 2:
					_ = s.Curve()
				case 3, 4:
					s.Store(hash, uint32(i%100), int64(i+50), int64(i))
				default:
					s.Read(hash, i%2 == 0, 50, 0, int64(i))
				}
			}
			s.Clear()
		})
	}
	wg.Wait()
	for _, g := range s.groups {
		if wrong := books(g); wrong != "" {
			t.Error(wrong)
		}
	}
}

// What comes while somebody else is in is dropped, and counted.
func TestDrops(t *testing.T) {
	t.Parallel()
	s := New(1<<17, 1)
	s.mu.Lock()
	s.Read(1, false, 0, 0, 0)
	s.Store(1, 10, 0, 0)
	s.mu.Unlock()
	if c := s.Curve(); c.Lost != 2 || c.Points[5].Keys != 0 {
		t.Errorf("%d lost, %d keys; want 2 and none", c.Lost, c.Points[5].Keys)
	}
}

// The samples become so small that the simulation takes its share of the time, and grow again when
// there is more of it.
func TestShareOfTheTime(t *testing.T) {
	t.Parallel()
	skipUnderRace(t)
	b := newBeside(t, 1<<20, 4<<20)
	b.each, b.budget.share = 3*time.Microsecond, 0.01
	b.reads(200_000, true, 1000, b.zipf(20_000))
	used := func() float64 { // share of the time, over the reads
		cost, since, was := 0.0, b.now, b.budget.total
		b.reads(300_000, true, 1000, b.zipf(20_000))
		cost = float64(b.budget.total-was) * float64(b.each)
		return cost / (1e6 * float64(b.now-since))
	}
	if share := used(); share > 0.02 {
		t.Errorf("at 100,000 reads a second it takes %.3f of the time, want at most 0.01", share)
	}
	small := b.groups[1].rate.share
	b.each = time.Nanosecond
	b.reads(600_000, true, 1000, b.zipf(20_000))
	if large := b.groups[1].rate.share; large < 4*small {
		t.Errorf("the sample has %.4f of the keys when events are cheap, %.4f when they were dear", large, small)
	}
}

// Where callers wait, as in a replay, the sample of a small cache keeps the keys that a figure needs,
// whatever time they take.
func TestReplayKeepsKeys(t *testing.T) {
	t.Parallel()
	b := newBeside(t, 1<<20, 500<<10)
	b.Waits, b.each, b.budget.share = true, 50*time.Microsecond, 0.01
	b.evicting = true
	c := b.reads(100_000, true, 1000, b.zipf(20_000))
	if c.Points[1].State != Valid || c.Points[2].Keys < 3*fewKeys || c.Points[2].Keys > 8*fewKeys {
		t.Errorf("%v, %d keys at the present size; want half of it valid, and no more keys than that takes", c.states(), c.Points[2].Keys)
	}
}

// A simulation without room for tuners takes the setting that the cache has chosen, one with room
// chooses for each size.
func TestChoose(t *testing.T) {
	t.Parallel()
	chosen := policy.Setting{Share: 0.8, Promote: 1, Stay: true}
	for bytes, want := range map[int]policy.Setting{MinBytes: chosen, 1 << 20: untuned.Setting()} {
		s := New(bytes, 1)
		s.Choose(chosen)
		for _, g := range s.groups {
			for n := range g.sizes {
				if got := g.sizes[n].pieces[0].setting(); got != want {
					t.Errorf("%d bytes, ×%g: %+v, want %+v", bytes, g.sizes[n].factor, got, want)
				}
			}
		}
	}
}

// With little memory the largest size is not simulated, so that the others have twice as many keys.
func TestLargestSize(t *testing.T) {
	t.Parallel()
	for memory, want := range map[int]State{largestBytes: Valid, largestBytes - 1: FewKeys} {
		b := newBeside(t, memory, 1<<20)
		b.reads(3000, true, 1000, b.zipf(50_000))
		b.evicting = true
		c := b.reads(60_000, true, 1000, b.zipf(50_000))
		if p := c.Points[5]; p.State != want || p.Factor != 8 || c.Points[4].State != Valid {
			t.Errorf("%d bytes: %v, the largest %+v; want it %v, and the next one valid", memory, c.states(), p, want)
		}
	}
}

// Callers that have read the cache's counts may overtake each other: nothing is counted twice.
func TestSyncsOvertake(t *testing.T) {
	t.Parallel()
	s := New(1<<17, 1)
	for _, hits := range []uint64{0, 100, 300, 200, 400, 350, 500} {
		s.Sync(1<<20, true, hits, hits)
	}
	if c := s.Curve(); c.Reads != 1000 {
		t.Errorf("%v reads of 1000 were counted", c.Reads)
	}
}

// Under a load that comes and goes a sample does not grow each time that it goes.
func TestBursts(t *testing.T) {
	t.Parallel()
	skipUnderRace(t)
	b := newBeside(t, 1<<20, 4<<20)
	b.budget.share = 0.01
	grown, share := 0, 1.0
	for range 12 {
		for _, b.each = range []time.Duration{3 * time.Microsecond, time.Nanosecond} {
			for range 30 {
				b.reads(5_000, true, 1000, b.zipf(20_000))
				if now := b.groups[1].rate.share; now > share {
					grown, share = grown+1, now
				} else {
					share = now
				}
			}
		}
	}
	if grown == 0 || grown > 5 {
		t.Errorf("in 12 bursts the sample grew %d times, want 1 to 5", grown)
	}
}

// Without time there is no verdict, and when time goes back neither.
func TestTimeStandsStill(t *testing.T) {
	t.Parallel()
	b := budget{share: 0.001, cost: 1000}
	for range 100_000 {
		b.count()
		if b.factor(5) != 0 {
			t.Fatal("a verdict without time")
		}
	}
	if b.factor(6) >= 1 {
		t.Error("100,000 events of a microsecond in one millisecond were not too many")
	}
	if b.factor(3) != 0 || b.factor(4) != 0 {
		t.Error("a verdict on time that went back")
	}
}
