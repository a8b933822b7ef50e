package local

import (
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/ssd"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// life is a process that has a store on a disk, and a wall clock that is ahead of the
// bubble's. The machine's own clock is the bubble's, if the process knows it.
func life(t *testing.T, disk *vfstest.Mem, ahead time.Duration, machine bool) *Store {
	t.Helper()
	s := new(Store)
	began := time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC)
	err := s.Open(Config{
		RAMBytes: 1 << 20, FS: disk, Clock: func() time.Time { return time.Now().Add(ahead) },
		SSD: ssd.Config{Bytes: 16 << 20, SegmentBytes: 64 << 10, Admission: ssd.AdmitAll, Log: slog.New(slog.DiscardHandler), BootID: func() string { return "boot" }},
		Adjust: func(c *ssd.Config) {
			if machine {
				c.Machine = func() int64 { return time.Since(began).Milliseconds() }
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const timed = 100 // values with a TTL

// setTimed sets values with a TTL, and so many without one that those lie on the SSD.
func setTimed(t *testing.T, s *Store, name string, ttl time.Duration) {
	t.Helper()
	for i := range timed {
		if err := s.setKey(fmt.Appendf(nil, "%s %d", name, i), []byte("value"), s.Now()+ttl.Milliseconds()); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 600 {
		if err := s.setKey(fmt.Appendf(nil, "long %s %d", name, i), make([]byte, 4<<10), 0); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the disk takes it
	}
}

// livesOf is how many of those are found, and for how long the last of them lives.
func livesOf(s *Store, name string) (found int, left time.Duration) {
	for i := range timed {
		key := fmt.Appendf(nil, "%s %d", name, i)
		if deadline, ok := s.Deadline(key); ok {
			found, left = found+1, max(left, time.Duration(deadline-s.Now())*time.Millisecond)
		}
	}
	return found, left
}

// A value outlives its TTL by nothing, and none dies early, whatever is done to the wall clock
// between a process and the next: in both tiers time is the same, and goes on.
func TestTTLOverClocks(t *testing.T) {
	for _, ahead := range []time.Duration{-24 * time.Hour, -10 * time.Minute, -5 * time.Second, 0, 5 * time.Second} {
		for _, killed := range []bool{true, false} {
			t.Run(fmt.Sprintf("%v, killed %v", ahead, killed), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					disk := vfstest.NewMem()
					s := life(t, disk, 0, false)
					setTimed(t, s, "old", 20*time.Second)
					time.Sleep(2 * time.Second) // it is noted how late it is
					if killed {
						disk = disk.CrashClone(nil, vfstest.Kill)
					}
					_ = s.Close()
					s = life(t, disk, ahead, false)
					defer s.Close()
					found, left := livesOf(s, "old")
					if found == 0 || left > 19*time.Second {
						t.Errorf("%d values are found, for %v", found, left)
					}
					setTimed(t, s, "new", 40*time.Second)
					time.Sleep(30 * time.Second)
					if found, left = livesOf(s, "old"); found != 0 {
						t.Errorf("%d values are found after 32 s, for %v", found, left)
					}
					if found, left = livesOf(s, "new"); found < timed || left != 10*time.Second {
						t.Errorf("after 30 s %d of %d new values are found, for %v", found, timed, left)
					}
				})
			})
		}
	}
}

// After a kill the time counts in which no process was there, though the wall clock was set
// back meanwhile: the machine has another that nobody sets.
func TestTTLWhileNobodyRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := vfstest.NewMem()
		s := life(t, disk, 0, true)
		setTimed(t, s, "short", 20*time.Second)
		setTimed(t, s, "long", time.Minute)
		time.Sleep(2 * time.Second)
		disk = disk.CrashClone(nil, vfstest.Kill)
		_ = s.Close()
		time.Sleep(30 * time.Second)
		s = life(t, disk, -time.Hour, true)
		defer s.Close()
		if found, left := livesOf(s, "short"); found != 0 {
			t.Errorf("%d values with a TTL of 20 s are found after 32 s, for %v", found, left)
		}
		if found, left := livesOf(s, "long"); found == 0 || left > 28*time.Second {
			t.Errorf("%d values with a TTL of a minute are found after 32 s, for %v", found, left)
		}
	})
}
