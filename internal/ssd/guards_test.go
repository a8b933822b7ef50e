package ssd

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"github.com/firncache/firn/internal/vfs"
)

// Row 25: of two writes of a key, the first's note is written when the second has
// asked for its own. A version that was demoted between the two is dead by the
// second's alone.
func TestFault25NoteOfALaterWrite(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		mem := vfs.NewMem()
		f := vfs.NewFaulty(mem)
		w.reopen(t, testConfig(f, w))
		key := w.key(1)
		h := w.hasher.Hash(key)
		w.put(t, key)

		stuck := f.Inject(vfs.Rule{On: vfs.OpWrite, Name: journalName, Block: true})
		w.next()
		w.tier.Superseded(h)
		first := make(chan error)
		go func() { first <- w.tier.Commit(h) }()
		stuck.AwaitBlocked(1)
		if !w.tier.Demote(h, key, w.bytesOf(key, w.seq, 100), 0, true) {
			t.Fatal("not demoted")
		}
		w.written()
		w.next()
		w.tier.Superseded(h)
		stuck.Remove()
		if err := <-first; err != nil {
			t.Fatal(err)
		}
		if err := w.tier.Commit(h); err != nil {
			t.Fatal(err)
		}
		w.acked[string(key)] = w.seq

		w.checkKilled(t, mem, testConfig, 2, false)
		w.close(t)
	})
}

// Row 11: a note that could not be written is tried once more, which changes
// nothing if it is there.
func TestFault11NoteTriedAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		mem := vfs.NewMem()
		f := vfs.NewFaulty(mem)
		w.reopen(t, testConfig(f, w))
		w.put(t, w.key(1))
		w.written()
		f.Inject(vfs.Rule{On: vfs.OpWrite, Name: journalName, Err: syscall.EIO, Times: 1})
		if err := w.delete(w.key(1)); err != nil {
			t.Fatal(err)
		}
		if s := w.tier.Stats(); !s.On || s.SwitchedOff != 0 {
			t.Fatalf("%+v", s)
		}
		w.checkKilled(t, mem, testConfig, 2, false)
		w.close(t)
	})
}

// Row 1: a write of a note that takes long must not come down on a later turn of
// its area, on a note that was acknowledged.
func TestFault01JournalWaitsForItsWriters(t *testing.T) {
	const bytes = 2 * 1024 * noteLen
	f := vfs.NewFaulty(vfs.NewMem())
	file, err := f.Open(journalName, vfs.How{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	woken := make(chan struct{}, 1)
	j := newJournal(file, bytes, func() {
		select {
		case woken <- struct{}{}:
		default:
		}
	})
	if err := j.reset(1); err != nil {
		t.Fatal(err)
	}
	slow := f.Inject(vfs.Rule{On: vfs.OpWrite, Times: 1, Block: true})
	var group sync.WaitGroup
	group.Go(func() {
		if err := j.commit(note{kind: noteDead, id: 1, at: 1}); err != nil {
			t.Error(err)
		}
	})
	slow.AwaitBlocked(1)
	fill := func() { // the area that is open, but for what is kept
		j.mu.Lock()
		n := j.room() - kept
		j.mu.Unlock()
		for range n {
			if err := j.commit(note{kind: noteDead, id: 2, at: 2}); err != nil {
				t.Fatal(err)
			}
		}
	}
	fill()
	if err := j.commit(note{kind: noteDead, id: 3, at: 3}); err != nil { // turns
		t.Fatal(err)
	}
	<-woken
	j.foldDone(1)
	fill()
	group.Go(func() { // turns, once the first has been written
		if err := j.commit(note{kind: noteDead, id: 4, at: 4}); err != nil {
			t.Error(err)
		}
	})
	<-woken
	if n := j.turns(); n != 1 {
		t.Errorf("turn %d while a note of turn 0 is being written", n)
	}
	slow.Remove()
	group.Wait()
	notes, whole, err := newJournal(file, bytes, nil).read(1)
	if err != nil || !whole {
		t.Fatalf("whole %v, %v", whole, err)
	}
	for _, n := range notes {
		if n.id == 4 {
			return
		}
	}
	t.Error("a note that was acknowledged is not there")
}

// Row 11: what was in a segment that was given up stays dead when the journal has
// turned, though the disk may have its bytes.
func TestFault11DroppedStaysDropped(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 60
		w := newWorld(t, 1)
		mem := vfs.NewMem()
		f := vfs.NewFaulty(mem)
		w.reopen(t, testConfig(f, w))
		w.written()
		// All is written, and the disk says that it is not.
		f.Inject(vfs.Rule{On: vfs.OpWrite, Name: logName, Match: func(op vfs.Op) bool { return (op.Off+op.Len)%minSegment == 0 },
			Partial: minSegment, Times: 2})
		for i := 0; w.tier.Stats().Quarantined == 0; i++ {
			w.put(t, w.key(i%keys))
		}
		for i := range keys { // what the segment had is noted nowhere else
			if err := w.set(w.key(i), 0); err != nil {
				t.Fatal(err)
			}
		}
		w.most = 1
		for turns := w.tier.journal.turns() + 3; w.tier.journal.turns() < turns; {
			w.put(t, w.key(1_000_000))
		}
		w.written()
		w.checkKilled(t, mem, testConfig, keys, false)
		w.close(t)
	})
}

