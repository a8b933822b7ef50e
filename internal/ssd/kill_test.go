package ssd

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// smallConfig is a tier of a few segments, which are soon written over.
func smallConfig(fs vfs.FS, w *world) Config {
	cfg := testConfig(fs, w)
	cfg.Bytes = 1 << 20
	return cfg
}

// apart is a test of each boundary that may fail: in the middle of an operation, a
// goroutine of the tier's must not end. The first that fails is the last.
func apart(t *testing.T, test func(b vfstest.Boundary)) func(b vfstest.Boundary) {
	return func(b vfstest.Boundary) {
		if t.Failed() {
			return
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			test(b)
		}()
		if <-done; t.Failed() {
			t.Log(b)
		}
	}
}

// survives opens what a crash left, reads every key, and reads them again after
// further writes. It returns how many were found at once.
func survives(t *testing.T, h *world, cfg Config, keys int) (found int) {
	t.Helper()
	h.reopen(t, cfg)
	h.check(t, keys, false)
	found = h.hits
	h.steps(t, 30, keys)
	h.check(t, keys, false)
	h.close(t)
	return found
}

// settle waits until the tier's goroutines have done what there is to do, and has
// the log written as far as it goes.
func (w *world) settle() {
	synctest.Wait()
	time.Sleep(2 * flushEvery)
	synctest.Wait()
}

// Row 1: the process dies at every boundary between operations of the file
// system, and inside writes, while the log turns and segments are cleaned.
func TestFault01KillAtEveryBoundary(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 400
		for seed := range uint64(sized(1, 2)) {
			w := newWorld(t, seed)
			w.most = 2000
			mem := vfstest.NewMem()
			w.reopen(t, smallConfig(mem, w))
			w.steps(t, 5000, keys)
			mem = mem.CrashClone(nil, vfstest.Kill)
			w.close(t)
			stride, found := sized(7, 1), 0
			var stats Stats
			n := vfstest.EachBoundary(mem, func(fs vfs.FS) {
				w.reopen(t, smallConfig(fs, w))
				w.steps(t, 5000, keys)
				stats = w.tier.Stats()
				w.close(t)
			}, apart(t, func(b vfstest.Boundary) {
				if b.N%stride != 0 {
					return
				}
				h := w.heir()
				found += survives(t, h, smallConfig(b.Crash(nil, vfstest.Kill), h), keys)
			}))
			t.Logf("seed %d: %d boundaries, %d found in all, %d segments reclaimed, %d records moved", seed, n, found, stats.Reclaimed, stats.Reinserted)
			if n < 30 || found < n || stats.Reclaimed == 0 || stats.Reinserted == 0 {
				t.Fatal("the scenario does not reach what it is for")
			}
		}
	})
}

// Row 1: after a kill at any moment, all that had been written is found, however
// often each key was written before.
func TestFault01Warm(t *testing.T) {
	t.Parallel()
	for _, updates := range []int{0, 1, 10} {
		inBubble(t, fmt.Sprint(updates, " updates"), func(t *testing.T) {
			const keys, bytes = 1500, 500 // half of the log
			w := newWorld(t, 1)
			mem := vfstest.NewMem()
			w.most = bytes
			w.reopen(t, testConfig(mem, w))
			for i := range keys {
				w.put(t, w.key(i))
			}
			kills := 0
			for i := range keys*updates + 1 {
				if i%997 == 0 || i == keys*updates {
					w.settle()
					h := w.killed(t, mem, testConfig)
					if lost := h.missing(t); len(lost) > 0 || len(h.there) != keys {
						t.Fatalf("after %d updates: of %d records %d are not found", i, len(h.there), len(lost))
					}
					if s := h.tier.Stats(); s.Corrupt != 0 || s.ReadErrors != 0 {
						t.Fatalf("after %d updates: %+v", i, s)
					}
					h.close(t)
					kills++
				}
				if i < keys*updates {
					w.put(t, w.key(w.rng.IntN(keys)))
				}
			}
			if s := w.tier.Stats(); s.Evicted > 0 || updates == 10 && s.Reclaimed == 0 {
				t.Errorf("%d records evicted of a log that is half full, %d segments reclaimed", s.Evicted, s.Reclaimed)
			}
			t.Logf("%d kills", kills)
			w.close(t)
		})
	}
}

