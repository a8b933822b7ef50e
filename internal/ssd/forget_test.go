package ssd

import (
	"context"
	"syscall"
	"testing"

	"github.com/firncache/firn/internal/vfs"
)

// recovering makes w what comes after a kill, over fs, whose recovery has not
// ended yet. It calls opened between Open and Start. The index may have so much
// memory, in bytes; the keeper stands still.
func (w *world) recovering(t *testing.T, fs vfs.FS, memory int64, opened func()) {
	t.Helper()
	w.crashed()
	tier, err := Open(testConfig(fs, w))
	if err != nil {
		t.Fatal(err)
	}
	w.tier, w.atRest = tier, true
	tier.restarting.Lock()
	opened()
	charged, most := int64(0), tier.fixed+memory
	err = tier.Start(func(n int64) error {
		if charged+n > most {
			tier.index.most.Store(tier.index.allowed.Load()) // as the keeper would
			return syscall.ENOMEM
		}
		charged += n
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// names reports whether the index has an entry, be it a grave.
func (t *Tier) names(hash uint64) bool {
	x := t.id(hash)
	s := t.index.shardOf(x)
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.find(x)
	return ok
}

// A segment that there is no memory to index is forgotten when the disk says that
// it is dead, and not before: who writes one of its keys meanwhile has to note it.
func TestKilledWithoutMemoryToRecover(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 6000
		w := newWorld(t, 1)
		clone := full(t, w, testConfig, keys)
		f := vfs.NewFaulty(clone)
		var floor *vfs.Injection
		w.recovering(t, f, 40<<10, func() {
			floor = f.Inject(vfs.Rule{On: vfs.OpWrite, Name: journalName, Block: true, Times: 1})
		})
		floor.AwaitBlocked(1)
		for i, n := 0, 0; i < keys && n < 500; i++ {
			key := w.key(i)
			if !w.tier.names(w.hasher.Hash(key)) {
				continue // older than what there is memory for
			}
			if err := w.set(key, 0); err != nil {
				t.Fatal(err)
			}
			n++
		}
		h := w.heir()
		h.reopen(t, testConfig(clone.CrashClone(nil, vfs.Kill), h))
		h.check(t, keys, false)
		h.close(t)
		floor.Remove()
		w.recovered()
		w.close(t)
	})
}

// If a segment cannot be read, and the disk cannot be told that it is dead, nor
// that nothing is data, writes of its keys fail: what it has may come back.
func TestRecoveryCannotDrop(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 4000
		w := newWorld(t, 1)
		clone := full(t, w, testConfig, keys)
		f := vfs.NewFaulty(clone)
		var broken []*vfs.Injection
		w.recovering(t, f, 1<<20, func() {
			for _, r := range []vfs.Rule{
				{On: vfs.OpWrite, Name: "superblock"}, {On: vfs.OpWrite, Name: journalName},
				{On: vfs.OpRead, Name: logName, To: 64 << 10},
			} {
				r.Err = syscall.EIO
				broken = append(broken, f.Inject(r))
			}
		})
		w.recovered()
		for i := range 100 { // of the oldest segment
			if err := w.set(w.key(i), 0); err == nil {
				t.Fatalf("Set of %s: no error", w.key(i))
			}
		}
		w.checkKilled(t, clone, testConfig, keys, true)
		for _, b := range broken {
			b.Remove()
		}
		w.close(t)
	})
}

// A record that is read wrong while the tier is being closed stays in the index:
// nobody would note that it left.
func TestReadWrongDuringClose(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		mem := vfs.NewMem()
		w.reopen(t, testConfig(mem, w))
		key := w.key(1)
		w.put(t, key)
		w.close(t)
		f := vfs.NewFaulty(mem)
		w.reopen(t, testConfig(f, w))
		read := f.Inject(vfs.Rule{On: vfs.OpRead, Name: logName, Block: true, Mangle: func(_ vfs.Op, p []byte) {
			for i := range p {
				p[i] ^= 1
			}
		}})
		got := make(chan error)
		go func() {
			_, err := w.tier.Get(context.Background(), nil, key, w.hasher.Hash(key))
			got <- err
		}()
		read.AwaitBlocked(1)
		sync := f.Inject(vfs.Rule{On: vfs.OpSync, Name: logName, Block: true}) // the last notes are written by then
		ended := make(chan error)
		go func() { ended <- w.tier.Close() }()
		sync.AwaitBlocked(1)
		read.Remove()
		if err := <-got; err == nil {
			t.Error("Get: no error")
		}
		sync.Remove()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		w.reopen(t, testConfig(mem, w)) // with the snapshot
		if err := w.set(key, 0); err != nil {
			t.Fatal(err)
		}
		w.checkKilled(t, mem, testConfig, 2, false) // without
		w.close(t)
	})
}

// A segment whose end cannot be read at Open is sealed by the recovery, though
// there is a snapshot: one that is not sealed is never reclaimed.
func TestEndUnreadableBesideSnapshot(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		mem := vfs.NewMem()
		w.reopen(t, testConfig(mem, w))
		for i := range 100 {
			w.put(t, w.key(i))
		}
		w.close(t)
		f := vfs.NewFaulty(mem)
		end := f.Inject(vfs.Rule{On: vfs.OpRead, Name: logName, From: 64<<10 - 1, To: 64 << 10, Times: 1, Err: syscall.EIO})
		w.reopen(t, testConfig(f, w))
		end.Remove()
		w.check(t, 100, true)
		for i := range w.tier.log.slots {
			if s := &w.tier.log.slots[i]; s.serial.Load() != 0 && !s.sealed {
				t.Errorf("segment %d is not sealed", s.serial.Load())
			}
		}
		w.close(t)
	})
}

// Entries that do not fit leave no trace in what the index has taken.
func TestLoadThatDoesNotFit(t *testing.T) {
	x, err := newIndex(0, 20, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = x.region.Release() }()
	entries := make([]uint64, 10_000)
	for i := range entries {
		entries[i] = uint64(x.newEntry(id(i)<<8, 1, 100))
	}
	used := x.used.Load()
	if x.load(&x.shards[0], entries) {
		t.Fatal("loaded without memory")
	}
	if n := x.used.Load(); n != used {
		t.Errorf("%d bytes are used, want %d", n, used)
	}
}

// A header that is read wrong makes nothing of its segment, for good: what is
// read right at the next Open must not be there again.
func TestHeaderReadWrongOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		mem := vfs.NewMem()
		w.reopen(t, testConfig(mem, w))
		key := w.key(1)
		w.put(t, key)
		w.written()
		for at := 0; at < segmentHeaderLen; at += sized(8, 1) { // a byte of each field
			clone := mem.CrashClone(nil, vfs.Kill)
			f := vfs.NewFaulty(clone)
			wrong := f.Inject(vfs.Rule{On: vfs.OpRead, Name: logName, To: 1, Mangle: func(_ vfs.Op, p []byte) { p[at] ^= 1 }})
			l := w.heir()
			l.reopen(t, testConfig(f, l))
			wrong.Remove()
			if err := l.set(key, 0); err != nil {
				t.Fatal(err)
			}
			h := l.heir()
			h.reopen(t, testConfig(clone.CrashClone(nil, vfs.Kill), h))
			h.check(t, 2, false)
			h.close(t)
			l.close(t)
		}
		w.close(t)
	})
}
