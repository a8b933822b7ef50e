package ssd

import (
	"bytes"
	"reflect"
	"slices"
	"testing"

	"github.com/firncache/firn/internal/ssd/files"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// snapshotTier is as much of a tier as saving and loading an index takes.
func snapshotTier(t *testing.T) *Tier {
	t.Helper()
	tier := &Tier{cfg: Config{FS: vfstest.NewMem(), Bytes: MinBytes, Memory: 1 << 20}}
	tier.super.LogID, tier.super.Segments = 99, 3
	m, _, err := files.NewMemory(format.MemoryShape{Slots: 3, Shards: 1, Stride: 8 << 10, SegmentShift: 16, UnitShift: 3, LocationBits: 20}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Release)
	tier.log = newLog(m, nil, nil, 0)
	tier.index = newIndex(0, m, false)
	tier.memory.index, tier.memory.log, tier.memory.charge = tier.index, tier.log, func(int64) error { return nil }
	return tier
}

// The snapshot that is written has what the index and the log have, and it gives them
// back.
func TestSnapshotFile(t *testing.T) {
	tier := snapshotTier(t)
	x, s := tier.index, &tier.index.shards[0]
	w := &tier.log.slotWords[2]
	w.Serial.Store(7)
	w.Written.Store(format.WeightOf(24) + format.WeightOf(40))
	w.Until.Store(format.Forever)
	s.put(s.NewEntry(0x123456789a, tier.log.Location(2, 64), 24, format.IsWhole))
	s.put(s.NewEntry(0x0123456789, tier.log.Location(2, 88), 40, format.IsWhole) | format.ReadBit)
	if x.len() != 2 {
		t.Fatalf("%d entries", x.len())
	}
	number, err := tier.saveSnapshot()
	if err != nil {
		t.Fatal(err)
	}
	b := contentsOf(t, tier.cfg.FS, format.SnapshotName)
	got, err := format.ReadSnapshot(bytes.NewReader(b), int64(len(b)), &tier.super.Superblock)
	if err != nil || got.Number != number || !slices.Equal(got.Slots, tier.log.slotStates()) || got.Entries() != 2 {
		t.Errorf("snapshot: %+v, %v", got, err)
	}

	again := snapshotTier(t)
	f, err := again.cfg.FS.Open(format.SnapshotName, vfs.How{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(b, 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := again.loadSnapshot(number); err != nil {
		t.Errorf("snapshot: %v", err)
	}
	entries := func(x *index) (got []format.Entry) {
		x.each(func(_ format.ID, e format.Entry) format.Entry { got = append(got, e); return e })
		return got
	}
	if got := again.log.slotStates(); !slices.Equal(got, tier.log.slotStates()) {
		t.Errorf("snapshot: loaded %d of the slots, want %d", got, tier.log.slotStates())
	}
	if want, got := entries(x), entries(again.index); !reflect.DeepEqual(got, want) {
		t.Errorf("snapshot: loaded %x, want %x", got, want)
	}
}

func contentsOf(t *testing.T, fs vfs.FS, name string) []byte {
	t.Helper()
	f, err := fs.Open(name, vfs.How{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n, err := f.Size()
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, n)
	if _, err := f.ReadAt(b, 0); err != nil {
		t.Fatal(err)
	}
	return b
}
