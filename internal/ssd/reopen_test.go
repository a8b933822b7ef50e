package ssd

import (
	"syscall"
	"testing"
)

// A recovery had no memory for all records. When what it knew of has been
// reclaimed, the index has all that the log has: writes of keys that are not there
// cost no note, and Close saves a snapshot.
func TestForgottenAfterRecoveryWithoutMemory(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 6000
		w := newWorld(t, 1)
		clone := full(t, w, testConfig, keys)
		w.crashed()
		var err error
		if w.tier, err = Open(testConfig(clone, w)); err != nil {
			t.Fatal(err)
		}
		w.tier.restarting.Lock() // the keeper has other things to do
		charged, most := int64(0), w.tier.fixed+40<<10
		err = w.tier.Start(func(n int64) error {
			if charged+n > most {
				return syscall.ENOMEM
			}
			charged += n
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		w.recovered()
		w.tier.restarting.Unlock()
		notes := func() uint64 { // of the writes of keys that were never there
			before := w.tier.Stats().Superseded
			for i := range 100 {
				if err := w.set(w.key(keys+i), 0); err != nil {
					t.Fatal(err)
				}
			}
			return w.tier.Stats().Superseded - before
		}
		if n := notes(); n == 0 {
			t.Fatal("the recovery has room for all: the test shows nothing")
		}
		w.most = 3000
		last := w.tier.plan.newest
		for i := 0; w.tier.floor.Load() <= last; i++ {
			key := w.key(2*keys + i%200)
			if err := w.set(key, 0); err != nil {
				t.Fatal(err)
			}
			w.demote(key)
			w.roomy()
		}
		if n := notes(); n > 0 {
			t.Errorf("%d of 100 writes of keys that are not there were noted", n)
		}
		w.close(t)
		w.reopen(t, testConfig(clone, w))
		if s := w.tier.Stats(); s.Recovered > 0 {
			t.Errorf("%d segments were read: want the snapshot", s.Recovered)
		}
		w.check(t, keys, false)
		w.close(t)
	})
}
