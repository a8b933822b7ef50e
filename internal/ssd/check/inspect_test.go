package check

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/firncache/firn/internal/ssd/files"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

func TestInspect(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for _, kill := range []bool{false, true} {
			fs, records := worn(t, 3, kill)
			in := inspect(t, fs)
			v, problems := verify(t, fs)
			if len(problems)+len(in.Problems) > 0 {
				t.Fatal(problems, in.Problems)
			}
			s := in.Superblock
			if s.State != "valid" || s.Clean == kill || s.Boot != "boot" || s.SegmentBytes != 64<<10 || s.Segments != in.Slots || s.Segments < 20 {
				t.Errorf("killed %v: %+v", kill, s)
			}
			if in.Snapshot != nil && in.Snapshot.Places != 1 {
				t.Errorf("killed %v: %d places, want 1", kill, in.Snapshot.Places)
			}
			if (in.Snapshot != nil && in.Snapshot.Believed) == kill {
				t.Errorf("killed %v: snapshot %+v", kill, in.Snapshot)
			}
			if in.Live.Sampled != 1 || in.Live.Records != records || counted(t, fs, 0) < records || in.Live.Bytes <= 0 || in.Live.Bytes > in.Live.LogBytes {
				t.Errorf("killed %v: live %+v, want %d records", kill, in.Live, records)
			}
			if !kill && v.Entries != records {
				t.Errorf("%d entries, want %d", v.Entries, records)
			}
			if in.Memory != kill {
				t.Errorf("killed %v: the index is in memory: %v", kill, in.Memory)
			}
			alive, listed, last := int64(0), 0, uint64(0)
			for _, g := range in.Segments {
				if g.Serial <= last || g.Fill < 0 || g.Fill > 1 {
					t.Errorf("%+v after %d", g, last)
				}
				last = g.Serial
				alive++
				listed += g.Records
			}
			if alive != v.Segments || int64(listed) != v.Records || alive < 8 {
				t.Errorf("killed %v: %d segments with %d records, verified: %+v", kill, alive, listed, v)
			}
			if kill {
				fs.SetMemory(false)
				if all := inspect(t, fs).Live; all.Records <= records || all.Bytes <= in.Live.Bytes {
					t.Errorf("without the index %+v, with it %+v", all, in.Live)
				}
				fs.SetMemory(true)
			}
			want := "empty: it was not closed before the machine went down"
			if !kill {
				want = "warm, from the snapshot"
			}
			if in.Outlook != want && files.BootID() != "" {
				t.Errorf("killed %v: %s", kill, in.Outlook)
			}
			in.Boot = "boot"
			if got := in.outlook(); kill && got != "warm: it was not closed, and its index outlived the process" {
				t.Errorf("killed %v, the same boot: %s", kill, got)
			}
		}
	})
}

func TestInUse(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d, fs := newDriver(1), vfstest.NewMem()
		d.open(t, fs)
		if in := inspect(t, fs); in.Lock != "in use" || !strings.Contains(in.Outlook, "locked") {
			t.Errorf("%s, %s", in.Lock, in.Outlook)
		}
		if _, err := Verify(context.Background(), fs, nil, nil); !errors.Is(err, vfs.ErrLocked) {
			t.Error(err)
		}
		d.close(t)
		for range 2 { // the lock is given back
			if in := inspect(t, fs); in.Lock != "free" {
				t.Error(in.Lock)
			}
			verify(t, fs)
		}
	})
}

// An estimate from a part of the ids is near.
func TestLiveSample(t *testing.T) {
	bubble(t, func(t *testing.T) {
		fs, _ := worn(t, 9, true)
		if all, some := counted(t, fs, 0), counted(t, fs, 2); some*4 < all*3/4 || some*4 > all*5/4 {
			t.Errorf("a quarter of the ids has %d records, all have %d", some, all)
		}
	})
}

// Of the two superblocks, Inspect and Verify take the one that the tier takes.
func TestSuperblockOfTheTier(t *testing.T) {
	t.Parallel()
	place := func(version uint32, counter uint64) []byte {
		s := format.Superblock{Counter: counter, SegmentBytes: format.MinSegment, Segments: 4, UnitShift: format.MinUnitShift, LocationBits: 20}
		b := s.Encode()
		binary.LittleEndian.PutUint32(b[8:], version)
		format.SealSuperblock(b)
		return b
	}
	damaged := place(format.Version, 9)
	damaged[20] ^= 1
	places := [][]byte{place(format.Version, 4), place(format.Version, 5), place(1, 3), place(1, 6), place(format.Version+1, 7), damaged, make([]byte, format.SuperblockBytes)}
	for i, a := range places {
		for j, b := range places {
			mem := vfstest.NewMem()
			noError(t, mem.SetBytes(format.SuperblockName, slices.Concat(a, b)))
			want, wantErr := format.ReadSuperblock(bytes.NewReader(slices.Concat(a, b)))
			o := &offline{fs: mem, step: func(int64) {}, report: func(Problem) {}}
			if err := o.readSuperblock(); (err == nil) != (wantErr == nil) || wantErr != nil && !errors.Is(err, errors.Unwrap(wantErr)) && !errors.Is(err, wantErr) || o.super != want {
				t.Errorf("places %d and %d: counter %d, %v; want %d, %v", i, j, o.super.Counter, err, want.Counter, wantErr)
			}
		}
	}
}
