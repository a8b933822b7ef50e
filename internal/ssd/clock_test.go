package ssd

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/vfs/vfstest"
)

// After a life in which the clock was far ahead, and one in which it was right
// again, time passes between two lives as it does without.
func TestDowntimeCountsAfterClockWasAhead(t *testing.T) {
	bubble(t, downtimeCounts)
}

func downtimeCounts(t *testing.T) {
	const century, hour, minute = 100 * 365 * 24 * int64(time.Hour/time.Millisecond), int64(time.Hour / time.Millisecond), int64(time.Minute / time.Millisecond)
	for _, killed := range []bool{false, true} {
		w := newWorld(t, 1)
		files := vfstest.NewMem()
		next := func(now int64) { // ends a life, and begins another at a time
			if w.tier != nil && !killed {
				w.close(t)
			} else if w.tier != nil {
				w.written()
				time.Sleep(flushEvery) // the keeper notes the time
				synctest.Wait()
				old, crashed := w, files.CrashClone(nil, vfstest.Kill)
				w, files = w.heir(), crashed
				old.close(t)
			}
			w.now.Store(now)
			w.reopen(t, testConfig(files, w))
		}
		get := func(key string) error {
			_, err := w.tier.Get(context.Background(), nil, []byte(key), w.hasher.Hash([]byte(key)))
			return err
		}
		demote := func(key string, life int64) {
			if !w.tier.Demote(w.hasher.Hash([]byte(key)), []byte(key), []byte("value"), w.tier.Now()+life, true, true) {
				t.Fatalf("%s was not taken", key)
			}
		}
		next(startOfTime + century)
		demote("ahead", hour)
		next(startOfTime) // set right
		demote("short", minute)
		demote("long", 3*hour)
		if err := get("ahead"); err != nil {
			t.Errorf("killed %v: a value of the life before, set for an hour, is gone when the clock was set back: %v", killed, err)
		}
		next(startOfTime + 2*minute)
		if err := get("short"); !errors.Is(err, ErrNotFound) {
			t.Errorf("killed %v: a value that lives a minute was found after two: %v", killed, err)
		}
		if err := get("long"); err != nil {
			t.Errorf("killed %v: a value that lives three hours was not found after two minutes: %v", killed, err)
		}
		next(startOfTime + 4*hour)
		if err := get("long"); !errors.Is(err, ErrNotFound) {
			t.Errorf("killed %v: a value that lives three hours was found after four: %v", killed, err)
		}
		w.close(t)
	}
}

// Row 23: a deadline that has passed stays passed, whatever the clock does, for
// this process, the next, and one after a crash; and a clock that jumps ahead
// does no more harm than that what expires then is gone.
func TestFault23Clock(t *testing.T) {
	for _, end := range []ending{killed, closing} {
		t.Run(string(end), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { clockJumps(t, end) })
		})
	}
}

func clockJumps(t *testing.T, end ending) {
	const year = 365 * 24 * 3600 * 1000
	w := newWorld(t, 1)
	mem := vfstest.NewMem()
	w.now.Store(10 * year)
	w.reopen(t, testConfig(mem, w))
	for i, deadline := range []int64{0, w.now.Load() + 1000, w.now.Load() + 2*year} {
		if w.set(w.key(i), deadline); !w.demote(w.key(i)) {
			t.Fatal("not demoted")
		}
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
	next := func(step int64) {
		w.written()
		if end == closing {
			w.close(t)
		} else {
			time.Sleep(flushEvery) // the keeper notes the time
			synctest.Wait()
			mem = w.end(t, mem, killed)
		}
		w.now.Add(step)
		w.reopen(t, testConfig(mem, w))
	}
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
}

// Row 23: the process dies before the keeper has noted that it is late. A segment
// that was sealed by then says so, too.
func TestFault23SealedLate(t *testing.T) {
	bubble(t, func(t *testing.T) { // whose clock stands still: the keeper sleeps
		w, mem := started(t, 1, testConfig)
		key := w.key(1)
		if w.set(key, w.now.Load()+1000); !w.demote(key) {
			t.Fatal("not demoted")
		}
		w.now.Add(2000)
		first, _, _ := w.tier.openAt()
		keys := 2
		for now := first; now == first; now, _, _ = w.tier.openAt() {
			w.put(t, w.key(keys))
			keys++
		}
		w.written()
		w.now.Add(-2000)
		h := w.killed(t, mem, testConfig)
		if f, err := h.lookUp(key); err == nil {
			t.Errorf("expired, and back: %d bytes", len(f.Value))
		}
		h.check(t, keys, true)
		h.close(t)
		w.close(t)
	})
}

// Row 23: order comes from the log, not from the clock: it steps back while keys
// are written again and again.
func TestFault23Order(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 100
		w := newWorld(t, 23)
		mem := vfstest.NewMem()
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
		w := newWorld(t, 1)
		mem := vfstest.NewMem()
		w.now.Add(3_600_000)
		w.reopen(t, testConfig(mem, w))
		w.put(t, w.key(1))
		w.close(t)
		w.now.Add(-3_600_000)
		w.reopen(t, testConfig(mem, w))
		key := w.key(2)
		if !w.tier.Demote(w.hasher.Hash(key), key, []byte("short-lived"), w.tier.Now()+10_000, true, true) {
			t.Fatal("not demoted")
		}
		w.now.Add(20_000)
		w.close(t)
		w.reopen(t, testConfig(mem, w))
		if f, err := w.lookUp(key); err == nil {
			t.Errorf("expired, and back: %q", f.Value)
		}
		w.close(t)
	})
}
