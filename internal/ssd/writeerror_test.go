package ssd

import (
	"errors"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// Row 11: a segment that cannot be written is given up; what it had is a miss,
// and no older version comes back in its place.
func TestFault11Quarantine(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 300
		w, mem, f := startedFaulty(t, 1, testConfig)
		w.fill(t, keys)
		w.written()
		in := f.Inject(vfstest.Rule{On: vfstest.OpWrite, Name: format.LogName, Err: syscall.EIO, Times: 2})
		for i := range keys {
			w.put(t, w.key(i))
			if s := w.tier.Stats(); s.Quarantined == 1 {
				break
			}
		}
		if s := w.tier.Stats(); s.Quarantined != 1 || s.WriteErrors != 1 || !s.Online || in.Hits() != 2 {
			t.Fatalf("%+v", s)
		}
		w.check(t, keys, true)
		w.written()
		w.checkKilled(t, mem, testConfig, keys, true)
		w.close(t)
	})
}

// Row 11: where a write failed, none is tried again.
func TestFault11SlotNotUsedAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, _, f := startedFaulty(t, 1, smallConfig)
		bad := f.Inject(vfstest.Rule{On: vfstest.OpWrite, Name: format.LogName, To: format.MinSegment, Err: syscall.EIO})
		for i := 0; w.tier.Stats().Reclaimed < 40; i++ { // more than twice round
			w.put(t, w.key(i))
		}
		if n := bad.Hits(); n != 2 {
			t.Errorf("%d writes to a slot that failed: want one, and another try", n)
		}
		if s := w.tier.Stats(); !s.Online || s.Quarantined != 1 {
			t.Errorf("%+v", s)
		}
		w.close(t)
	})
}

// Row 11: the last segments cannot be written while the tier is closed, so many of
// them that it would be switched off. The snapshot does not name what they had.
func TestFault11WritesFailInClose(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 100
		w, mem, f := startedFaulty(t, 1, testConfig)
		w.fill(t, keys)
		w.settle()
		bad := f.Inject(vfstest.Rule{On: vfstest.OpWrite, Name: format.LogName, Err: syscall.EIO})
		n := 0
		for ; w.tier.Stats().Quarantined < maxBadWrites-1; n++ {
			w.put(t, w.key(keys+n))
			synctest.Wait()
		}
		for i := range 5 {
			w.put(t, w.key(keys+n+i))
		}
		_ = w.tier.Close(background)
		w.tier.Free()
		bad.Remove()
		w.reopen(t, testConfig(mem, w))
		w.check(t, keys+n+5, true)
		if s := w.tier.Stats(); s.Corrupt != 0 || s.ReadErrors != 0 {
			t.Errorf("%d records are named that were not written", s.Corrupt)
		}
		for i := range keys {
			if err := w.getKey(i); errors.Is(err, format.ErrCorrupt) {
				t.Error(err)
			}
		}
		w.close(t)
	})
}

// Row 25, and 11: a tier that is off has begun another log already. What leaves RAM
// then is not taken: writes do not look for older versions in a tier that is off.
func TestFault25DemotedWhileOff(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, _, f := startedFaulty(t, 1, retryingConfig)
		key := w.key(1)
		w.put(t, key)
		begun := f.Inject(vfstest.Rule{On: vfstest.OpSync, Name: format.SuperblockName, Block: true, Times: 1})
		w.tier.switchOff(syscall.EIO)
		w.set(key, 0)
		begun.AwaitBlocked(1)
		if w.demote(key) {
			t.Error("a tier that is off takes a record")
		}
		w.set(key, 0)
		begun.Remove()
		w.untilOn()
		w.crashed() // it leaves RAM for nowhere
		w.check(t, 2, false)
		w.close(t)
	})
}