// Row 1: a record that only the dead process's buffers had is not believed, nor is
// one that is not written to its end.
func TestFault01NotWritten(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 2000
		w := newWorld(t, 1)
		mem := vfstest.NewMem()
		large := func(fs vfs.FS, w *world) Config {
			cfg := testConfig(fs, w)
			cfg.Bytes, cfg.SegmentBytes, cfg.Memory = 64<<20, 4<<20, 64<<20
			return cfg
		}
		w.reopen(t, large(mem, w))
		for i := range keys { // more than a chunk, and no end of a segment
			w.put(t, w.key(i))
		}
		synctest.Wait()
		tail, flushed := w.tier.log.tail.Load(), w.tier.log.flushed.Load()
		h := w.killed(t, mem, large)
		lost := len(h.missing(t))
		t.Logf("%d bytes of the log are written, of %d; %d records are not found", flushed, tail, lost)
		if lost == 0 || lost == keys {
			t.Error("want some to be found, and some not")
		}
		if s := h.tier.Stats(); s.Corrupt != 0 || s.Records != int64(keys-lost) {
			t.Errorf("%d of %d records are believed, of which %d are corrupt: want those that are found", s.Records, keys, s.Corrupt)
		}
		h.close(t)
		w.close(t)
	})
}

// Row 1: what was written again, or deleted, does not come back, though its older
// record is still on the disk, and the newer is not.
func TestFault01SupersededStaysDead(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 300
		w := newWorld(t, 1)
		mem := vfstest.NewMem()
		w.reopen(t, testConfig(mem, w))
		for i := range keys {
			w.put(t, w.key(i))
		}
		w.settle()
		for i := range keys {
			switch i % 3 {
			case 0:
				w.delete(w.key(i))
			case 1:
				w.set(w.key(i), 0)
			default:
				continue
			}
			if i%50 < 2 {
				w.checkKilled(t, mem, testConfig, keys, true)
			}
		}
		h := w.killed(t, mem, testConfig)
		if lost := h.missing(t); len(lost) > 0 || h.tier.Len() != keys/3 {
			t.Errorf("%d records, %d not found: want the %d that were not written", h.tier.Len(), len(lost), keys/3)
		}
		h.check(t, keys, true)
		h.close(t)
		w.close(t)
	})
}

// Row 1: in whichever boot of the machine a log is opened, it is warm when its
// process died in the same.
func TestFault01KillInALaterBoot(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 50
		w := newWorld(t, 1)
		mem := vfstest.NewMem()
		w.reopen(t, testConfig(mem, w))
		for i := range keys {
			w.put(t, w.key(i))
		}
		w.close(t)
		later := func(fs vfs.FS, w *world) Config {
			cfg := testConfig(fs, w)
			cfg.BootID = func() string { return "a later boot" }
			return cfg
		}
		w.reopen(t, later(mem, w))
		h := w.killed(t, mem, later)
		if lost := h.missing(t); len(lost) > 0 {
			t.Errorf("%d of %d are not found", len(lost), keys)
		}
		h.close(t)
		w.close(t)
	})
}

// Row 1, and 3: of an older boot nothing is believed, be there memory with its
// number or not.
func TestFault01AnotherBoot(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for _, boot := range []string{"another boot", ""} {
			w := newWorld(t, 1)
			mem := vfstest.NewMem()
			w.reopen(t, testConfig(mem, w))
			w.put(t, w.key(1))
			w.settle()
			h := w.killed(t, mem, func(fs vfs.FS, h *world) Config {
				cfg := testConfig(fs, h)
				cfg.BootID = func() string { return boot }
				return cfg
			})
			if n := h.tier.Len(); n != 0 {
				t.Errorf("boot %q: %d records", boot, n)
			}
			h.close(t)
			w.close(t)
		}
	})
}

// Row 3: at every boundary while segments are reclaimed and written over, with
// records that are kept because they were read.
func TestFault03KillWhileReclaiming(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 400
		w := newWorld(t, 4)
		mem := vfstest.NewMem()
		w.reopen(t, smallConfig(mem, w))
		w.steps(t, 6000, keys)
		hot := func(i int) []byte { return w.key(keys + i) } // never written again
		for i := range 10 {
			w.put(t, hot(i))
		}
		before, stride := w.tier.Stats().Reclaimed, sized(5, 1)
		mem = mem.CrashClone(nil, vfstest.Kill)
		w.close(t)
		var after Stats
		vfstest.EachBoundary(mem, func(fs vfs.FS) {
			w.reopen(t, smallConfig(fs, w))
			for range 60 {
				for i := range 10 { // what is read now is kept
					if err := w.get(hot(i)); err != nil {
						t.Fatal(err)
					}
					delete(w.ram, string(hot(i))) // it left RAM, clean
				}
				w.steps(t, 25, keys)
			}
			after = w.tier.Stats()
			w.close(t)
		}, apart(t, func(b vfstest.Boundary) {
			if b.N%stride != 0 {
				return
			}
			h := w.heir()
			survives(t, h, smallConfig(b.Crash(nil, vfstest.Kill), h), keys+10)
		}))
		if before == 0 || after.Reclaimed == 0 || after.Reinserted == 0 {
			t.Fatalf("reclaimed %d, then %d with %d records kept: want more than none", before, after.Reclaimed, after.Reinserted)
		}
	})
}

