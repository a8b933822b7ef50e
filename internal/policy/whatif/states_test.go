package whatif

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/firncache/firn/internal/workload"
)

// beside is a simulation beside a cache that knows all keys.
type beside struct {
	*Simulation
	t            *testing.T
	cache        *group
	now          int64
	bytes        int64
	evicting     bool
	hits, misses uint64
	each         time.Duration // by the stopwatch, for each event
	watch        time.Duration
}

func newBeside(t *testing.T, memory int, bytes int64) *beside {
	b := &beside{t: t, bytes: bytes, each: time.Microsecond / 2, cache: newGroupOf([]float64{1}, 1<<16-2, mostTunerKeys, true)}
	b.cache.stored = firstRecords
	b.Simulation = NewTimed(memory, 1, func() time.Duration { b.watch += b.each; return b.watch })
	b.sync()
	return b
}

// sync syncs, and has a look at the curve.
func (b *beside) sync() Curve {
	b.t.Helper()
	b.Sync(b.bytes, b.evicting, b.hits, b.misses)
	b.cache.setBytes(b.bytes)
	c := b.Curve()
	for _, p := range c.Points {
		for _, v := range []float64{p.Filled, p.MissRatio, p.ByteMissRatio} {
			if !(v >= 0 && v <= 1) {
				b.t.Fatalf("a share is not 0 to 1: %+v", p)
			}
		}
		for _, v := range []float64{p.Error, p.Inserts, p.Entries, float64(p.Life), c.Control, c.Real} {
			if !(v >= 0) || math.IsInf(v, 0) {
				b.t.Fatalf("no figure: %+v, %+v", p, c)
			}
		}
	}
	return c
}

// reads lets so many reads come, of keys that next draws, 100 in a millisecond. With loads what misses
// is stored.
func (b *beside) reads(n int, loads bool, size uint32, next func() uint64) Curve {
	b.t.Helper()
	for i := range n {
		if i%1000 == 0 {
			b.now += 10
			b.sync()
		}
		hash := workload.Scramble(next() + 1)
		found := b.cache.table.find(hash) != 0
		b.cache.read(newEvent(hash, size, 0), found)
		if found {
			b.hits++
		} else {
			b.misses++
			if loads {
				b.cache.store(newEvent(hash, size, 0))
			}
		}
		if b.Wants(hash) {
			b.Read(hash, found, size, 0, b.now)
			if !found && loads {
				b.Store(hash, size, 0, b.now)
			}
		}
	}
	for _, g := range b.groups {
		if wrong := books(g); wrong != "" {
			b.t.Fatal(wrong)
		}
	}
	return b.sync()
}

func (b *beside) zipf(keys uint64) func() uint64 {
	return workload.NewZipf(rand.NewPCG(9, 9), 0.8, keys).Next
}

// states are the states of a curve's points.
func (c Curve) states() (all []State) {
	for _, p := range c.Points {
		all = append(all, p.State)
	}
	return all
}

var allValid = make([]State, len(Factors))

func TestStates(t *testing.T) {
	t.Parallel()
	skipUnderRace(t)
	b := newBeside(t, 1<<20, 1<<20)
	if c := b.sync(); c.Points[0].State != Filling || c.Points[0].Filled != 0 {
		t.Errorf("empty: %+v, want filling", c.Points[0])
	}
	c := b.reads(3000, true, 1000, b.zipf(50_000))
	if c.Points[0].State != Valid || c.Points[5].State != Filling || c.Points[5].Filled == 0 || c.Points[5].Filled > 0.5 {
		t.Errorf("at first: %v, of the largest %.2f is filled; want the smallest valid, the largest filling", c.states(), c.Points[5].Filled)
	}
	b.evicting = true
	c = b.reads(40_000, true, 1000, b.zipf(50_000))
	if !slices.Equal(c.states(), allValid) {
		t.Errorf("after 100,000 reads: %v, want all valid", c.states())
	}
	for i, p := range c.Points[1:] {
		if p.MissRatio >= c.Points[i].MissRatio {
			t.Errorf("×%g misses %.3f, ×%g %.3f", p.Factor, p.MissRatio, c.Points[i].Factor, c.Points[i].MissRatio)
		}
		if p.Life <= c.Points[i].Life {
			t.Errorf("an entry stays for %v in ×%g and %v in ×%g", p.Life, p.Factor, c.Points[i].Life, c.Points[i].Factor)
		}
	}
	b.Clear()
	b.evicting = false
	if c = b.sync(); c.Points[0].State != Filling || c.Points[5].State != Filling || c.Points[2].Entries != 0 {
		t.Errorf("after Clear: %v, %.0f entries; want all filling, none", c.states(), c.Points[2].Entries)
	}
	c = b.reads(60_000, true, 1000, b.zipf(50_000))
	if !slices.Equal(c.states(), allValid) {
		t.Errorf("filled again: %v, want all valid", c.states())
	}
}

// A cache that holds all that is asked for is valid in the end, at all sizes.
func TestNeverFull(t *testing.T) {
	t.Parallel()
	skipUnderRace(t)
	b := newBeside(t, 1<<20, 1<<30)
	c := b.reads(450_000, true, 1000, b.zipf(2000))
	if !slices.Equal(c.states(), allValid) || c.Points[5].Life == 0 {
		t.Errorf("%v: want all valid", c.states())
	}
	if got := newBeside(t, 1<<20, 1<<30).reads(20_000, true, 1000, b.zipf(20)); got.Points[3].State != FewKeys || got.Points[2].State != Valid {
		t.Errorf("20 keys: %v, want few keys, but for the present size, which is measured", got.states())
	}
}

