package ssd

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/record"
	"github.com/firncache/firn/internal/ssd/log"
	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// After a life in which the clock was far ahead, and one in which it was right
// again, time passes between two lives as it does without.
func TestDowntimeCountsAfterClockWasAhead(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const century, hour, minute = 100 * 365 * 24 * hourMs, hourMs, hourMs / 60
		for _, end := range []ending{closing, killed} {
			w, mem := newWorld(t, 1), vfstest.NewMem()
			want := func(when string, want error, key string) {
				t.Helper()
				if _, err := w.lookUp([]byte(key)); !errors.Is(err, want) {
					t.Errorf("%s, %s: %q: %v, want %v", end, when, key, err, want)
				}
			}
			demote := func(key string, life int64) {
				if !w.tier.Demote(w.hasher.Hash([]byte(key)), []byte(key), []byte("value"), w.tier.Now()+life, true, record.SameCopy) {
					t.Fatalf("%s was not taken", key)
				}
			}
			w.now.Store(startOfTime + century)
			w.reopen(t, testConfig(mem, w))
			demote("ahead", hour)
			mem = w.liveAt(t, mem, end, startOfTime) // set right
			demote("short", minute)
			demote("long", 3*hour)
			want("set back", nil, "ahead")
			mem = w.liveAt(t, mem, end, startOfTime+2*minute)
			want("two minutes later", ErrNotFound, "short")
			want("two minutes later", nil, "long")
			w.liveAt(t, mem, end, startOfTime+4*hour)
			want("four hours later", ErrNotFound, "long")
			w.close(t)
		}
	})
}

// liveAt ends a life, and begins another at a time, over the files that it returns.
func (w *world) liveAt(t *testing.T, mem *vfstest.Mem, end ending, now int64) *vfstest.Mem {
	t.Helper()
	w.written()
	if end == killed {
		time.Sleep(log.FlushEvery) // the maintain loop notes the time
		synctest.Wait()
	}
	mem = w.end(t, mem, end)
	w.now.Store(now)
	w.reopen(t, testConfig(mem, w))
	return mem
}

// Row 23: a deadline that has passed stays passed, whatever the clock does, for
// this process, the next, and one after a crash; and a clock that jumps ahead
// does no more harm than that what expires then is gone.
func TestFault23Clock(t *testing.T) {
	for _, end := range []ending{killed, closing} {
		inBubble(t, string(end), func(t *testing.T) {
			const year = 365 * 24 * hourMs
			w, mem := newWorld(t, 1), vfstest.NewMem()
			w.now.Store(10 * year)
			w.reopen(t, testConfig(mem, w))
			for i, deadline := range []int64{0, w.now.Load() + 1000, w.now.Load() + 2*year} {
				w.set(w.key(i), deadline)
				w.mustDemote(t, w.key(i))
			}
			found := func() (keys string) {
				for i := range 3 {
					if err := w.getKey(i); err == nil {
						keys += fmt.Sprint(i)
					}
				}
				return keys
			}
			expect := func(when, want string) {
				t.Helper()
				if got := found(); got != want {
					t.Fatalf("%s: found %q, want %q", when, got, want)
				}
			}
			next := func(step int64) { mem = w.liveAt(t, mem, end, w.now.Load()+step) }
			expect("at once", "012")
			w.now.Add(999)
			expect("a moment before", "012")
			next(-5 * year) // the clock of this process stands for itself
			expect("opened with a clock five years back", "012")
			w.now.Add(1)
			expect("when it expires", "02")
			next(-5 * year)
			expect("opened with a clock ten years back", "02")
			w.now.Add(year)
			expect("a year later", "02")
			next(3 * year)
			next(-3 * year)
			next(0)
			if got := found(); got != "0" && got != "02" {
				t.Fatalf("after jumps: %q", got)
			}
			next(20 * year)
			expect("decades later", "0")
			next(-20 * year)
			expect("and back", "0")
			w.close(t)
		})
	}
}

// Row 23: the process dies before the maintain loop has noted that it is late. A segment
// that was sealed by then says so, too: in the memory, and, where that is gone, in
// its trailer.
func TestFault23SealedLate(t *testing.T) {
	bubble(t, func(t *testing.T) { // whose clock stands still: the maintain loop sleeps
		w, mem := started(t, 1, testConfig)
		key := w.key(1)
		w.set(key, w.now.Load()+1000)
		w.mustDemote(t, key)
		w.now.Add(2000)
		first, _, _ := w.tier.openAt()
		keys := 2
		for now := first; now == first; now, _, _ = w.tier.openAt() {
			w.put(t, w.key(keys))
			keys++
		}
		w.written()
		w.now.Add(-2000)
		after := func(what string, config func(vfs.FS, *world) Config) (h *world) {
			h = w.killed(t, mem, config)
			if f, err := h.lookUp(key); err == nil {
				t.Errorf("%s: expired, and back: %d bytes", what, len(f.Value))
			}
			return h
		}
		h := after("memory", testConfig)
		h.check(t, keys, true)
		h.close(t)
		h = after("another boot", func(fs vfs.FS, w *world) Config {
			cfg := testConfig(fs, w)
			cfg.Recovery, cfg.BootID = RecoverAlways, func() string { return "another" }
			return cfg
		})
		if h.tier.Len() == 0 {
			t.Error("another boot: nothing was read")
		}
		h.close(t)
		w.close(t)
	})
}

// Row 23: order comes from the log, not from the clock: it steps back while keys
// are written again and again.
func TestFault23Order(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 100
		w, mem := newWorld(t, 23), vfstest.NewMem()
		w.now.Store(1 << 40)
		w.reopen(t, smallConfig(mem, w))
		for range 10 {
			w.steps(t, 300, keys)
			w.now.Add(-1_000_000)
			w.written()
			w.checkKilled(t, mem, smallConfig, keys, true)
		}
		w.close(t)
	})
}

// What expired while the clock was behind stays expired after Close.
func TestClockBehindAndClose(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, mem := newWorld(t, 1), vfstest.NewMem()
		w.now.Add(3_600_000)
		w.reopen(t, testConfig(mem, w))
		w.put(t, w.key(1))
		w.close(t)
		w.now.Add(-3_600_000)
		w.reopen(t, testConfig(mem, w))
		key := w.key(2)
		if !w.tier.Demote(w.hasher.Hash(key), key, []byte("short-lived"), w.tier.Now()+10_000, true, record.SameCopy) {
			t.Fatal("not demoted")
		}
		w.now.Add(20_000)
		w.restart(t, testConfig(mem, w))
		if f, err := w.lookUp(key); err == nil {
			t.Errorf("expired, and back: %q", f.Value)
		}
		w.close(t)
	})
}
