package ssd

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/firncache/firn/internal/vfs/vfstest"

	"github.com/firncache/firn/internal/vfs"
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
	return append(b, make([]byte, superSlot-len(b))...)
}

// filesOf1 is a directory as version 1 left it.
func filesOf1(t *testing.T) *vfstest.Mem {
	t.Helper()
	mem := vfstest.NewMem()
	super := superblockOf1(t)
	for name, b := range map[string][]byte{
		superBlockOf: append(make([]byte, superSlot), super...),
		logName:      append([]byte(segmentMagic), make([]byte, 60*minSegment-len(segmentMagic))...),
		snapshotName: append([]byte(snapshotMagic), make([]byte, 1000)...),
		"journal":    bytes.Repeat([]byte{1}, 64<<10),
	} {
		if err := mem.SetBytes(name, b); err != nil {
			t.Fatal(err)
		}
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
		var lines bytes.Buffer
		cfg := testConfig(mem, w)
		cfg.Log = slog.New(slog.NewTextHandler(&lines, nil))
		w.reopen(t, cfg)
		if n := w.tier.Len(); n != 0 {
			t.Errorf("%d records of an earlier version", n)
		}
		if names, _ := mem.List(); !slices.Equal(names, []string{lockName, logName, superBlockOf}) {
			t.Errorf("the files are %v", names)
		}
		w.put(t, w.key(1))
		w.close(t)
		if !strings.Contains(lines.String(), "starts empty") || !strings.Contains(lines.String(), "earlier version") {
			t.Errorf("the log says %q", lines.String())
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
		tier, err := Open(smallConfig(fsys, w))
		if err != nil {
			t.Fatal(err)
		}
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

// A file by a name that only an earlier version used is the user's, unless the
// superblock is of that version.
func TestJournalOfTheUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	mem := vfstest.NewMem()
	if err := mem.SetBytes("journal", []byte("Dear diary")); err != nil {
		t.Fatal(err)
	}
	for _, recovery := range []Recovery{RecoverSafe, RecoverNever} {
		cfg := testConfig(mem, w)
		cfg.Recovery = recovery
		w.reopen(t, cfg)
		w.close(t)
		if b, err := mem.Bytes("journal"); string(b) != "Dear diary" {
			t.Errorf("the user's file is %q, %v", b, err)
		}
	}
}

// Version 1 took a superblock's 160 bytes for whole by the checksum at 12, and refused
// one of another version: it must not take those of later versions for damaged, and
// begin anew.
func TestSuperblockIsKnownToVersion1(t *testing.T) {
	t.Parallel()
	b := goldenSuper.encode()
	if got, want := binary.LittleEndian.Uint32(b[12:]), checksum(checksum(0, b[:12]), b[16:160]); got != want {
		t.Errorf("checksum %x, for version 1 it is %x", got, want)
	}
	if version := binary.LittleEndian.Uint32(b[8:]); version != 2 {
		t.Errorf("version %d", version)
	}
}

// Of two superblocks the newest is valid, whichever of the earlier versions wrote it;
// one of a later version is never passed over.
func TestChoiceOfSuperblock(t *testing.T) {
	t.Parallel()
	place := func(version uint32, counter uint64) []byte {
		s := goldenSuper
		s.counter = counter
		b := s.encode()
		binary.LittleEndian.PutUint32(b[8:], version)
		binary.LittleEndian.PutUint32(b[12:], superChecksum(b))
		return b
	}
	damaged := place(2, 9)
	damaged[20] ^= 1
	zeros := make([]byte, superSlot)
	for _, test := range []struct {
		name    string
		a, b    []byte
		counter uint64
		want    error
	}{
		{"two", place(2, 4), place(2, 5), 5, nil},
		{"one damaged", place(2, 4), damaged, 4, nil},
		{"one empty", zeros, place(2, 5), 5, nil},
		{"both damaged", damaged, zeros, 0, errCorrupt},
		{"earlier, and older", place(1, 4), place(2, 5), 5, nil},
		{"earlier, and newer", place(2, 4), place(1, 5), 5, errOlder},
		{"earlier, and damaged", damaged, place(1, 3), 3, errOlder},
		{"later, and older", place(3, 4), place(2, 5), 0, ErrFormat},
		{"later, and newer", place(2, 4), place(3, 5), 0, ErrFormat},
		{"later and earlier", place(1, 4), place(3, 5), 0, ErrFormat},
	} {
		for range 2 {
			mem := vfstest.NewMem()
			if err := mem.SetBytes(superBlockOf, slices.Concat(test.a, test.b)); err != nil {
				t.Fatal(err)
			}
			f, err := mem.Open(superBlockOf, vfs.How{ReadOnly: true})
			if err != nil {
				t.Fatal(err)
			}
			s, err := readSuperblock(f)
			o := &offline{fs: mem, step: func(int64) {}, report: func(Problem) {}}
			if err2 := o.readSuperblock(); !errors.Is(err, test.want) || !errors.Is(err2, test.want) || s.counter != test.counter || o.super != s {
				t.Errorf("%s: counter %d, %v; offline %d, %v; want %d, %v", test.name, s.counter, err, o.super.counter, err2, test.counter, test.want)
			}
			_ = f.Close()
			test.a, test.b = test.b, test.a
		}
	}
}