// A short load of few keys is judged as soon as these have been read often enough, whatever there is
// room for.
func TestShortLoad(t *testing.T) {
	t.Parallel()
	skipUnderRace(t)
	b := newBeside(t, 4<<20, 150<<10)
	b.reads(2000, true, 1000, b.zipf(1000))
	b.evicting = true
	if c := b.reads(5000, true, 1000, b.zipf(1000)); c.Points[2].State != Valid || c.Points[3].State != Valid {
		t.Errorf("after 7,000 reads of 1,000 keys: %v, want the present size and twice that valid", c.states())
	}
}

// A curve that was valid is valid again after changes of the world, and right in between.
func TestChanges(t *testing.T) {
	t.Parallel()
	skipUnderRace(t)
	for name, change := range map[string]func(b *beside) Curve{
		"half the memory": func(b *beside) Curve {
			b.bytes /= 2
			if c := b.sync(); c.Points[2].State != Filling || c.Points[2].Filled < 0.9 {
				b.t.Errorf("at first: %+v, want nothing counted, and all there", c.Points[2])
			}
			return b.reads(40_000, true, 1000, b.zipf(50_000))
		},
		"a 50th of the memory": func(b *beside) Curve { b.bytes /= 50; return b.reads(100_000, true, 1000, b.zipf(50_000)) },
		"twice the memory": func(b *beside) Curve {
			b.bytes *= 2
			if c := b.sync(); c.Points[5].State != Filling || c.Points[5].Filled > 0.7 {
				b.t.Errorf("at first: %+v, want the largest filling", c.Points[5])
			}
			return b.reads(60_000, true, 1000, b.zipf(50_000))
		},
		"20 times the memory": func(b *beside) Curve { b.bytes *= 20; return b.reads(250_000, true, 1000, b.zipf(50_000)) },
		"other keys": func(b *beside) Curve {
			next := b.zipf(50_000)
			return b.reads(60_000, true, 1000, func() uint64 { return next() + 1<<32 })
		},
		"larger values":  func(b *beside) Curve { return b.reads(60_000, true, 5000, b.zipf(50_000)) },
		"smaller values": func(b *beside) Curve { return b.reads(200_000, true, 100, b.zipf(50_000)) },
		"reads without loads": func(b *beside) Curve {
			next := b.zipf(50_000)
			b.reads(50_000, false, 1000, func() uint64 { return next() + 1<<32 })
			return b.reads(100_000, true, 1000, next)
		},
		"writes": func(b *beside) Curve {
			for i := range uint64(50_000) {
				if hash := workload.Scramble(i % 7000); b.Wants(hash) {
					b.Store(hash, uint32(i%3000), 0, b.now)
				}
			}
			return b.reads(40_000, true, 1000, b.zipf(50_000))
		},
		"deletes": func(b *beside) Curve {
			for i := range uint64(100_000) {
				if hash := workload.Scramble(i + 1); b.Wants(hash) {
					b.Delete(hash)
				}
			}
			for _, g := range b.groups {
				for n := range g.sizes {
					if z := &g.sizes[n]; z.pieces[0].bytes() != 0 {
						b.t.Errorf("×%g has %d bytes after all was deleted", z.factor, z.pieces[0].bytes())
					}
				}
			}
			was := b.groups[0].rate.share
			for i := range uint64(50_000) {
				if hash := workload.Scramble(i + 1); b.Wants(hash) {
					b.Store(hash, 1000, 0, b.now)
					b.Delete(hash)
				}
			}
			if is := b.groups[0].rate.share; is != was {
				b.t.Errorf("deleted keys, which take no room, made the sample %g, was %g", is, was)
			}
			return b.reads(60_000, true, 1000, b.zipf(50_000))
		},
		"keys that expire": func(b *beside) Curve {
			for i := range uint64(50_000) {
				if hash := workload.Scramble(i + 1); b.Wants(hash) {
					b.Store(hash, 1000, b.now+1000, b.now)
				}
			}
			b.now += 10_000
			b.Read(0, false, 0, 0, b.now) // by which the time is known
			for range 2 * sweeps {
				b.sync()
			}
			for _, g := range b.groups {
				for i := 1; i < len(g.table.hashes); i++ {
					if g.table.lives[i]&^missed != 0 && g.table.lives[i]&dead == 0 && g.gone(uint16(i)) {
						b.t.Fatal("a key that has expired is still there")
					}
				}
			}
			return b.reads(60_000, true, 1000, b.zipf(50_000))
		},
		"records larger than the cache": func(b *beside) Curve {
			for i := range uint64(1000) {
				if hash := workload.Scramble(i + 1<<40); b.Wants(hash) {
					b.Store(hash, 1<<30, 0, b.now)
				}
			}
			return b.reads(40_000, true, 1000, b.zipf(50_000))
		},
		"no memory": func(b *beside) Curve {
			was := b.bytes
			b.bytes = 0
			b.reads(5000, true, 1000, b.zipf(50_000))
			b.bytes = was
			return b.reads(200_000, true, 1000, b.zipf(50_000))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBeside(t, 1<<20, 1<<20)
			b.reads(3000, true, 1000, b.zipf(50_000))
			b.evicting = true
			b.reads(40_000, true, 1000, b.zipf(50_000))
			if c := change(b); slices.Contains(c.states(), Filling) || c.Points[5].State != Valid {
				t.Errorf("%v, want none filling, and the largest valid", c.states())
				for _, p := range c.Points {
					t.Logf("%+v", p)
				}
			}
		})
	}
}
