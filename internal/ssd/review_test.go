package ssd

import (
	"syscall"
	"testing"

	"github.com/firncache/firn/internal/vfs"
)

// An id that the index takes for another's is the other's everywhere: a write
// that finds the entry gone waits for the note of the one that took it out.
func TestIDsThatTheIndexCannotTell(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		mem := vfs.NewMem()
		cfg := testConfig(mem, w)
		cfg.Bytes = 4 << 20
		w.reopen(t, cfg)
		key := w.key(1)
		a := w.hasher.Hash(key)
		b := a ^ 1<<(63-w.tier.index.shardBits) // differs in the highest bit below the shard's number
		if n := w.tier.index.shardBits + w.tier.index.fingerprintBits(); n >= idBits {
			t.Fatalf("the index keeps %d bits of an id: nothing to test", n)
		}
		if !w.tier.Demote(a, key, []byte("old"), 0, true) {
			t.Fatal("not demoted")
		}
		w.tier.Superseded(b) // another key is being written
		w.tier.Superseded(a) // and this one is
		if err := w.tier.Commit(a); err != nil {
			t.Fatal(err)
		}
		w.written()
		h := w.heir()
		cfg.FS = mem.CrashClone(nil, vfs.Kill)
		h.reopen(t, cfg)
		if f, err := h.tier.Get(background, nil, key, a); err == nil {
			t.Errorf("%q is back", f.Value)
		}
		for i := range 20 {
			h.put(t, h.key(100+i))
		}
		h.close(t)
		if _, problems := verify(t, cfg.FS); len(problems) > 0 {
			t.Error(problems)
		}
		w.close(t)
	})
}

// A tier that was opened and never started, because something else of the cache
// could not be, leaves the files as they were.
func TestCloseWithoutStart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 50
		w := newWorld(t, 1)
		mem := vfs.NewMem()
		w.reopen(t, testConfig(mem, w))
		for i := range keys {
			w.put(t, w.key(i))
		}
		w.close(t)
		tier, err := Open(testConfig(mem, w))
		if err != nil {
			t.Fatal(err)
		}
		if err := tier.Close(); err != nil {
			t.Fatal(err)
		}
		tier.Free()
		w.reopen(t, testConfig(mem, w))
		for i := range keys {
			if err := w.set(w.key(i), 0); err != nil {
				t.Fatal(err)
			}
		}
		w.checkKilled(t, mem, testConfig, keys, false)
		w.close(t)
		w.reopen(t, testConfig(mem, w))
	})
}

// A write that is between Superseded and Commit while the tier is closed is
// acknowledged: its note must be in the files.
func TestCloseBetweenSupersededAndCommit(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		mem := vfs.NewMem()
		w.reopen(t, testConfig(mem, w))
		key := w.key(1)
		w.put(t, key)
		w.next()
		hash := w.hasher.Hash(key)
		w.tier.Superseded(hash)
		w.close(t)
		if err := w.tier.Commit(hash); err != nil {
			t.Fatal(err)
		}
		w.acked[string(key)] = w.seq
		w.reopen(t, testConfig(mem, w)) // with the snapshot
		w.check(t, 2, false)
		w.checkKilled(t, mem, testConfig, 2, false) // without
		w.close(t)
	})
}

// If the tier cannot be closed, a write that waits for its note is told that the
// older value may come back.
func TestCloseFailsBetweenSupersededAndCommit(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		f := vfs.NewFaulty(vfs.NewMem())
		w.reopen(t, testConfig(f, w))
		key := w.key(1)
		w.put(t, key)
		hash := w.hasher.Hash(key)
		w.tier.Superseded(hash)
		for _, name := range []string{"superblock", journalName} {
			f.Inject(vfs.Rule{On: vfs.OpWrite | vfs.OpSync, Name: name, Err: syscall.EIO})
		}
		if err := w.tier.Close(); err == nil {
			t.Fatal("Close: no error")
		}
		w.tier.Free()
		if err := w.tier.Commit(hash); err == nil {
			t.Error("Commit: no error")
		}
	})
}

// While the journal has no room and cannot be folded, the superblock says what
// is dead.
func TestFloorWithoutRoomInTheJournal(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 200
		w := newWorld(t, 1)
		mem := vfs.NewMem()
		w.reopen(t, testConfig(mem, w))
		for i := range keys {
			w.put(t, w.key(i))
		}
		w.written()
		w.tier.restarting.Lock() // nothing is folded meanwhile
		j := w.tier.journal
		j.mu.Lock()
		j.at, j.folded = j.area-last*noteLen, false
		j.mu.Unlock()
		if err := w.tier.sayDead(w.tier.log.nextSerial()); err != nil {
			t.Fatal(err)
		}
		w.tier.expires.Store(true)
		w.tier.noteTime() // does not wait: only the keeper, who calls it, could make room
		h := w.killed(t, mem, testConfig)
		if n := h.tier.Len(); n != 0 {
			t.Errorf("%d records are back", n)
		}
		h.close(t)
		w.tier.restarting.Unlock()
		w.close(t)
	})
}

