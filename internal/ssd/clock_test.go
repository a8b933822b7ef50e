package ssd

import (
	"context"
	"errors"
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