// Row 7: the last segment's header is damaged. What is written in its place must
// not pass for its beginning, of which the rest is still there.
func TestFault07SerialNotUsedAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 20
		w := newWorld(t, 1)
		mem := vfs.NewMem()
		w.reopen(t, testConfig(mem, w))
		same := func(key []byte) { // records of one length, and no note
			t.Helper()
			w.next()
			v := w.bytesOf(key, w.seq, 1000)
			if h := w.hasher.Hash(key); !w.tier.Demote(h, key, v, 0, true) {
				t.Fatal("not demoted")
			}
			w.acked[string(key)] = w.seq
		}
		for i := range keys {
			same(w.key(i))
		}
		w.written()
		slot, serial, off := w.tier.openAt()
		if off == segmentHeaderLen {
			t.Fatal("nothing is in the open segment")
		}
		clone := mem.CrashClone(nil, vfs.Kill)
		w.close(t)
		if err := clone.Flip(logName, int64(slot)*minSegment*8+1); err != nil {
			t.Fatal(err)
		}
		w.reopen(t, testConfig(clone, w))
		for i := range keys { // they lie in RAM alone from now on: nothing here has to be noted
			if err := w.set(w.key(i), 0); err != nil {
				t.Fatal(err)
			}
		}
		for i := range keys / 2 {
			same(w.key(1000 + i))
		}
		w.written()
		if s, n, _ := w.tier.openAt(); s == slot && n == serial {
			t.Errorf("segment %d was written twice in slot %d", n, s)
		}
		w.checkKilled(t, clone, testConfig, keys, false)
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

// Row 12: Open cannot read a segment's header, and cannot write over it. What it
// had cannot be told from nothing, and may be there the next time: nothing of the
// log is used.
func TestFault12HeaderNeitherReadNorWritten(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 100
		w := newWorld(t, 1)
		mem := vfs.NewMem()
		w.reopen(t, testConfig(mem, w))
		for i := range keys {
			w.put(t, w.key(i))
		}
		w.written()
		f := vfs.NewFaulty(mem.CrashClone(nil, vfs.Kill))
		w.close(t)
		w.crashed()
		const to = blockBytes // of the first segment
		read := f.Inject(vfs.Rule{On: vfs.OpRead, Name: logName, To: to, Err: syscall.EIO})
		write := f.Inject(vfs.Rule{On: vfs.OpWrite, Name: logName, To: to, Err: syscall.EIO})
		if err := w.open(testConfig(f, w)); err != nil {
			t.Fatal(err)
		}
		w.recovered()
		if n := w.tier.Len(); n != 0 {
			t.Errorf("%d records", n)
		}
		for i := range keys {
			if err := w.set(w.key(i), 0); err != nil {
				t.Fatal(err)
			}
		}
		read.Remove()
		write.Remove()
		if err := w.tier.Close(); err != nil {
			t.Fatal(err)
		}
		w.tier.Free()
		w.reopen(t, testConfig(f, w))
		w.check(t, keys, false)
		w.close(t)
	})
}

// Row 1 and 7: the process dies while a slot is used again, at whose end the
// trailer of the segment before it still stands. What was written is found.
func TestFault07OldTrailer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		mem := vfs.NewMem()
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
		w.written()
		h := w.killed(t, mem, smallConfig)
		for _, k := range []int{i - 1, i} {
			if _, err := h.tier.Get(context.Background(), nil, h.key(k), h.hasher.Hash(h.key(k))); err != nil {
				t.Errorf("key %d, which was just written: %v", k, err)
			}
		}
		h.close(t)
		w.close(t)
	})
}

