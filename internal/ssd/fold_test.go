package ssd

import (
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/firncache/firn/internal/vfs"
)

// turnOver fills the journal's area until it turns, with notes that tell nothing
// new. A journal that has not been folded is waited for.
func (j *journal) turnOver(t *testing.T) {
	t.Helper()
	for was := j.turns(); j.turns() == was; {
		if err := j.commit(note{kind: noteDead, id: 1, at: 1}); err != nil {
			t.Fatal(err)
		}
	}
}

// twoVersions leaves two versions of a key, each in a segment of its own. Only the
// journal's first area and the later version say that the older is dead; the
// later has not been written.
func (w *world) twoVersions(t *testing.T, key []byte) {
	t.Helper()
	w.put(t, key)
	first, _, _ := w.tier.openAt()
	for i, now := 1000, first; now == first; now, _, _ = w.tier.openAt() {
		w.put(t, w.key(i))
		i++
	}
	w.written()
	w.put(t, key)
}

// failing makes the disk refuse the next write to the log, and another try.
func failing(f *vfs.Faulty) {
	f.Inject(vfs.Rule{On: vfs.OpWrite, Name: logName, Err: syscall.EIO, Times: 2})
}

// dropped checks that the later of a key's two versions has been given up, and
// that the older is dead when no area of the journal is what it was.
func (w *world) dropped(t *testing.T, mem *vfs.Mem) {
	t.Helper()
	for range 2 {
		w.tier.journal.turnOver(t)
	}
	w.written()
	if s := w.tier.Stats(); !s.On || s.Quarantined != 1 {
		t.Errorf("%+v: want one segment given up", s)
	}
	w.checkKilled(t, mem, testConfig, 2, false)
	w.close(t)
}

// Row 11: while a segment is being given up, the index names what is in there.
// That must not be a reason to forget that an older record is dead.
func TestFault11FoldWhileGivingUp(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		mem := vfs.NewMem()
		f := vfs.NewFaulty(mem)
		w.reopen(t, testConfig(f, w))
		w.twoVersions(t, w.key(1))
		failing(f)
		noting := f.Inject(vfs.Rule{On: vfs.OpWrite, Name: journalName, Block: true, Times: 1})
		w.tier.log.tick()
		noting.AwaitBlocked(1) // the segment is about to be dropped
		w.tier.journal.turnOver(t)
		synctest.Wait() // the keeper has folded, or leaves it
		noting.Remove()
		synctest.Wait()
		w.dropped(t, mem)
	})
}

// Row 11: the same if the segment is given up while a fold is under way that has
// found the record in it.
func TestFault11GivenUpWhileFolding(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		mem := vfs.NewMem()
		f := vfs.NewFaulty(mem)
		w.reopen(t, testConfig(f, w))
		w.twoVersions(t, w.key(1))
		w.tier.restarting.Lock() // this is the keeper now
		w.tier.journal.turnOver(t)
		ids, generation, ok := w.tier.journal.unfolded()
		if !ok {
			t.Fatal("there is nothing to fold")
		}
		before, _ := w.tier.log.steady()
		dead := w.tier.stillDead(ids)
		failing(f)
		w.written()
		if w.tier.settle(dead, before) {
			w.tier.journal.foldDone(generation)
		}
		w.tier.restarting.Unlock()
		w.dropped(t, mem)
	})
}

// Rows 3 and 6: tombstones are on the disk, and the journal does not say yet that
// the log is relied on so far: damage there takes them alone. Whoever writes the
// key then has to note that the record is dead.
func TestFault03ForgottenWhenReliedOn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		mem := vfs.NewMem()
		f := vfs.NewFaulty(mem)
		w.reopen(t, testConfig(f, w))
		key := w.key(1)
		w.put(t, key)
		w.written()
		slot, _, tombstones := w.tier.openAt()
		noting := f.Inject(vfs.Rule{On: vfs.OpWrite, Name: journalName, Block: true, Times: 1})
		settled := make(chan bool)
		go func() { settled <- w.tier.settle([]id{w.tier.id(w.hasher.Hash(key))}, 0) }()
		noting.AwaitBlocked(1)
		if err := w.set(key, 0); err != nil {
			t.Fatal(err)
		}
		clone := mem.CrashClone(nil, vfs.Kill)
		if err := clone.Flip(logName, 8*int64(slot*w.tier.log.segBytes()+tombstones+8)); err != nil {
			t.Fatal(err)
		}
		w.checkKilled(t, clone, testConfig, 2, false)
		noting.Remove()
		if !<-settled {
			t.Error("not settled")
		}
		w.close(t)
	})
}

// Until the tombstones of a fold are on the disk, the index keeps what they kill:
// whoever writes such a key has to note that the record is dead.
func TestKilledWhileFolding(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		mem := vfs.NewMem()
		f := vfs.NewFaulty(mem)
		w.reopen(t, testConfig(f, w))
		key := w.key(1)
		w.put(t, key)
		w.written()
		stuck := f.Inject(vfs.Rule{On: vfs.OpWrite, Name: logName, Block: true})
		settled := make(chan bool)
		go func() { settled <- w.tier.settle([]id{w.tier.id(w.hasher.Hash(key))}, 0) }()
		stuck.AwaitBlocked(1)
		if err := w.set(key, 0); err != nil {
			t.Fatal(err)
		}
		w.checkKilled(t, mem, testConfig, 2, false)
		stuck.Remove()
		if !<-settled {
			t.Error("not settled")
		}
		w.close(t)
	})
}

// A fold that does not end leaves its tombstones anywhere: the index keeps what
// they would kill.
func TestFoldThatFails(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		mem := vfs.NewMem()
		w.reopen(t, testConfig(mem, w))
		key := w.key(1)
		w.put(t, key)
		if w.tier.settle([]id{w.tier.id(w.hasher.Hash(key))}, 1) { // as if a segment had failed meanwhile
			t.Error("settled")
		}
		w.check(t, 2, true)
		w.close(t)
	})
}
