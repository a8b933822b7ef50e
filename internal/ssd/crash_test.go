package ssd

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/firncache/firn/internal/vfs"
)

// smallConfig is a tier of a few segments, which are soon written over.
func smallConfig(fs vfs.FS, w *world) Config {
	cfg := testConfig(fs, w)
	cfg.Bytes = 1 << 20
	return cfg
}

// nearlyFull drives w until the journal is about to turn to its other area.
func (w *world) nearlyFull(t *testing.T, keys int) {
	t.Helper()
	for {
		w.tier.journal.mu.Lock()
		room := w.tier.journal.room() - kept
		w.tier.journal.mu.Unlock()
		if room < 20 && room > 0 {
			return
		}
		w.steps(t, 1, keys)
	}
}

// turns is how often the journal has turned.
func (j *journal) turns() uint32 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.generation
}

// survives opens what a crash left, and checks it before, during and after the
// recovery, and after further writes.
func survives(t *testing.T, h *world, cfg Config, keys int) {
	t.Helper()
	if err := h.open(cfg); err != nil {
		t.Fatal(err)
	}
	if err := h.checkAll(keys); err != nil {
		t.Fatal(err)
	}
	h.recovered()
	if err := h.checkAll(keys); err != nil {
		t.Fatal(err)
	}
	h.close(t)
}

// Row 1: the process dies at every boundary between operations of the file
// system, and inside writes, while the log turns and the journal is folded.
func TestFault01KillAtEveryBoundary(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 150
		for seed := range uint64(sized(1, 2)) {
			w := newWorld(t, seed)
			w.most = 2000
			mem := vfs.NewMem()
			w.reopen(t, smallConfig(mem, w))
			w.steps(t, 2000, keys)
			w.nearlyFull(t, keys)
			mem = mem.CrashClone(nil, vfs.Kill)
			old := w.tier
			folds, stride := 0, sized(11, 1)
			n := vfs.EachBoundary(mem, func(fs vfs.FS) {
				w.reopen(t, smallConfig(fs, w))
				w.steps(t, 1500, keys)
				folds = int(w.tier.journal.turns())
				w.close(t)
			}, func(b vfs.Boundary) {
				if b.N%stride != 0 {
					return
				}
				h := w.heir()
				survives(t, h, smallConfig(b.Crash(nil, vfs.Kill), h), keys)
				if t.Failed() {
					t.Fatal(b)
				}
			})
			if err := old.Close(); err != nil {
				t.Fatal(err)
			}
			t.Logf("seed %d: %d boundaries, generation %d of the journal", seed, n, folds)
			if n < 100 || folds == 0 {
				t.Fatal("the scenario does not reach what it is for")
			}
		}
	})
}

// Row 2: the machine goes down. What was not closed is not believed; a clone of
// the files at any boundary of Close is cold, or exact.
func TestFault02PowerCut(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 150
		w := newWorld(t, 1)
		mem := vfs.NewMem()
		w.reopen(t, smallConfig(mem, w))
		w.steps(t, 3000, keys)
		rng := rand.New(rand.NewPCG(2, 2))
		rebooted := func(fs vfs.FS, h *world) Config {
			cfg := smallConfig(fs, h)
			cfg.BootID = func() string { return "another boot" }
			return cfg
		}
		for range sized(8, 30) {
			w.steps(t, 50, keys)
			h := w.heir()
			h.reopenAtRest(t, rebooted(mem.CrashClone(rng, vfs.PowerCut), h))
			if n := h.tier.Len(); n != 0 {
				t.Fatalf("%d records of a log that was not closed before the machine went down", n)
			}
			h.close(t)
		}
		mem = mem.CrashClone(nil, vfs.Kill)
		w.close(t)
		var records, cold, warm int
		vfs.EachBoundary(mem, func(fs vfs.FS) {
			w.reopen(t, smallConfig(fs, w))
			w.steps(t, 200, keys)
			records = w.kept()
			w.close(t)
		}, func(b vfs.Boundary) {
			if b.N%sized(3, 1) != 0 && b.Op.Kind != 0 {
				return
			}
			for range 2 {
				h := w.heir()
				h.reopenAtRest(t, rebooted(b.Crash(rng, vfs.PowerCut), h))
				switch n := h.tier.Len(); {
				case n == 0:
					cold++
				case n != records:
					t.Fatalf("%v: %d records after a power cut, %d before", b, n, records)
				default:
					warm++
					h.check(t, keys, true)
				}
				h.close(t)
			}
		})
		t.Logf("%d cold, %d warm with %d records", cold, warm, records)
		if warm == 0 || cold == 0 {
			t.Fatal("want both")
		}
		// With everything on the device nothing is lost.
		h := w.heir()
		h.reopenAtRest(t, rebooted(mem.CrashClone(rng, vfs.PowerCut), h))
		if n := h.tier.Len(); n != records {
			t.Fatalf("%d records after Close and a power cut, want %d", n, records)
		}
		h.check(t, keys, true)
		h.close(t)
	})
}