// Row 6: a record is read wrong once. It is a miss from then on, also when the
// key was written above since and the process died: the disk has the old version
// whole.
func TestFault06ReadWrongOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		mem := vfs.NewMem()
		f := vfs.NewFaulty(mem)
		w.reopen(t, testConfig(f, w))
		key := w.key(1)
		w.put(t, key)
		w.close(t)
		w.reopen(t, testConfig(f, w))
		w.readWrong(t, f, key)
		if err := w.set(key, 0); err != nil {
			t.Fatal(err)
		}
		w.checkKilled(t, mem, testConfig, 2, false)
		w.close(t)
	})
}

// readWrong reads a key's record with a bit flipped on the way.
func (w *world) readWrong(t *testing.T, f *vfs.Faulty, key []byte) {
	t.Helper()
	sp, ok := w.tier.look(w.hasher.Hash(key), false)
	if !ok {
		t.Fatalf("%s is not there", key)
	}
	at := int64(sp.slot)<<w.tier.log.segShift + int64(sp.off) + 30
	wrong := f.Inject(vfs.Rule{On: vfs.OpRead, Name: logName, From: at, To: at + 1, Mangle: func(op vfs.Op, p []byte) {
		p[at-op.Off] ^= 1
	}})
	defer wrong.Remove()
	if _, err := w.tier.Get(context.Background(), nil, key, w.hasher.Hash(key)); !errors.Is(err, errCorrupt) {
		t.Fatalf("Get: %v, want errCorrupt", err)
	}
}

// Row 6, and 5: a record is read wrong while older segments are yet to be
// recovered. What they have of its key is older still.
func TestFault06ReadWrongInRecovery(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		mem := vfs.NewMem()
		w.reopen(t, testConfig(mem, w))
		key, n := w.key(1), 0
		for range 2 { // a version in each of two segments, the note of the first's death aside
			w.next()
			if !w.tier.Demote(w.hasher.Hash(key), key, w.bytesOf(key, w.seq, 100), 0, true) {
				t.Fatal("not demoted")
			}
			w.acked[string(key)] = w.seq
			for slot, now := 0, 0; now == slot; n++ {
				slot, _, _ = w.tier.openAt()
				w.put(t, w.key(1000+n))
				now, _, _ = w.tier.openAt()
			}
			w.dropEntry(key)
		}
		w.written()
		f := vfs.NewFaulty(mem.CrashClone(nil, vfs.Kill))
		w.close(t)
		w.crashed()
		tier, err := Open(testConfig(f, w))
		if err != nil {
			t.Fatal(err)
		}
		w.tier = tier
		held := f.Inject(vfs.Rule{On: vfs.OpRead, Name: logName, To: minSegment, Block: true}) // the oldest
		if err := tier.Start(func(int64) error { return nil }); err != nil {
			t.Fatal(err)
		}
		for {
			if _, ok := tier.look(w.hasher.Hash(key), false); ok {
				break
			}
		}
		held.AwaitBlocked(1)
		w.readWrong(t, f, key)
		held.Remove()
		w.recovered()
		w.check(t, 2, false)
		w.close(t)
	})
}

// dropEntry makes the index forget a key, and nothing else: the log has it.
func (w *world) dropEntry(key []byte) {
	x := w.tier.id(w.hasher.Hash(key))
	s := w.tier.index.shardOf(x)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(x)
}

// Row 2: a log that was closed, and opened again, is not closed any more: when the
// machine goes down then, nothing of it is believed.
func TestFault02PowerCutAfterClose(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 50
		w := newWorld(t, 1)
		mem := vfs.NewMem()
		w.reopen(t, testConfig(mem, w))
		for i := range keys {
			w.put(t, w.key(i))
		}
		w.close(t)
		w.reopen(t, testConfig(mem, w))
		if w.tier.Len() != keys {
			t.Fatalf("%d records after Close, want %d", w.tier.Len(), keys)
		}
		for i := range keys / 2 {
			if err := w.set(w.key(i), 0); err != nil {
				t.Fatal(err)
			}
		}
		rng := rand.New(rand.NewPCG(1, 1))
		for range 20 { // that lose this and that
			h := w.heir()
			cfg := testConfig(mem.CrashClone(rng, vfs.PowerCut), h)
			cfg.BootID = func() string { return "another boot" }
			h.reopen(t, cfg)
			if n := h.tier.Len(); n != 0 {
				t.Errorf("%d records", n)
			}
			h.check(t, keys, false)
			h.close(t)
		}
		w.close(t)
	})
}

