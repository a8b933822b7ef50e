package ssd

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// superblock1 is a superblock of version 1, with the counter 3, a log of 60 segments
// of 64 KiB and a journal of as many bytes.
const superblock1 = `
6669726e73757031 01000000a64a588c 0300000000000000 8877665544332211
efcdab8967452301 0000010000000000 3c00000000000000 0000010000000000
0500000000000000 0900000000000000 0068e5cf8b010000 3700000000000000
0302012430313233 343536372d383961 622d636465662d30 3132332d34353637
3839616263646566 0000000014000000 8813000000000000 0000000000000000`

func superblockOf1(t *testing.T) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(superblock1), ""))
	if err != nil {
		t.Fatal(err)
	}
	return append(b, make([]byte, format.SuperblockBytes-len(b))...)
}

// filesOf1 is a directory as version 1 left it.
func filesOf1(t *testing.T) *vfstest.Mem {
	t.Helper()
	mem := vfstest.NewMem()
	super := superblockOf1(t)
	for name, b := range map[string][]byte{
		format.SuperblockName: append(make([]byte, format.SuperblockBytes), super...),
		format.LogName:        append([]byte(format.SegmentMagic), make([]byte, 60*format.MinSegment-len(format.SegmentMagic))...),
		format.SnapshotName:   append([]byte(format.SnapshotMagic), make([]byte, 1000)...),
		"journal":             bytes.Repeat([]byte{1}, 64<<10),
	} {
		noError(t, mem.SetBytes(name, b))
	}
	return mem
}

// Row 20: the files of an earlier version are begun anew. The log says so, and what
// only that version had is gone.
func TestFault20EarlierVersion(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		mem := filesOf1(t)
		if in := inspect(t, mem); in.Outlook != "empty: an earlier version of the format" || in.Superblocks[1].State != "earlier version" {
			t.Errorf("inspected: %s, %+v", in.Outlook, in.Superblocks)
		}
		cfg := testConfig(mem, w)
		told := tell(&cfg)
		w.reopen(t, cfg)
		w.wantLen(t, 0)
		if names, _ := mem.List(); !slices.Equal(names, []string{format.LockName, format.LogName, format.SuperblockName}) {
			t.Errorf("the files are %v", names)
		}
		w.put(t, w.key(1))
		w.close(t)
		if lines := told.about("starts empty"); len(lines) != 1 || !strings.Contains(lines[0], "earlier version") {
			t.Errorf("the log says %q", lines)
		}
		w.reopen(t, testConfig(mem, w))
		w.check(t, 2, true)
		w.close(t)
	})
}

// What the process was doing when it died with files of an earlier version, the next
// one does to its end.
func TestCrashInFirstOpenOfEarlierVersion(t *testing.T) {
	t.Parallel()
	mem := filesOf1(t)
	vfstest.EachBoundary(mem, func(fsys vfs.FS) {
		w := newWorld(t, 1)
		tier := mustOpen(t, smallConfig(fsys, w))
		tier.abandon()
	}, func(b vfstest.Boundary) {
		h := newWorld(t, 1)
		files := b.Crash(h.rng, vfstest.Kill)
		h.reopen(t, smallConfig(files, h))
		h.put(t, h.key(1))
		h.close(t)
		if names, _ := files.List(); slices.Contains(names, "journal") {
			t.Errorf("%v: the files are %v", b, names)
		}
	})
}

// Row 20: files of a later version are refused, or, if that is asked for, begun
// anew; they are never read.
func TestFault20LaterVersion(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for _, version := range []uint32{format.Version + 1, math.MaxUint32} {
			for slot := range 2 { // in which of the two places it stands
				w, mem := started(t, 1, testConfig)
				w.put(t, w.key(1))
				w.close(t)
				b, _ := mem.Bytes("superblock")
				other := b[slot*format.SuperblockBytes : (slot+1)*format.SuperblockBytes]
				binary.LittleEndian.PutUint32(other[8:], version)
				format.SealSuperblock(other)
				noError(t, mem.SetBytes("superblock", b))
				before := mem.Dump()
				wantErr(t, w.open(testConfig(mem, w)), ErrFormat)
				for name, now := range mem.Dump() {
					if !bytes.Equal(before[name], now) {
						t.Fatalf("version %d: %s was changed", version, name)
					}
				}
				cfg := testConfig(mem, w)
				cfg.Recovery = RecoverNever
				w.reopen(t, cfg)
				w.wantLen(t, 0)
				w.put(t, w.key(2))
				w.restart(t, testConfig(mem, w)) // it is ours now
				w.check(t, 10, true)
				w.close(t)
			}
		}
	})
}
