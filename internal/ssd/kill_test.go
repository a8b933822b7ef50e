package ssd

import (
	"fmt"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// Row 1: the process dies at every boundary between operations of the file
// system, and inside writes, while the log turns and segments are reclaimed.
func TestFault01KillAtEveryBoundary(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 400
		for seed := range uint64(sized(1, 2)) {
			w, mem := started(t, seed, smallConfig)
			w.most = 2000
			w.steps(t, 5000, keys)
			mem = w.end(t, mem, killed)
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

// Row 1: after a kill at any moment, all that had been written is found, however
// often each key was written before.
func TestFault01Warm(t *testing.T) {
	t.Parallel()
	for _, updates := range []int{0, 1, 10} {
		inBubble(t, fmt.Sprint(updates, " updates"), func(t *testing.T) {
			const keys, bytes = 1500, 500 // half of the log
			w, mem := started(t, 1, testConfig)
			w.most = bytes
			w.fill(t, keys)
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
		w, mem := newWorld(t, 1), vfstest.NewMem()
		large := with(testConfig, func(cfg *Config) { cfg.Bytes, cfg.SegmentBytes, cfg.Memory = 64<<20, 4<<20, 64<<20 })
		w.reopen(t, large(mem, w))
		w.fill(t, keys) // more than a chunk, and no end of a segment
		synctest.Wait()
		tail, flushed := w.tier.log.Tail.Load(), w.tier.log.Flushed.Load()
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
		w, mem := filled(t, keys, testConfig)
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
		w, mem := started(t, 1, testConfig)
		w.fill(t, keys)
		w.close(t)
		later := inBoot(testConfig, "a later boot")
		w.reopen(t, later(mem, w))
		h := w.killed(t, mem, later)
		h.wantAll(t)
		h.close(t)
		w.close(t)
	})
}

// Row 1, and 3: of an older boot nothing is believed, be there memory with its
// number or not.
func TestFault01AnotherBoot(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for _, boot := range []string{"another boot", ""} {
			w, mem := started(t, 1, testConfig)
			w.put(t, w.key(1))
			w.settle()
			h := w.killed(t, mem, inBoot(testConfig, boot))
			h.wantLen(t, 0, "boot", boot)
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
		w, mem := started(t, 4, smallConfig)
		w.steps(t, 6000, keys)
		hot := func(i int) []byte { return w.key(keys + i) } // never written again
		for i := range 10 {
			w.put(t, hot(i))
		}
		before, stride := w.tier.Stats().Reclaimed, sized(5, 1)
		mem = w.end(t, mem, killed)
		var after Stats
		vfstest.EachBoundary(mem, func(fs vfs.FS) {
			w.reopen(t, smallConfig(fs, w))
			for range 60 {
				for i := range 10 { // what is read now is kept
					noError(t, w.get(hot(i)))
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

// The process dies while the last free slot is filled with what is moved. There is
// no slot to move anything to then, and records have to go; but records come.
func TestFault03KillWithoutFreeSlot(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, mem, f, keys := halfDead(t)
		var left *vfstest.Mem
		var once sync.Once // reads are under way beside one another
		f.Inject(vfstest.Rule{On: vfstest.OpRead, Name: format.LogName, Hook: func(vfstest.Op) {
			if w.tier.log.FreeSlots() == 0 {
				once.Do(func() { left = mem.CrashClone(nil, vfstest.Kill) })
			}
		}})
		w.ahead(4)
		if left == nil {
			t.Fatal("there was a free slot all the time")
		}
		h := w.heirOf(t, left, smallConfig)
		h.check(t, keys, true)
		taken := 0
		for i := range keys {
			h.set(h.key(keys+i), 0)
			if h.demote(h.key(keys + i)) {
				taken++
			}
			h.roomy()
			if i > 10 && taken == 0 {
				break
			}
		}
		if s := h.tier.Stats(); taken < keys/2 {
			t.Errorf("%d of %d records were taken: %+v", taken, keys, s)
		}
		h.check(t, 2*keys, true)
		h.close(t)
		w.close(t)
	})
}

// Row 11: the disk fails, and the tier is off; keys are set; the process dies. What the
// files have is not believed, though they were not changed. When the tier is on again
// before that, the new log is.
func TestFault11KilledWhileOff(t *testing.T) {
	t.Parallel()
	for name, onAgain := range map[string]bool{"off": false, "on again": true} {
		inBubble(t, name, func(t *testing.T) {
			const keys = 100
			w, mem := filled(t, keys, with(testConfig, func(cfg *Config) { cfg.RetryInterval = time.Hour }))
			w.tier.switchOff(syscall.EIO)
			for i := range keys / 2 {
				w.set(w.key(i), 0)
				if w.demote(w.key(i)) {
					t.Error("a tier that is off takes a record")
				}
			}
			w.there = map[string]uint64{}
			if onAgain {
				time.Sleep(2 * time.Hour)
				w.untilOn()
				w.fill(t, keys/4)
				w.settle()
			}
			h := w.killed(t, mem, testConfig)
			if lost := h.missing(t); len(lost) > 0 || h.tier.Len() != len(w.there) {
				t.Errorf("%d records, %d not found: want %d", h.tier.Len(), len(lost), len(w.there))
			}
			h.check(t, keys, onAgain)
			h.close(t)
			w.close(t)
		})
	}
}
