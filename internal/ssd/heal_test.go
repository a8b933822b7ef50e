package ssd

import (
	"syscall"
	"testing"

	"github.com/firncache/firn/internal/vfs"
)

// Row 25, and 11: a tier that is off has begun another log already. What leaves RAM
// then is not taken: writes do not look for older versions in a tier that is off.
func TestFault25DemotedWhileOff(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		f := vfs.NewFaulty(vfs.NewMem())
		w.reopen(t, healingConfig(f, w))
		key := w.key(1)
		w.put(t, key)
		begun := f.Inject(vfs.Rule{On: vfs.OpSync, Name: superBlockOf, Block: true, Times: 1})
		f.Inject(vfs.Rule{On: vfs.OpWrite, Name: journalName, Err: syscall.EIO, Times: 2}) // a note, and another try
		if err := w.set(key, 0); err != nil {
			t.Fatal(err)
		}
		begun.AwaitBlocked(1)
		if w.demote(key) {
			t.Error("a tier that is off takes a record")
		}
		if err := w.set(key, 0); err != nil {
			t.Fatal(err)
		}
		begun.Remove()
		w.untilOn()
		w.crashed() // it leaves RAM for nowhere
		w.check(t, 2, false)
		w.close(t)
	})
}

// Row 10 and 11: whoever was about to make the files void comes when another log
// has begun in them. That one stays.
func TestFault11VoidComesLate(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		mem := vfs.NewMem()
		f := vfs.NewFaulty(mem)
		w.reopen(t, healingConfig(f, w))
		w.put(t, w.key(1))
		f.Inject(vfs.Rule{On: vfs.OpWrite, Name: journalName, Err: syscall.EIO, Times: 2})
		if err := w.set(w.key(1), 0); err != nil {
			t.Fatal(err)
		}
		w.untilOn()
		if err := w.tier.void(); err != nil { // as a Commit does, once its note has failed
			t.Fatal(err)
		}
		w.put(t, w.key(2))
		w.written()
		w.checkKilled(t, mem, healingConfig, 3, true)
		w.close(t)
	})
}
