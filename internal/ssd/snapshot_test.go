package ssd

import (
	"bytes"
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/firncache/firn/internal/registry"
	"github.com/firncache/firn/internal/ssd/files"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/ssd/format/formattest"
	"github.com/firncache/firn/internal/ssd/index"
	"github.com/firncache/firn/internal/ssd/log"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// Row 4: the process dies at every boundary of Close, where the snapshot is
// written: the index is in memory until the superblock names the snapshot.
func TestFault04KillWhileClosing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 300
		w, mem := started(t, 1, testConfig)
		w.steps(t, 2000, keys)
		w.settle()
		if len(w.there) == 0 {
			t.Fatal("no records")
		}
		f := vfstest.NewFaulty(mem)
		w.restart(t, testConfig(f, w))
		records, n := w.kept(), 0
		f.Inject(vfstest.Rule{On: vfstest.OpChange, Hook: func(op vfstest.Op) {
			n++
			h := w.heirAtRest(t, mem.CrashClone(nil, vfstest.Kill), testConfig)
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
		w, mem := newWorld(t, 1), vfstest.NewMem()
		var old []byte
		for range 2 {
			w.reopen(t, testConfig(mem, w))
			w.fill(t, keys)
			w.close(t)
			if old == nil {
				old, _ = mem.Bytes(format.SnapshotName)
			}
		}
		noError(t, mem.SetBytes(format.SnapshotName, old))
		w.reopen(t, testConfig(mem, w))
		w.wantLen(t, 0)
		w.check(t, keys, false)
		w.close(t)
	})
}

// Row 4: with a snapshot that cannot be read, or is not there, the tier starts
// empty, and says why; it serves, and is warm the next time.
func TestFault04SnapshotUnreadable(t *testing.T) {
	t.Parallel()
	const keys = 300
	w, mem := started(t, 1, testConfig)
	w.steps(t, 3000, keys)
	w.close(t)
	size := func(m *vfstest.Mem) int64 {
		b := bytesIn(t, m, format.SnapshotName)
		return int64(len(b))
	}
	damage := map[string]func(m *vfstest.Mem) error{
		"both fronts": func(m *vfstest.Mem) error {
			return errors.Join(m.Flip(format.SnapshotName, 8*16), m.Flip(format.SnapshotName, 8*size(m)-3))
		},
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
			noError(t, do(clone))
			h := w.heirIn(t)
			cfg := testConfig(clone, h)
			told := tell(&cfg)
			h.reopen(t, cfg)
			h.wantLen(t, 0)
			h.check(t, keys, false)
			h.close(t)
			if why := told.about("reason"); len(why) != 1 {
				t.Errorf("the reasons that were logged: %q: want one", why)
			}
			h.there = map[string]uint64{}
			h.reopen(t, testConfig(clone, h))
			h.put(t, h.key(1))
			h.restart(t, testConfig(clone, h))
			h.wantAll(t)
			h.close(t)
		})
	}
}

// A snapshot brings back the entries, and what the log knew of its slots.
func TestSnapshotRoundTrip(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, mem := newWorld(t, 1), vfstest.NewMem()
		cfg := testConfig(mem, w)
		w.reopen(t, cfg)
		w.steps(t, 8000, 1000)
		w.kept() // there is nothing to be reclaimed while Close begins
		entries, slots := allEntries(w.tier.index), w.tier.log.SlotStates()
		w.close(t)
		w.reopenAtRest(t, cfg)
		if w.tier.source != fromSnapshot {
			t.Fatalf("the index is from %d", w.tier.source)
		}
		if got := allEntries(w.tier.index); len(got) == 0 || !slices.Equal(got, entries) {
			t.Errorf("%d entries, want %d, the same", len(got), len(entries))
		}
		if got := w.tier.log.SlotStates(); !slices.Equal(got, slots) {
			t.Errorf("the slots are %d, want %d", got, slots)
		}
		free := 0
		for i := range w.tier.log.SlotWords {
			if w.tier.log.SlotWords[i].Serial.Load() == 0 {
				free++
			}
		}
		if free == 0 || free != w.tier.log.FreeSlots() {
			t.Errorf("%d slots have nothing, %d are free", free, w.tier.log.FreeSlots())
		}
		checkAlive(t, w.tier)
		w.check(t, 1000, true)
		w.close(t)
	})
}

