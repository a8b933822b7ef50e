package check

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/ssd/format/formattest"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// Every kind of damage is found, and the place named.
func TestVerifyDamage(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const segment = 64 << 10
		base, _ := worn(t, 5, false)
		in := inspect(t, base)
		named := namedBySnapshot(t, base, in)
		at := int64(named[len(named)/2].Slot) * segment
		registryAt := format.SnapshotHeaderLen + format.SlotWordsLen*in.Superblock.Segments + 8*int64(in.Superblock.Shards)
		for _, test := range []struct {
			name, file string
			off        int64
			damage     func(fs *vfstest.Mem)
			want       string
		}{
			{"superblock", format.SuperblockName, format.SuperblockBytes, func(fs *vfstest.Mem) { edit(t, fs, format.SuperblockName, format.SuperblockBytes+40, flip, 1) }, "the checksum or a value is wrong"},
			{"superblock zero", format.SuperblockName, 0, func(fs *vfstest.Mem) {
				edit(t, fs, format.SuperblockName, 0, func(b []byte) { clear(b) }, format.SuperblockBytes)
			}, "is empty"},
			{"superblock short", format.SuperblockName, format.SuperblockBytes, func(fs *vfstest.Mem) { truncate(t, fs, format.SuperblockName, format.SuperblockBytes) }, "is missing"},
			{"both superblocks", format.SuperblockName, 0, func(fs *vfstest.Mem) {
				edit(t, fs, format.SuperblockName, 20, flip, 1)
				edit(t, fs, format.SuperblockName, format.SuperblockBytes+20, flip, 1)
			}, "the checksum or a value is wrong"},
			{"version", format.SuperblockName, 0, func(fs *vfstest.Mem) {
				edit(t, fs, format.SuperblockName, 0, func(b []byte) {
					b[8] = 99
					format.SealSuperblock(b)
				}, format.SuperblockBytes)
			}, "version 99"},
			{"log gone", format.LogName, 0, func(fs *vfstest.Mem) { remove(t, fs, format.LogName) }, "cannot be opened"},
			{"log short", format.LogName, at + 100, func(fs *vfstest.Mem) { truncate(t, fs, format.LogName, at+100) }, "ends here"},
			{"header", format.LogName, at, func(fs *vfstest.Mem) { edit(t, fs, format.LogName, at+30, flip, 1) }, "the header is wrong"},
			{"record", format.LogName, at + format.SegmentHeaderLen, func(fs *vfstest.Mem) { edit(t, fs, format.LogName, at+format.SegmentHeaderLen+9, flip, 1) }, "record 1 of"},
			{"list", format.LogName, -1, func(fs *vfstest.Mem) { edit(t, fs, format.LogName, at+segment-format.TrailerLen-3, flip, 1) }, "the list of its records"},
			{"trailer", format.LogName, at + segment - format.TrailerLen, func(fs *vfstest.Mem) { edit(t, fs, format.LogName, at+segment-20, flip, 1) }, "the trailer, or its checksum"},
			{"whole segment", format.SnapshotName, -1, func(fs *vfstest.Mem) { edit(t, fs, format.LogName, at, func(b []byte) { clear(b) }, segment) }, "which is not in slot"},
			{"version 1", format.SuperblockName, 0, func(fs *vfstest.Mem) {
				for slot := range int64(2) {
					edit(t, fs, format.SuperblockName, slot*format.SuperblockBytes, func(b []byte) {
						b[8] = 1
						format.SealSuperblock(b)
					}, format.SuperblockBytes)
				}
			}, "an earlier version"},
			{"snapshot gone", format.SnapshotName, 0, func(fs *vfstest.Mem) { remove(t, fs, format.SnapshotName) }, "the superblock names one"},
			{"snapshot header", format.SnapshotName, 0, func(fs *vfstest.Mem) { edit(t, fs, format.SnapshotName, 20, flip, 1) }, "one of the two fronts"},
			{"snapshot slots", format.SnapshotName, 0, func(fs *vfstest.Mem) { edit(t, fs, format.SnapshotName, format.SnapshotHeaderLen, flip, 1) }, "one of the two fronts"},
			{"snapshot directory", format.SnapshotName, in.Snapshot.Bytes - registryAt, func(fs *vfstest.Mem) { edit(t, fs, format.SnapshotName, in.Snapshot.Bytes-1, flip, 1) }, "one of the two fronts"},
			{"snapshot fronts", format.SnapshotName, 0, func(fs *vfstest.Mem) {
				edit(t, fs, format.SnapshotName, 20, flip, 1)
				edit(t, fs, format.SnapshotName, in.Snapshot.Bytes-1, flip, 1)
			}, "the header or a checksum"},
			{"snapshot registry", format.SnapshotName, registryAt, func(fs *vfstest.Mem) { edit(t, fs, format.SnapshotName, registryAt+3, flip, 1) }, "the registry"},
			{"snapshot entry", format.SnapshotName, -1, func(fs *vfstest.Mem) { edit(t, fs, format.SnapshotName, in.Snapshot.Bytes-registryAt-1, flip, 1) }, "the checksum is wrong"},
			{"snapshot short", format.SnapshotName, 0, func(fs *vfstest.Mem) { truncate(t, fs, format.SnapshotName, in.Snapshot.Bytes-8) }, "unexpected EOF"},
			{"older snapshot", format.SnapshotName, 16, func(fs *vfstest.Mem) {
				edit(t, fs, format.SnapshotName, 0, func(b []byte) {
					b[16] ^= 2
					formattest.Snapshot(b, int(in.Superblock.Segments), in.Superblock.Shards)
				}, int(in.Snapshot.Bytes))
			}, "not the one that the superblock names"},
		} {
			fs := base.CrashClone(rand.New(rand.NewPCG(1, 1)), vfstest.Kill)
			test.damage(fs)
			v, problems := verify(t, fs)
			found := false
			for _, p := range problems {
				found = found || p.File == test.file && (test.off < 0 || p.Offset == test.off) && strings.Contains(p.What, test.want)
			}
			if !found || v.Problems != int64(len(problems)) {
				t.Errorf("%s: want %q in %s at %d, got %v", test.name, test.want, test.file, test.off, problems)
			}
			inspect(t, fs)
		}
	})
}