// Row 2 with RecoverAlways: what comes back may be outdated, but is what was
// once written under the key.
func TestFault02PowerCutRecoverAlways(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 150
		rng := rand.New(rand.NewPCG(3, 3))
		found := 0
		for seed := range uint64(sized(8, 20)) {
			w := newWorld(t, seed)
			mem := vfs.NewMem()
			w.reopen(t, smallConfig(mem, w))
			w.steps(t, 2000, keys)
			w.written()
			h := w.heir()
			h.acked = map[string]uint64{} // any version will do
			cfg := smallConfig(mem.CrashClone(rng, vfs.PowerCut), h)
			cfg.Recovery, cfg.BootID = RecoverAlways, func() string { return "another boot" }
			h.reopen(t, cfg)
			h.check(t, keys, false)
			found += h.hits
			h.close(t)
			w.close(t)
		}
		if found == 0 {
			t.Fatal("nothing came back")
		}
	})
}

// Row 3: a segment that was reclaimed stays dead when the note that says so has
// been written over, and what it holds is still there.
func TestFault03ReclaimedStaysDead(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		mem := vfs.NewMem()
		cfg := testConfig(mem, w)
		cfg.Bytes, cfg.SegmentBytes, cfg.Memory = 4<<20, 512<<10, 16<<20
		w.reopen(t, cfg)
		w.most = 3000
		put := func(i int) { w.put(t, w.key(i)) }
		last := 0
		room := func() int { // in the open segment
			w.tier.log.mu.Lock()
			defer w.tier.log.mu.Unlock()
			if s := w.tier.log.open; s != nil {
				return w.tier.log.segBytes() - s.end
			}
			return 0
		}
		for ; w.tier.Stats().Reclaimed < 3 || room() < 400<<10; last++ {
			put(last)
		}
		for w.tier.log.freeSlots() < w.tier.log.ahead {
			time.Sleep(time.Millisecond) // the keeper is at it
		}
		w.written()
		w.most = 1
		for reclaimed := w.tier.Stats().Reclaimed; w.tier.journal.turns() < 3; { // the journal turns; the log does not
			put(1_000_000)
			if w.tier.Stats().Reclaimed != reclaimed {
				t.Fatal("a segment was reclaimed: its floor is noted again")
			}
		}
		for i := range last { // these that are gone are noted nowhere
			if err := w.set(w.key(i), 0); err != nil {
				t.Fatal(err)
			}
		}
		h := w.heir()
		cfg.FS = mem.CrashClone(nil, vfs.Kill)
		h.reopen(t, cfg)
		h.check(t, last, false)
		if err := h.get(h.key(1_000_000)); err != nil {
			t.Fatal(err)
		}
		h.close(t)
		w.close(t)
	})
}