// snapshotTier is as much of a tier as saving and loading an index takes.
func snapshotTier(t *testing.T) *Tier {
	t.Helper()
	tier := &Tier{cfg: Config{FS: vfstest.NewMem(), Bytes: MinBytes, Memory: 1 << 20}}
	tier.super.LogID, tier.super.Segments = 99, 3
	m, _, err := files.NewMemory(format.MemoryShape{Slots: 3, Shards: 1, Stride: 8 << 10, SegmentShift: 16, UnitShift: 3, LocationBits: 20, Places: 64}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Release)
	tier.log = log.New(m, nil, 3, 99, nil, new(atomic.Int64))
	tier.registry = registry.New(m.Registry(), 1)
	tier.index = index.New(0, m, false)
	tier.memory.index, tier.memory.log, tier.memory.charge = tier.index, tier.log, func(int64) error { return nil }
	return tier
}

// The snapshot that is written has what the index and the log have, and it gives them
// back.
func TestSnapshotFile(t *testing.T) {
	tier := snapshotTier(t)
	x, s := tier.index, &tier.index.Shards[0]
	w := &tier.log.SlotWords[2]
	w.Serial.Store(7)
	w.Written.Store(2 * format.Weight(0))
	w.Until.Store(format.Forever)
	s.Put(s.NewEntry(0x123456789a, tier.log.Location(2, 64), 24, format.IsWhole))
	s.Put(s.NewEntry(0x0123456789, tier.log.Location(2, 88), 40, format.IsWhole) | format.ReadBit)
	id, tag := registry.IDOf(registry.Namespace, "n"), registry.IDOf(registry.Tag, "t")
	obsolete := tier.registry.AppendNote(nil, 0, []registry.ID{tag})
	for range 60 {
		tier.registry.Invalidate(tag)
	}
	first, holds := tier.registry.Clear(id), tier.registry.AppendNote(nil, tier.registry.Clock(), []registry.ID{tag})
	if x.Len() != 2 {
		t.Fatalf("%d entries", x.Len())
	}
	number, err := tier.saveSnapshot()
	if err != nil {
		t.Fatal(err)
	}
	b := bytesIn(t, tier.cfg.FS.(*vfstest.Mem), format.SnapshotName)
	got, err := format.ReadSnapshot(bytes.NewReader(b), int64(len(b)), &tier.super.Superblock)
	if err != nil || got.Number != number || !slices.Equal(got.Slots, tier.log.SlotStates()) || got.Entries() != 2 {
		t.Errorf("snapshot: %+v, %v", got, err)
	}

	again := snapshotTier(t)
	noError(t, again.cfg.FS.(*vfstest.Mem).SetBytes(format.SnapshotName, b))
	again.foundSegments = again.super.Segments
	wantErr(t, again.loadSnapshot(number), nil)
	if got := again.log.SlotStates(); !slices.Equal(got, tier.log.SlotStates()) {
		t.Errorf("snapshot: loaded %d of the slots, want %d", got, tier.log.SlotStates())
	}
	if r := again.registry; r.Generation(id) != first || r.Clock() != 61 || judged(r, obsolete) != registry.Obsolete || judged(r, holds) != registry.Holds {
		t.Errorf("snapshot: loaded the generation %d of a namespace, want %d, a clock of %d, or tags that are judged as %d and %d", r.Generation(id), first, r.Clock(), judged(r, obsolete), judged(r, holds))
	}
	if want, got := allEntries(x), allEntries(again.index); !slices.Equal(got, want) {
		t.Errorf("snapshot: loaded %x, want %x", got, want)
	}
}

// A snapshot of any bytes behind a header that is right is loaded or refused,
// and what is loaded is in order.
func FuzzSnapshot(f *testing.F) {
	w, mem := newWorld(f, 1), vfstest.NewMem()
	w.reopen(f, testConfig(mem, w))
	w.fill(f, 50)
	w.close(f)
	whole := bytesIn(f, mem, format.SnapshotName)
	f.Add(whole[format.SnapshotHeaderLen:])
	f.Fuzz(func(t *testing.T, b []byte) {
		clone := mem.CrashClone(nil, vfstest.Kill)
		file := append(bytes.Clone(whole[:format.SnapshotHeaderLen]), b...)
		h := w.heir()
		h.log = logOf(t)
		cfg := testConfig(clone, h)
		tier := mustOpen(t, cfg)
		h.tier = tier
		formattest.Snapshot(file, len(tier.log.Slots), len(tier.index.Shards))
		noError(t, clone.SetBytes(format.SnapshotName, file))
		noError(t, tier.Start(func(int64) error { return nil }))
		for i := range tier.index.Shards {
			if _, whole := tier.index.Shards[i].Survivors(nil, func(format.Location) bool { return true }); !whole {
				t.Errorf("shard %d is not whole", i)
			}
		}
		for i := range 50 { // never another key's, nor torn
			noError(t, h.get(h.key(i)))
		}
		h.close(t)
	})
}

func judged(t *registry.Table, note []byte) registry.Verdict {
	v, _ := t.Judge(note)
	return v
}