// Whatever is in the files, nothing panics, and nothing is written.
func FuzzOffline(f *testing.F) {
	d, base := newDriver(10), vfstest.NewMem()
	d.open(f, base)
	d.steps(2000, 1200)
	d.close(f)
	in := inspect(f, base)
	slots, shards := int(in.Superblock.Segments), in.Superblock.Shards
	names := []string{format.SuperblockName, format.LogName, format.SnapshotName}
	contents := map[string][]byte{}
	repair := map[string]func([]byte){
		format.SuperblockName: formattest.Superblock, format.SnapshotName: func(b []byte) { formattest.Snapshot(b, slots, shards) },
		format.LogName: func(b []byte) { formattest.Log(b, 64<<10) },
	}
	for _, name := range names {
		b, err := base.Bytes(name)
		noError(f, err)
		contents[name] = b
	}
	f.Add([]byte{})
	f.Add([]byte{0, 0, 0, 0, 96, 17})
	f.Add([]byte{0x83, 0, 0, 0, 64, 255, 2, 0, 1, 0, 3, 9})
	f.Add([]byte{0x80, 0, 0, 0, 97, 40, 0x81, 0, 0, 16, 98, 7})
	f.Fuzz(func(t *testing.T, edits []byte) {
		files := map[string][]byte{}
		for name, b := range contents {
			files[name] = bytes.Clone(b)
		}
		// Six bytes each: which file, whether its checksums are put right, where, what.
		for ; len(edits) >= 6; edits = edits[6:] {
			name := names[edits[0]&0x3f%3]
			b := files[name]
			off := int(binary.BigEndian.Uint32(edits[1:])) % (len(b) + 1)
			if edits[0]&0x40 != 0 {
				files[name] = b[:off]
				continue
			}
			if off < len(b) {
				b[off] ^= edits[5]
			}
			if edits[0]&0x80 != 0 {
				repair[name](b)
			}
		}
		fs := vfstest.NewMem()
		for name, b := range files {
			noError(t, fs.SetBytes(name, b))
		}
		if _, err := Verify(context.Background(), fs, func(Problem) {}, nil); err != nil {
			t.Error(err)
		}
		inspect(t, fs)
	})
}