// Row 1: in whichever boot of the machine a log is opened, it is warm when its
// process died in the same.
func TestFault01KillInALaterBoot(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 50
		w := newWorld(t, 1)
		mem := vfs.NewMem()
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
		w.checkKilled(t, mem, later, keys, true)
		w.close(t)
	})
}

// Rows 3 and 11: a segment is reclaimed, or given up, and the disk has not been
// told so yet. Until it has been, a write of what was in there needs a note.
func TestFault03ForgottenWhenTheDiskKnows(t *testing.T) {
	t.Parallel()
	inBubble(t, "reclaimed", func(t *testing.T) { forgotten(t, func(*vfs.Faulty) {}) })
	inBubble(t, "given up", func(t *testing.T) {
		forgotten(t, func(f *vfs.Faulty) {
			f.Inject(vfs.Rule{On: vfs.OpWrite, Name: logName, Match: func(op vfs.Op) bool { return (op.Off+op.Len)%minSegment == 0 },
				Partial: minSegment, Times: 2})
		})
	})
}

// forgotten fills a log whose journal is stuck with keys that were not there,
// until there is something to note, and writes them all.
func forgotten(t *testing.T, fail func(f *vfs.Faulty)) {
	w := newWorld(t, 1)
	mem := vfs.NewMem()
	f := vfs.NewFaulty(mem)
	w.reopen(t, smallConfig(f, w))
	fail(f)
	stuck := f.Inject(vfs.Rule{On: vfs.OpWrite, Name: journalName, Block: true})
	keys := 0
	for ; stuck.Hits() == 0; keys++ {
		w.next()
		key := w.key(keys)
		if !w.tier.Demote(w.hasher.Hash(key), key, w.bytesOf(key, w.seq, 1000), 0, true) {
			runtime.Gosched() // the disk is behind, or the log is full
		}
	}
	acked, waiting := 0, 0
	for i := range keys {
		w.next()
		key := w.key(i)
		h := w.hasher.Hash(key)
		w.tier.Superseded(h)
		x := w.tier.id(h)
		if _, missing := w.tier.index.shardOf(x).unnotedOf(x, w.tier.log); missing {
			waiting++
			continue
		}
		if err := w.tier.Commit(h); err != nil { // it has nothing to wait for
			t.Fatal(err)
		}
		w.acked[string(key)] = w.seq
		acked++
	}
	h := w.killed(t, mem, smallConfig)
	h.check(t, keys, true)
	if waiting == 0 {
		t.Errorf("%d writes were acknowledged, %d wait for the journal: want some", acked, waiting)
	}
	h.close(t)
	stuck.Remove()
	w.close(t)
}

// Row 13: Close could not sync. What the system has in its memory may not be what
// was written: it is not believed in the same boot either.
func TestFault13SyncFailsSameBoot(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for _, name := range []string{logName, journalName} {
			w := newWorld(t, 1)
			f := vfs.NewFaulty(vfs.NewMem())
			w.reopen(t, testConfig(f, w))
			w.put(t, w.key(1))
			f.Inject(vfs.Rule{On: vfs.OpSync, Name: name, Err: syscall.EIO, Times: 1})
			if err := w.tier.Close(); !errors.Is(err, syscall.EIO) {
				t.Fatalf("%s: Close: %v", name, err)
			}
			w.tier.Free()
			w.reopen(t, testConfig(f, w))
			if n := w.tier.Len(); n != 0 {
				t.Errorf("%s: %d records", name, n)
			}
			w.close(t)
		}
	})
}

// Row 11: where a write failed, none is tried again.
func TestFault11SlotNotUsedAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		f := vfs.NewFaulty(vfs.NewMem())
		w.reopen(t, smallConfig(f, w))
		bad := f.Inject(vfs.Rule{On: vfs.OpWrite, Name: logName, To: minSegment, Err: syscall.EIO})
		for i := 0; w.tier.Stats().Reclaimed < 40; i++ { // more than twice round
			w.put(t, w.key(i))
		}
		if n := bad.Hits(); n != 2 {
			t.Errorf("%d writes to a slot that failed: want one, and another try", n)
		}
		if s := w.tier.Stats(); !s.On || s.Quarantined != 1 {
			t.Errorf("%+v", s)
		}
		w.close(t)
	})
}
