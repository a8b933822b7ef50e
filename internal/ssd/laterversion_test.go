package ssd

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/ssd/format/formattest"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// Row 20: files of a later version are refused, or, if that is asked for, begun
// anew; they are never read.
func TestFault20LaterVersion(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for _, version := range []uint32{format.Version + 1, math.MaxUint32} {
			for slot := range 2 { // in which of the two places it stands
				w := newWorld(t, 1)
				mem := vfstest.NewMem()
				w.reopen(t, testConfig(mem, w))
				w.put(t, w.key(1))
				w.close(t)
				b, _ := mem.Bytes("superblock")
				other := b[slot*format.SuperblockBytes : (slot+1)*format.SuperblockBytes]
				binary.LittleEndian.PutUint32(other[8:], version)
				format.SealSuperblock(other)
				if err := mem.SetBytes("superblock", b); err != nil {
					t.Fatal(err)
				}
				before := mem.Dump()
				if err := w.open(testConfig(mem, w)); !errors.Is(err, ErrFormat) {
					t.Fatalf("version %d: Open: %v, want ErrFormat", version, err)
				}
				for name, now := range mem.Dump() {
					if !bytes.Equal(before[name], now) {
						t.Fatalf("version %d: %s was changed", version, name)
					}
				}
				cfg := testConfig(mem, w)
				cfg.Recovery = RecoverNever
				w.reopen(t, cfg)
				if n := w.tier.Len(); n != 0 {
					t.Fatalf("%d records of another version", n)
				}
				w.put(t, w.key(2))
				w.close(t)
				w.reopen(t, testConfig(mem, w)) // it is ours now
				w.check(t, 10, true)
				w.close(t)
			}
		}
	})
}

// A snapshot of any bytes behind a header that is right is loaded or refused,
// and what is loaded is in order.
func FuzzSnapshot(f *testing.F) {
	w := newWorld(f, 1)
	mem := vfstest.NewMem()
	if err := w.open(testConfig(mem, w)); err != nil {
		f.Fatal(err)
	}
	for i := range 50 {
		w.put(f, w.key(i))
	}
	w.close(f)
	whole, err := mem.Bytes(format.SnapshotName)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole[format.SnapshotHeaderLen:])
	f.Fuzz(func(t *testing.T, b []byte) {
		clone := mem.CrashClone(nil, vfstest.Kill)
		file := append(bytes.Clone(whole[:format.SnapshotHeaderLen]), b...)
		h := w.heir()
		h.log = logOf(t)
		cfg := testConfig(clone, h)
		tier, err := Open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		h.tier = tier
		formattest.Snapshot(file, len(tier.log.slots), len(tier.index.shards))
		if err := clone.SetBytes(format.SnapshotName, file); err != nil {
			t.Fatal(err)
		}
		if err := tier.Start(func(int64) error { return nil }); err != nil {
			t.Fatal(err)
		}
		for i := range tier.index.shards {
			tier.index.shards[i].check(t)
		}
		for i := range 50 { // never another key's, nor torn
			if err := h.get(h.key(i)); err != nil {
				t.Fatal(err)
			}
		}
		h.close(t)
	})
}