// Row 3: at every boundary while segments are reclaimed and written over, with
// records that are kept because they were read.
func TestFault03KillWhileReclaiming(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 400
		w := newWorld(t, 4)
		mem := vfs.NewMem()
		w.reopen(t, smallConfig(mem, w))
		w.steps(t, 6000, keys)
		hot := func(i int) []byte { return w.key(keys + i) } // never written again
		for i := range 10 {
			w.put(t, hot(i))
		}
		before, stride := w.tier.Stats().Reclaimed, sized(7, 1)
		mem = mem.CrashClone(nil, vfs.Kill)
		w.close(t)
		var after Stats
		vfs.EachBoundary(mem, func(fs vfs.FS) {
			w.reopen(t, smallConfig(fs, w))
			for range 60 {
				for i := range 10 { // what is read now is kept
					if err := w.get(hot(i)); err != nil {
						t.Fatal(err)
					}
					delete(w.ram, string(hot(i))) // it left RAM, clean
				}
				w.steps(t, 25, keys)
			}
			after = w.tier.Stats()
			w.close(t)
		}, func(b vfs.Boundary) {
			if b.Op.Name == journalName && b.N%3 != 0 || b.N%stride != 0 {
				return
			}
			h := w.heir()
			survives(t, h, smallConfig(b.Crash(nil, vfs.Kill), h), keys+10)
			if t.Failed() {
				t.Fatal(b)
			}
		})
		if before == 0 || after.Reclaimed == 0 || after.Reinserted == 0 {
			t.Fatalf("reclaimed %d, then %d with %d records kept: want more than none", before, after.Reclaimed, after.Reinserted)
		}
	})
}

// Row 4: the process dies at every boundary of Close, where the snapshot is
// written: the log is there, and so are its records.
func TestFault04KillWhileClosing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 300
		w := newWorld(t, 1)
		mem := vfs.NewMem()
		f := vfs.NewFaulty(mem)
		w.reopen(t, testConfig(f, w))
		w.steps(t, 2000, keys)
		records := w.kept()
		w.written()
		if records == 0 {
			t.Fatal("no records")
		}
		n := 0
		f.Inject(vfs.Rule{On: vfs.OpChange, Hook: func(op vfs.Op) {
			n++
			h := w.heir()
			h.reopenAtRest(t, testConfig(mem.CrashClone(nil, vfs.Kill), h))
			if got := h.tier.Len(); got != records {
				t.Errorf("before %v: %d records, want %d", op, got, records)
			}
			h.check(t, keys, true)
			h.close(t)
		}})
		w.close(t)
		if n < 5 {
			t.Fatalf("Close has %d operations", n)
		}
	})
}

// Row 3, and what a fold relies on: a record that is not on the disk yet must not
// be the reason to forget that an older one is dead.
func TestFault03FoldWaitsForTheLog(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 4000
		w := newWorld(t, 1)
		mem := vfs.NewMem()
		f := vfs.NewFaulty(mem)
		w.reopen(t, testConfig(f, w))
		w.most = 1
		for i := range keys {
			w.put(t, w.key(i))
		}
		w.written()
		stuck := f.Inject(vfs.Rule{On: vfs.OpWrite, Name: logName, Block: true})
		w.put(t, w.key(0))
		done := make(chan struct{})
		go func() {
			defer close(done)
			for i := 1; i < keys; i++ {
				if err := w.set(w.key(i), 0); err != nil {
					t.Error(err)
				}
			}
		}()
		waits := func() bool {
			w.tier.journal.mu.Lock()
			defer w.tier.journal.mu.Unlock()
			return w.tier.journal.generation > 0 && w.tier.journal.room() <= kept && !w.tier.journal.folded
		}
		for over := false; !over && !waits(); {
			select {
			case <-done:
				over = true
			case <-time.After(time.Millisecond):
			}
		}
		w.checkKilled(t, mem, testConfig, keys, true)
		stuck.Remove()
		<-done
		w.close(t)
	})
}

