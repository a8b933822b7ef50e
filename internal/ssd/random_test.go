package ssd

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/firncache/firn/internal/record"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

func TestSetDemoteGet(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, mem := started(t, 1, testConfig)
		key := w.key(1)
		w.set(key, 0)
		want := w.ram[string(key)].bytes
		w.mustDemote(t, key)
		for range 2 { // from memory, and from the file
			f, err := w.lookUp(key)
			if err != nil || string(f.Value) != string(want) {
				t.Fatalf("Get: %x, %v; want %x", f.Value, err, want)
			}
			w.restart(t, testConfig(mem, w))
		}
		w.close(t)
	})
}

// Random operations over several turns of the log, closed and opened now and
// then.
func TestModel(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 2000
		for seed := range uint64(sized(1, 4)) {
			t.Log("seed", seed)
			w, mem := started(t, seed, testConfig)
			for range 4 {
				w.steps(t, 5000, keys)
				w.restart(t, testConfig(mem, w))
				w.check(t, keys, true)
			}
			w.close(t)
		}
	})
}

// The process is killed at random, and what it leaves is opened again.
func TestKill(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 1500
		for seed := range uint64(sized(2, 20)) {
			w, mem := started(t, seed, testConfig)
			for life := range sized(4, 8) {
				t.Log("seed", seed, "life", life)
				w.steps(t, 500+w.rng.IntN(4000), keys)
				written := w.rng.IntN(2) == 0
				if written {
					w.written()
				}
				mem = mem.CrashClone(w.rng, vfstest.Kill)
				old := w.tier // lives on over its own files
				w.reopen(t, testConfig(mem, w))
				noError(t, old.Close(background))
				w.check(t, keys, written)
			}
			w.close(t)
		}
	})
}

// A storm is many goroutines over one tier, each with keys of its own, whose
// ids may be those of other goroutines' keys.
type storm struct {
	w     *world // for its values
	tier  *Tier
	hash  record.Hasher
	acked []atomic.Uint64 // by key: the number of the last acknowledged write
	seq   atomic.Uint64
	steps atomic.Int64 // that the owners have taken in this life
	hits  atomic.Uint64
	bad   atomic.Pointer[error]
}

// after returns when the owners have taken so many steps, or something was wrong.
func (s *storm) after(steps int64) {
	for s.steps.Load() < steps && s.bad.Load() == nil {
		runtime.Gosched()
	}
}

// owner drives the keys whose numbers are i modulo n, until told to stop.
func (s *storm) owner(i, n int, seed uint64, stop <-chan struct{}) {
	rng := rand.New(rand.NewPCG(seed, uint64(i)))
	above := map[int][]byte{} // what RAM holds
	for s.bad.Load() == nil {
		select {
		case <-stop:
			return
		default:
		}
		s.steps.Add(1)
		k := rng.IntN(len(s.acked)/n)*n + i
		key := s.w.key(k)
		hash := s.hash.Hash(key)
		switch p := rng.IntN(16); {
		case p < 5: // set
			_, _ = s.tier.WaitForRoom(0)
			v := s.seq.Add(2)
			above[k] = s.w.bytesOf(key, v, rng.IntN(2000))
			s.write(k, hash, v)
		case p < 6: // delete
			delete(above, k)
			s.write(k, hash, s.seq.Add(2)+1)
		case p < 11:
			for k, v := range above {
				key := s.w.key(k)
				s.tier.Demote(s.hash.Hash(key), key, v, 0, true, record.SameCopy)
				delete(above, k)
				break
			}
		default:
			if above[k] == nil {
				if f, ok := s.get(k); ok && rng.IntN(2) == 0 && s.tier.IsCurrent(hash, f.Token) {
					above[k] = f.Value
				}
			}
		}
	}
}

func (s *storm) write(k int, hash, seq uint64) {
	s.tier.Invalidate(hash)
	s.acked[k].Store(seq)
}

func (s *storm) get(k int) (Found, bool) {
	key := s.w.key(k)
	want := s.acked[k].Load()
	f, err := s.tier.Get(background, nil, key, s.hash.Hash(key))
	if err != nil {
		return f, false
	}
	seq, err := seqOf(key, f.Value)
	if err == nil && seq < want {
		err = fmt.Errorf("stale: version %d, and %d was acknowledged", seq, want)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", key, err)
		s.bad.Store(&err)
	}
	s.hits.Add(1)
	return f, true
}

// Rows 1, 3, 5, 11, 12, 25 and 28 at once: many goroutines write keys whose ids
// collide, while segments are reclaimed and the disk fails now and then; the process is
// killed again and again, and serves and writes from the first moment after.
func TestStormAndKill(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		mask   uint64
		faulty bool
	}{{name: "calm"}, {"collisions", 0x1ff << 55, false}, {"faults", 0, true}, {"both", 0x1ff << 55, true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			const keys = 1200
			lives := sized(4, 60)
			s := &storm{w: newWorld(t, 1), acked: make([]atomic.Uint64, keys)}
			rng := rand.New(rand.NewPCG(randomSeed(t), 1))
			files, hits := vfstest.NewMem(), uint64(0)
			for life := range lives {
				f := vfstest.NewFaulty(files)
				cfg := smallConfig(f, s.w)
				cfg.HashMask, cfg.RetryInterval, cfg.MaxWriteStall = c.mask, time.Millisecond, time.Millisecond
				cfg.Log = slog.New(slog.DiscardHandler)
				tier := mustOpen(t, cfg)
				s.tier, s.hash = tier, record.NewHasher(tier.Seed())
				if c.faulty {
					injectFaults(f)
				}
				noError(t, tier.Start(func(int64) error { return nil }))
				files = s.live(rng, files)
				if err := tier.Close(background); err != nil && !c.faulty {
					t.Error(err)
				}
				tier.Free()
				if bad := s.bad.Load(); bad != nil {
					t.Fatalf("life %d: %v", life, *bad)
				}
				hits += s.hits.Swap(0)
			}
			t.Logf("%d hits in %d lives", hits, lives)
			if hits == 0 {
				t.Error("nothing was found")
			}
		})
	}
}

// injectFaults makes a disk fail now and then.
func injectFaults(f *vfstest.Faulty) {
	f.Inject(vfstest.Rule{On: vfstest.OpWrite, Name: format.LogName, Probability: .1, Err: syscall.EIO, Partial: -1})
	f.Inject(vfstest.Rule{On: vfstest.OpRead, Name: format.LogName, Probability: .02, Err: syscall.EIO})
}

// live lets the owners work until the process is killed at some step, and returns
// the files as that leaves them.
func (s *storm) live(rng *rand.Rand, files *vfstest.Mem) *vfstest.Mem {
	const owners = 4
	stop := make(chan struct{})
	var all sync.WaitGroup
	s.steps.Store(0)
	for i, seed := 0, rng.Uint64(); i < owners; i++ {
		all.Go(func() { s.owner(i, owners, seed, stop) })
	}
	for k := range s.acked {
		s.get(k)
	}
	last := 200 + rng.Int64N(int64(sized(2500, 40_000)))
	s.after(last)
	before := make([]uint64, len(s.acked))
	for k := range before {
		before[k] = s.acked[k].Load()
	}
	files = files.CrashClone(nil, vfstest.Kill)
	close(stop)
	all.Wait()
	for k := range before { // the rest was never told
		s.acked[k].Store(before[k])
	}
	return files
}