// Row 5: the process dies again at every operation of Open, after a kill, after
// Close, and where the index moves to other memory, for there is another budget or
// quota: the next finds all again.
func TestFault05KillInOpen(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(cfg *Config){
		"as it was":     func(*Config) {},
		"more memory":   func(cfg *Config) { cfg.Memory *= 2 },
		"less memory":   func(cfg *Config) { cfg.Memory = cfg.Memory * 3 / 4 },
		"a larger disk": func(cfg *Config) { cfg.Bytes += cfg.Bytes / 2 },
	} {
		for _, end := range []ending{killed, closing} {
			if invariants.Race && (name != "less memory" || end != killed) {
				continue // on the Go heap, what all of them open takes gigabytes
			}
			inBubble(t, fmt.Sprintf("%s, %s", name, end), func(t *testing.T) {
				const keys = 300
				config := func(fs vfs.FS, w *world) Config {
					cfg := testConfig(fs, w)
					cfg.Memory = 2 << 20
					return cfg
				}
				w := newWorld(t, 1)
				mem := vfstest.NewMem()
				w.reopen(t, config(mem, w))
				for i := range keys {
					w.put(t, w.key(i))
				}
				for i := range keys / 4 {
					w.set(w.key(i), 0)
				}
				w.settle()
				if end == killed {
					mem = mem.CrashClone(nil, vfstest.Kill)
				}
				w.close(t)
				changed := func(fs vfs.FS, w *world) Config {
					cfg := config(fs, w)
					change(&cfg)
					return cfg
				}
				n := vfstest.EachBoundary(mem, func(fs vfs.FS) {
					h := w.heir()
					h.reopen(t, changed(fs, h))
					if lost := h.missing(t); len(lost) > 0 {
						t.Errorf("%d of %d are not found", len(lost), len(h.there))
					}
					h.close(t)
				}, apart(t, func(b vfstest.Boundary) {
					for _, config := range []func(vfs.FS, *world) Config{config, changed} {
						h := w.heir()
						cfg := config(b.Crash(nil, vfstest.Kill), h)
						if cfg.Bytes < changed(nil, h).Bytes {
							continue // the log may have grown by then, and is dropped in less space
						}
						h.reopen(t, cfg)
						if lost := h.missing(t); len(lost) > 0 {
							t.Errorf("%v: %d of %d are not found", b, len(lost), len(h.there))
						}
						h.check(t, keys, false)
						h.close(t)
					}
				}))
				if n < 8 {
					t.Errorf("%d operations", n)
				}
			})
		}
	}
}

// Row 5: what is set and deleted as soon as the log is open again, after a kill,
// stays so after another.
func TestFault05KilledAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 200
		w := newWorld(t, 2)
		mem := vfstest.NewMem()
		w.reopen(t, testConfig(mem, w))
		for i := range keys {
			w.put(t, w.key(i))
		}
		for life := range sized(8, 40) {
			w.settle()
			clone := mem.CrashClone(nil, vfstest.Kill)
			old := w
			w = w.heir()
			old.close(t)
			mem = clone
			w.rng = rand.New(rand.NewPCG(uint64(life), 5))
			w.reopen(t, testConfig(mem, w))
			if lost := w.missing(t); len(lost) > 0 {
				t.Fatalf("life %d: %d of %d are not found", life, len(lost), len(w.there))
			}
			w.check(t, keys, true)
			for range keys / 4 {
				w.put(t, w.key(w.rng.IntN(keys)))
				w.delete(w.key(w.rng.IntN(keys)))
			}
		}
		w.close(t)
	})
}

// Row 1 and 7: the process dies while a slot is used again, at whose end the
// trailer of the segment before it still stands. What was written is found, and
// the segment makes room when its turn comes.
func TestFault07OldTrailer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		mem := vfstest.NewMem()
		w.reopen(t, smallConfig(mem, w))
		i := 0
		for ; w.tier.Stats().Reclaimed < 2; i++ {
			w.put(t, w.key(i))
		}
		slot, _, _ := w.tier.openAt()
		for now := slot; now == slot; now, _, _ = w.tier.openAt() { // begin another
			w.put(t, w.key(i))
			i++
		}
		w.put(t, w.key(i))
		w.settle()
		h := w.killed(t, mem, smallConfig)
		for _, k := range []int{i - 1, i} {
			if _, err := h.tier.Get(background, nil, h.key(k), h.hasher.Hash(h.key(k))); err != nil {
				t.Errorf("key %d, which was just written: %v", k, err)
			}
		}
		for j := range 2 * i { // round the log
			h.put(t, h.key(10_000+j))
		}
		h.check(t, i, false)
		h.close(t)
		w.close(t)
	})
}

// openAt is the open segment: its slot, its serial and how far it was filled.
func (t *Tier) openAt() (slot int, serial uint64, off int) {
	t.log.mu.Lock()
	defer t.log.mu.Unlock()
	if s := t.log.open; s != nil {
		return s.slot, s.serial, s.end
	}
	return -1, 0, 0
}