// Row 4: an older snapshot of the same log is not believed.
func TestFault04OlderSnapshot(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 100
		w := newWorld(t, 1)
		mem := vfs.NewMem()
		var old []byte
		for range 2 {
			w.reopen(t, testConfig(mem, w))
			for i := range keys {
				w.put(t, w.key(i))
			}
			w.close(t)
			if old == nil {
				old, _ = mem.Bytes(snapshotName)
			}
		}
		if err := mem.SetBytes(snapshotName, old); err != nil {
			t.Fatal(err)
		}
		w.reopen(t, testConfig(mem, w))
		w.check(t, keys, true)
		w.close(t)
	})
}

// Row 4: a snapshot that cannot be read, or is not there, is made up for by the
// log.
func TestFault04SnapshotUnreadable(t *testing.T) {
	t.Parallel()
	const keys = 300
	w := newWorld(t, 1)
	mem := vfs.NewMem()
	w.reopen(t, testConfig(mem, w))
	w.steps(t, 3000, keys)
	records := w.kept()
	w.close(t)
	size := func(m *vfs.Mem) int64 {
		b, err := m.Bytes(snapshotName)
		if err != nil {
			t.Fatal(err)
		}
		return int64(len(b))
	}
	damage := map[string]func(m *vfs.Mem) error{
		"header":    func(m *vfs.Mem) error { return m.Flip(snapshotName, 8*16) },
		"directory": func(m *vfs.Mem) error { return m.Flip(snapshotName, 8*snapshotHeaderLen+3) },
		"body":      func(m *vfs.Mem) error { return m.Flip(snapshotName, 8*(size(m)-8)+locationShift) },
		"missing":   func(m *vfs.Mem) error { return m.Remove(snapshotName) },
		"empty":     func(m *vfs.Mem) error { return m.SetBytes(snapshotName, nil) },
		"short": func(m *vfs.Mem) error {
			b, _ := m.Bytes(snapshotName)
			return m.SetBytes(snapshotName, b[:len(b)-8])
		},
		"long": func(m *vfs.Mem) error {
			b, _ := m.Bytes(snapshotName)
			return m.SetBytes(snapshotName, append(b, make([]byte, 8)...))
		},
	}
	for name, do := range damage {
		inBubble(t, name, func(t *testing.T) {
			clone := mem.CrashClone(nil, vfs.Kill)
			if err := do(clone); err != nil {
				t.Fatal(err)
			}
			h := w.heirIn(t)
			h.reopenAtRest(t, testConfig(clone, h))
			if s := h.tier.Stats(); s.Records != int64(records) || s.Recovered == 0 {
				t.Fatalf("%d records, want %d, from %d segments", s.Records, records, s.Recovered)
			}
			h.check(t, keys, true)
			h.close(t)
		})
	}
}

// Row 5: the process dies again at every boundary of the recovery, and once more
// in the recovery from that.
func TestFault05CrashInRecovery(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 150
		w := newWorld(t, 1)
		w.most = 2000
		mem := vfs.NewMem()
		w.reopen(t, smallConfig(mem, w))
		w.steps(t, 3000, keys)
		w.nearlyFull(t, keys)
		w.steps(t, 60, keys)
		clone := mem.CrashClone(nil, vfs.Kill)
		first := w.heir()
		rng := rand.New(rand.NewPCG(5, 5))
		recovery := func(h *world, m *vfs.Mem, at func(b vfs.Boundary)) {
			vfs.EachBoundary(m, func(fs vfs.FS) {
				h.reopen(t, smallConfig(fs, h))
				for i := range keys / 3 { // writes that the recovery must not undo
					if err := h.delete(h.key(i)); err != nil {
						t.Fatal(err)
					}
				}
				h.check(t, keys, false)
				h.close(t)
			}, at)
		}
		recovery(first, clone, func(b vfs.Boundary) {
			second := first.heir()
			again := b.Crash(nil, vfs.Kill)
			if b.N%sized(3, 1) != 0 {
				return
			}
			if rng.IntN(4) != 0 {
				survives(t, second, smallConfig(again, second), keys)
				return
			}
			recovery(second, again, func(b vfs.Boundary) {
				if rng.IntN(10) == 0 {
					third := second.heir()
					survives(t, third, smallConfig(b.Crash(nil, vfs.Kill), third), keys)
				}
			})
		})
		w.close(t)
	})
}