// A segment that cannot be written while the log is being recovered takes its
// records with it, and nothing older comes in their place.
func TestSegmentFailsDuringRecovery(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 200
		w := newWorld(t, 1)
		f := vfs.NewFaulty(vfs.NewMem())
		w.reopen(t, testConfig(f, w))
		for i := range keys {
			w.put(t, w.key(i))
		}
		w.close(t)
		if err := f.Remove(snapshotName); err != nil {
			t.Fatal(err)
		}
		tier, err := Open(testConfig(f, w))
		if err != nil {
			t.Fatal(err)
		}
		w.tier = tier
		reads := f.Inject(vfs.Rule{On: vfs.OpRead, Name: logName, Block: true})
		if err := tier.Start(func(int64) error { return nil }); err != nil {
			t.Fatal(err)
		}
		for i := range keys {
			w.put(t, w.key(i))
		}
		writes := f.Inject(vfs.Rule{On: vfs.OpWrite, Name: logName, Err: syscall.EIO})
		w.written()
		if n := tier.Stats().Quarantined; n == 0 {
			t.Fatal("no segment was given up")
		}
		reads.Remove()
		writes.Remove()
		w.recovered()
		w.check(t, keys, false)
		w.close(t)
	})
}

// Records that a recovery has no memory for are noted as dead when their keys are
// written, although the index does not have them.
func TestRecoveryWithoutMemory(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 6000
		w := newWorld(t, 1)
		w.most = 10
		mem := vfs.NewMem()
		w.reopen(t, testConfig(mem, w))
		for i := range keys {
			w.put(t, w.key(i))
		}
		w.written()
		clone := mem.CrashClone(nil, vfs.Kill)
		w.close(t)
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
		if n := w.tier.Len(); n == 0 || n == keys {
			t.Fatalf("%d records were recovered: want some of %d", n, keys)
		}
		for i := range keys {
			if err := w.set(w.key(i), 0); err != nil {
				t.Fatal(err)
			}
		}
		for _, crash := range []bool{true, false} {
			fs := clone
			if crash {
				fs = clone.CrashClone(nil, vfs.Kill)
			} else {
				w.close(t)
			}
			h := w.heir()
			h.reopen(t, testConfig(fs, h))
			h.check(t, keys, false)
			h.close(t)
		}
	})
}

// What expired while the clock was behind stays expired after Close.
func TestClockBehindAndClose(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		mem := vfs.NewMem()
		w.now.Add(3_600_000)
		w.reopen(t, testConfig(mem, w))
		w.put(t, w.key(1))
		w.close(t)
		w.now.Add(-3_600_000)
		w.reopen(t, testConfig(mem, w))
		key := w.key(2)
		if !w.tier.Demote(w.hasher.Hash(key), key, []byte("short-lived"), w.tier.Now()+10_000, true) {
			t.Fatal("not demoted")
		}
		w.now.Add(20_000)
		w.close(t)
		w.reopen(t, testConfig(mem, w))
		if f, err := w.tier.Get(background, nil, key, w.hasher.Hash(key)); err == nil {
			t.Errorf("expired, and back: %q", f.Value)
		}
		w.close(t)
	})
}

// What is yet to be recovered gets no tombstone from a journal that has room.
func TestNoFoldDuringRecovery(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 100
		w := newWorld(t, 1)
		f := vfs.NewFaulty(vfs.NewMem())
		w.reopen(t, testConfig(f, w))
		for i := range keys {
			w.put(t, w.key(i))
		}
		w.close(t)
		if err := f.Remove(snapshotName); err != nil {
			t.Fatal(err)
		}
		tier, err := Open(testConfig(f, w))
		if err != nil {
			t.Fatal(err)
		}
		w.tier = tier
		reads := f.Inject(vfs.Rule{On: vfs.OpRead, Name: logName, Block: true})
		j := tier.journal
		j.folded = false
		for i := range keys {
			other := (j.generation + 1) & 1
			j.dead[other] = append(j.dead[other], tier.id(w.hasher.Hash(w.key(i))))
		}
		if err := tier.Start(func(int64) error { return nil }); err != nil {
			t.Fatal(err)
		}
		tier.makeRoom()
		if n := tier.Stats().Tombstones; n > 0 {
			t.Errorf("%d tombstones during the recovery", n)
		}
		reads.Remove()
		w.recovered()
		for tier.makeRoom() {
		}
		if n := tier.Stats().Tombstones; n > 0 {
			t.Errorf("%d tombstones for records that live", n)
		}
		w.close(t)
	})
}

// What comes between the moment when a key was dead and its tombstone is dead
// now, not only after a kill.
func TestTombstoneOfWhatCameBack(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		mem := vfs.NewMem()
		w.reopen(t, testConfig(mem, w))
		var ids []id
		for i := range 10 {
			w.put(t, w.key(i))
			ids = append(ids, w.tier.id(w.hasher.Hash(w.key(i))))
		}
		if !w.tier.settle(ids[:4], 0) {
			t.Fatal("not settled")
		}
		w.put(t, w.key(0)) // behind its tombstone
		w.written()
		h := w.killed(t, mem, testConfig)
		if here, there := w.tier.Len(), h.tier.Len(); here != 7 || there != 7 {
			t.Errorf("%d records before a kill, %d after, want 7", here, there)
		}
		h.close(t)
		w.close(t)
	})
}
