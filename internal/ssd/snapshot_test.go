package ssd

import (
	"testing"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// Row 4: the process dies at every boundary of Close, where the snapshot is
// written: the index is in memory until the superblock names the snapshot.
func TestFault04KillWhileClosing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 300
		w := newWorld(t, 1)
		mem := vfstest.NewMem()
		w.reopen(t, testConfig(mem, w))
		w.steps(t, 2000, keys)
		w.settle()
		if len(w.there) == 0 {
			t.Fatal("no records")
		}
		f := vfstest.NewFaulty(mem)
		w.close(t)
		w.reopen(t, testConfig(f, w))
		records, n := w.kept(), 0
		f.Inject(vfstest.Rule{On: vfstest.OpChange, Hook: func(op vfstest.Op) {
			n++
			h := w.heir()
			h.reopenAtRest(t, testConfig(mem.CrashClone(nil, vfstest.Kill), h))
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

// Row 4: an older snapshot of the same log is not believed.
func TestFault04OlderSnapshot(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 100
		w := newWorld(t, 1)
		mem := vfstest.NewMem()
		var old []byte
		for range 2 {
			w.reopen(t, testConfig(mem, w))
			for i := range keys {
				w.put(t, w.key(i))
			}
			w.close(t)
			if old == nil {
				old, _ = mem.Bytes(format.SnapshotName)
			}
		}
		if err := mem.SetBytes(format.SnapshotName, old); err != nil {
			t.Fatal(err)
		}
		w.reopen(t, testConfig(mem, w))
		if n := w.tier.Len(); n != 0 {
			t.Errorf("%d records by a snapshot that the superblock does not name", n)
		}
		w.check(t, keys, false)
		w.close(t)
	})
}

// Row 4: with a snapshot that cannot be read, or is not there, the tier starts
// empty, and says why; it serves, and is warm the next time.
func TestFault04SnapshotUnreadable(t *testing.T) {
	t.Parallel()
	const keys = 300
	w := newWorld(t, 1)
	mem := vfstest.NewMem()
	w.reopen(t, testConfig(mem, w))
	w.steps(t, 3000, keys)
	w.close(t)
	size := func(m *vfstest.Mem) int64 {
		b, err := m.Bytes(format.SnapshotName)
		if err != nil {
			t.Fatal(err)
		}
		return int64(len(b))
	}
	damage := map[string]func(m *vfstest.Mem) error{
		"header":  func(m *vfstest.Mem) error { return m.Flip(format.SnapshotName, 8*16) },
		"slots":   func(m *vfstest.Mem) error { return m.Flip(format.SnapshotName, 8*format.SnapshotHeaderLen+3) },
		"body":    func(m *vfstest.Mem) error { return m.Flip(format.SnapshotName, 8*(size(m)-8)+format.LocationShift) },
		"missing": func(m *vfstest.Mem) error { return m.Remove(format.SnapshotName) },
		"empty":   func(m *vfstest.Mem) error { return m.SetBytes(format.SnapshotName, nil) },
		"short": func(m *vfstest.Mem) error {
			b, _ := m.Bytes(format.SnapshotName)
			return m.SetBytes(format.SnapshotName, b[:len(b)-8])
		},
		"long": func(m *vfstest.Mem) error {
			b, _ := m.Bytes(format.SnapshotName)
			return m.SetBytes(format.SnapshotName, append(b, make([]byte, 8)...))
		},
	}
	for name, do := range damage {
		inBubble(t, name, func(t *testing.T) {
			clone := mem.CrashClone(nil, vfstest.Kill)
			if err := do(clone); err != nil {
				t.Fatal(err)
			}
			h := w.heirIn(t)
			cfg := testConfig(clone, h)
			told := tell(&cfg)
			h.reopen(t, cfg)
			if n := h.tier.Len(); n != 0 {
				t.Fatalf("%d records", n)
			}
			h.check(t, keys, false)
			h.close(t)
			if why := told.about("reason"); len(why) != 1 {
				t.Errorf("the reasons that were logged: %q: want one", why)
			}
			h.there = map[string]uint64{}
			h.reopen(t, testConfig(clone, h))
			h.put(t, h.key(1))
			h.close(t)
			h.reopen(t, testConfig(clone, h))
			if lost := h.missing(t); len(lost) > 0 {
				t.Errorf("not found: %s", lost)
			}
			h.close(t)
		})
	}
}

// A tier that was opened and never started, because something else of the cache
// could not be, leaves the files as they were.
func TestCloseWithoutStart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 50
		w := newWorld(t, 1)
		mem := vfstest.NewMem()
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
		if lost := w.missing(t); len(lost) > 0 {
			t.Errorf("%d of %d are not found", len(lost), keys)
		}
		for i := range keys {
			w.set(w.key(i), 0)
		}
		w.checkKilled(t, mem, testConfig, keys, false)
		w.close(t)
		w.reopen(t, testConfig(mem, w))
	})
}

// What expired while the clock was behind stays expired after Close.
func TestClockBehindAndClose(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		mem := vfstest.NewMem()
		w.now.Add(3_600_000)
		w.reopen(t, testConfig(mem, w))
		w.put(t, w.key(1))
		w.close(t)
		w.now.Add(-3_600_000)
		w.reopen(t, testConfig(mem, w))
		key := w.key(2)
		if !w.tier.Demote(w.hasher.Hash(key), key, []byte("short-lived"), w.tier.Now()+10_000, true, true) {
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