// Row 5, and 25: what is written while the recovery is under way is not undone
// by what it finds, also if the process dies then.
func TestFault05WritesDuringRecovery(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 200
		w := newWorld(t, 1)
		mem := vfs.NewMem()
		w.reopen(t, testConfig(mem, w))
		for i := range keys {
			w.put(t, w.key(i))
		}
		w.written()
		clone := mem.CrashClone(nil, vfs.Kill)
		w.close(t)
		f := vfs.NewFaulty(clone)
		w.crashed()
		tier, err := Open(testConfig(f, w))
		if err != nil {
			t.Fatal(err)
		}
		held := f.Inject(vfs.Rule{On: vfs.OpRead, Name: logName, Block: true})
		w.tier = tier
		if err := tier.Start(func(int64) error { return nil }); err != nil {
			t.Fatal(err)
		}
		held.AwaitBlocked(1)
		for i := range keys / 2 {
			if i%2 == 0 {
				err = w.delete(w.key(i))
			} else {
				err = w.set(w.key(i), 0)
				w.demote(w.key(i))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		w.checkKilled(t, clone, testConfig, keys, true)
		held.Remove()
		w.recovered()
		w.check(t, keys, true)
		if n := w.tier.Len(); n != keys-keys/4 {
			t.Fatalf("%d records, want %d", n, keys-keys/4)
		}
		w.written()
		w.checkKilled(t, clone, testConfig, keys, true)
		w.close(t)
	})
}

// Row 5: a recovery that is cut short many times ends where one does that is
// not.
func TestFault05RecoveryIsIdempotent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 300
		w := newWorld(t, 2)
		mem := vfs.NewMem()
		w.reopen(t, testConfig(mem, w))
		w.steps(t, 4000, keys)
		records := w.kept()
		w.written()
		clone := mem.CrashClone(nil, vfs.Kill)
		for range 5 {
			h := w.heir()
			h.reopenAtRest(t, testConfig(clone, h))
			if n := h.tier.Len(); n != records {
				t.Fatalf("%d records, want %d", n, records)
			}
			h.check(t, keys, true)
			clone = clone.CrashClone(nil, vfs.Kill)
			h.close(t)
		}
		w.close(t)
	})
}

// Row 1: a journal that is folded right after Open, before anything was written,
// notes how far the log reaches. That must be a place which the disk has, or the
// next recovery misses it and drops all that is older.
func TestFault01FoldAfterOpen(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.most = 500
		mem := vfs.NewMem()
		w.reopen(t, testConfig(mem, w))
		for i := 0; w.tier.journal.turns() == 0 || i%100 != 0; i++ { // until the journal has turned
			w.put(t, w.key(i%100))
		}
		for i := range 100 { // nothing that the journal says is dead needs a tombstone
			w.put(t, w.key(i))
		}
		w.close(t)
		w.crashed()
		if err := w.open(testConfig(mem, w)); err != nil {
			t.Fatal(err)
		}
		w.recovered()
		before := w.tier.Len()
		for j, folded := w.tier.journal, false; !folded; {
			w.tier.poke()
			j.mu.Lock()
			folded = j.folded
			j.mu.Unlock()
			runtime.Gosched()
		}
		h := w.heir()
		h.reopenAtRest(t, testConfig(mem.CrashClone(nil, vfs.Kill), h))
		if after := h.tier.Len(); before == 0 || after < before {
			t.Errorf("%d records before the kill, %d after", before, after)
		}
		h.close(t)
		w.close(t)
	})
}
