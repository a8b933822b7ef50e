package check

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/firncache/firn/internal/ssd/files"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/ssd/format/formattest"
	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// verify returns what Verify finds.
func verify(t testing.TB, fs vfs.FS) (Verified, []Problem) {
	t.Helper()
	var problems []Problem
	v, err := Verify(context.Background(), fs, func(p Problem) { problems = append(problems, p) }, nil)
	if err != nil {
		t.Fatal(err)
	}
	return v, problems
}

func inspect(t testing.TB, fs vfs.FS) *Inspection {
	t.Helper()
	in, err := Inspect(context.Background(), fs, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := json.Marshal(in); err != nil {
		t.Error(err)
	}
	return in
}

// counted is how many ids, of one in 1<<shift, the lists have.
func counted(t *testing.T, fs vfs.FS, shift int) int64 {
	t.Helper()
	o := &offline{fs: fs, step: func(int64) {}, report: func(p Problem) { t.Error(p) }}
	if err := errors.Join(o.readSuperblock(), o.openLog()); err != nil {
		t.Fatal(err)
	}
	live, err := new(Inspection).segments(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	l := liveCounter{offline: o, mask: format.ID(1)<<shift - 1, seen: map[format.ID]bool{}}
	for _, e := range live {
		l.segment(e)
	}
	if err := o.close(); err != nil {
		t.Fatal(err)
	}
	return l.records
}

// What was closed is whole, and so is what was killed at any moment, as often as
// that happens: there are no false alarms.
func TestVerifyWhole(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for seed := range uint64(sized(1, 4)) {
			d, fs := newDriver(seed), vfstest.NewMem()
			d.open(t, fs)
			for life := range sized(5, 8) {
				d.steps(300+d.rng.IntN(4000), 1500)
				old, kill := d.tier, life%3 != 2
				clone := fs
				if kill {
					clone = fs.CrashClone(d.rng, vfstest.Kill)
				} else if err := old.Close(); err != nil {
					t.Fatal(err)
				}
				if _, problems := verify(t, clone); len(problems) > 0 {
					t.Fatalf("seed %d, life %d, killed %v: %v", seed, life, kill, problems)
				}
				if in := inspect(t, clone); len(in.Problems) > 0 {
					t.Fatalf("seed %d, life %d, killed %v: %v", seed, life, kill, in.Problems)
				}
				d.open(t, clone)
				if kill {
					if err := old.Close(); err != nil {
						t.Fatal(err)
					}
				}
				old.Free()
				fs = clone
			}
			d.close(t)
		}
	})
}

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
			if (in.Snapshot != nil && in.Snapshot.Believed) == kill {
				t.Errorf("killed %v: snapshot %+v", kill, in.Snapshot)
			}
			if in.Live.Sampled != 1 || in.Live.Records < records || counted(t, fs, 0) < records || in.Live.Bytes <= 0 || in.Live.Bytes > in.Live.LogBytes {
				t.Errorf("killed %v: live %+v, want %d records", kill, in.Live, records)
			}
			if !kill && (in.Live.Records != records || v.Entries != records) {
				t.Errorf("%d records, %d entries, want %d", in.Live.Records, v.Entries, records)
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

// Neither makes a file, nor changes one.
func TestVerifyOnlyReads(t *testing.T) {
	bubble(t, func(t *testing.T) {
		mem, _ := worn(t, 1, false)
		fs := vfstest.NewFaulty(mem)
		fs.Inject(vfstest.Rule{On: vfstest.OpChange &^ vfstest.OpLock, Err: errors.New("not read-only")})
		if _, problems := verify(t, fs); len(problems) > 0 {
			t.Error(problems)
		}
		inspect(t, fs)
		if left := fs.OpenFiles(); len(left) > 0 {
			t.Errorf("left open: %v", left)
		}
		empty := vfstest.NewMem()
		if _, err := Inspect(context.Background(), empty, nil); !errors.Is(err, ErrNoTier) {
			t.Error(err)
		}
		if _, err := Verify(context.Background(), empty, nil, nil); !errors.Is(err, ErrNoTier) {
			t.Error(err)
		}
		if names, err := empty.List(); err != nil || len(names) != 0 {
			t.Errorf("made %v, %v", names, err)
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

// edit changes bytes of a file.
func edit(t testing.TB, fs vfs.FS, name string, off int64, change func(b []byte), n int) {
	t.Helper()
	f, err := fs.Open(name, vfs.How{})
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, n)
	if _, err := f.ReadAt(b, off); err != nil {
		t.Fatal(err)
	}
	change(b)
	if _, err := f.WriteAt(b, off); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// namedBySnapshot are those of the segments that the snapshot names: the others have
// been reclaimed.
func namedBySnapshot(t testing.TB, fs vfs.FS, in *Inspection) (named []Segment) {
	t.Helper()
	o := &offline{fs: fs, step: func(int64) {}, report: func(p Problem) { t.Error(p) }}
	if err := o.readSuperblock(); err != nil {
		t.Fatal(err)
	}
	s, err := o.openSnapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.file.Close() }()
	for _, g := range in.Segments {
		if (s.Slots[g.Slot].Serial == g.Serial) != (g.State != "freed") {
			t.Errorf("slot %d: the snapshot has segment %d: %+v", g.Slot, s.Slots[g.Slot].Serial, g)
		}
		if s.Slots[g.Slot].Serial == g.Serial {
			named = append(named, g)
		}
	}
	if len(named) == 0 {
		t.Fatal("the snapshot names no segment")
	}
	return named
}

func flip(b []byte) { b[len(b)-1] ^= 0x10 }

// Every kind of damage is found, and the place named.
func TestVerifyDamage(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const segment = 64 << 10
		base, _ := worn(t, 5, false)
		in := inspect(t, base)
		named := namedBySnapshot(t, base, in)
		at := int64(named[len(named)/2].Slot) * segment
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
			{"snapshot header", format.SnapshotName, 0, func(fs *vfstest.Mem) { edit(t, fs, format.SnapshotName, 20, flip, 1) }, "the header or a checksum"},
			{"snapshot slots", format.SnapshotName, 0, func(fs *vfstest.Mem) { edit(t, fs, format.SnapshotName, format.SnapshotHeaderLen, flip, 1) }, "the header or a checksum"},
			{"snapshot directory", format.SnapshotName, 0, func(fs *vfstest.Mem) {
				edit(t, fs, format.SnapshotName, format.SnapshotHeaderLen+format.SlotWordsLen*in.Superblock.Segments, flip, 1)
			}, "the header or a checksum"},
			{"snapshot entry", format.SnapshotName, -1, func(fs *vfstest.Mem) { edit(t, fs, format.SnapshotName, in.Snapshot.Bytes-1, flip, 1) }, "the checksum is wrong"},
			{"snapshot short", format.SnapshotName, 0, func(fs *vfstest.Mem) { truncate(t, fs, format.SnapshotName, in.Snapshot.Bytes-8) }, "unexpected EOF"},
			{"older snapshot", format.SnapshotName, 16, func(fs *vfstest.Mem) {
				edit(t, fs, format.SnapshotName, 0, func(b []byte) {
					b[16] ^= 2
					formattest.SnapshotHeader(b)
				}, format.SnapshotHeaderLen)
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

// What has the right checksum and says something else than the log does.
func TestVerifySnapshotAgainstLog(t *testing.T) {
	bubble(t, func(t *testing.T) {
		base, _ := worn(t, 6, false)
		in := inspect(t, base)
		l := format.Layout{LocationBits: uint8(in.Superblock.LocationBits)}
		for _, test := range []struct {
			name   string
			change func(e format.Entry) format.Entry
			want   string
		}{
			{"place", func(e format.Entry) format.Entry { return e + 1<<format.LocationShift }, "where no record begins"},
			{"slot", func(e format.Entry) format.Entry { return e | format.Entry(1<<l.LocationBits-1)<<format.LocationShift }, "where there is no segment of it"},
			{"key", func(e format.Entry) format.Entry { return e ^ 1<<l.FingerprintShift() }, "names another key's record"},
			{"size", func(e format.Entry) format.Entry { return e &^ (1<<format.ClassBits - 1) }, "says that its record has at most 128 bytes"},
		} {
			fs := base.CrashClone(rand.New(rand.NewPCG(1, 1)), vfstest.Kill)
			edit(t, fs, format.SnapshotName, 0, func(b []byte) {
				slots := int(in.Superblock.Segments)
				dir, at := b[format.SnapshotHeaderLen+format.SlotWordsLen*slots:], format.SnapshotHeaderLen+format.SlotWordsLen*slots+8*in.Superblock.Shards
				for shard := range in.Superblock.Shards {
					n := int(binary.LittleEndian.Uint32(dir[8*shard:]))
					part := b[at : at+8*n]
					for i := 0; i < len(part); i += 8 {
						e := format.Entry(binary.LittleEndian.Uint64(part[i:]))
						if _, bounded := e.MaxBytes(); bounded && e&(1<<format.ClassBits-1) > 2 {
							binary.LittleEndian.PutUint64(part[i:], uint64(test.change(e)))
							break
						}
					}
					at += len(part)
				}
				formattest.Snapshot(b, slots, in.Superblock.Shards)
			}, int(in.Snapshot.Bytes))
			_, problems := verify(t, fs)
			if len(problems) == 0 || problems[0].File != format.SnapshotName || !strings.Contains(problems[0].What, test.want) {
				t.Errorf("%s: want %q, got %v", test.name, test.want, problems)
			}
		}
	})
}

// A flipped bit anywhere in what is data is found.
func TestVerifyEveryByte(t *testing.T) {
	bubble(t, func(t *testing.T) {
		base, _ := worn(t, 7, false)
		in := inspect(t, base)
		named := namedBySnapshot(t, base, in)
		rng := rand.New(rand.NewPCG(7, 7))
		for range sized(60, 300) {
			fs := base.CrashClone(rng, vfstest.Kill)
			name, off := "", int64(0)
			switch rng.IntN(3) {
			case 0:
				name, off = format.SuperblockName, rng.Int64N(2)*format.SuperblockBytes+rng.Int64N(format.SuperblockLen)
			case 1:
				name, off = format.SnapshotName, rng.Int64N(in.Snapshot.Bytes)
			case 2:
				g := named[rng.IntN(len(named))]
				name, off = format.LogName, int64(g.Slot)*in.Superblock.SegmentBytes+rng.Int64N(format.SegmentHeaderLen)
				if off%in.Superblock.SegmentBytes >= format.SegmentHeaderLen-4 || rng.IntN(2) == 0 {
					off = (int64(g.Slot)+1)*in.Superblock.SegmentBytes - 1 - rng.Int64N(format.TrailerLen)
				}
			}
			edit(t, fs, name, off, flip, 1)
			if _, problems := verify(t, fs); len(problems) == 0 {
				t.Errorf("%s, offset %d: nothing found", name, off)
			}
		}
	})
}

func truncate(t testing.TB, fs vfs.FS, name string, n int64) {
	t.Helper()
	f, err := fs.Open(name, vfs.How{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(n), f.Close()); err != nil {
		t.Fatal(err)
	}
}

func remove(t testing.TB, fs vfs.FS, name string) {
	t.Helper()
	if err := fs.Remove(name); err != nil {
		t.Fatal(err)
	}
}

// A context that has ended ends both.
func TestVerifyInterrupted(t *testing.T) {
	bubble(t, func(t *testing.T) {
		fs, _ := worn(t, 8, false)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := Verify(ctx, fs, func(Problem) {}, nil); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if _, err := Inspect(ctx, fs, nil); !errors.Is(err, context.Canceled) {
			t.Error(err)
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

// Whatever is in the files, nothing panics, and nothing is written.
func FuzzOffline(f *testing.F) {
	d, base := newDriver(10), vfstest.NewMem()
	d.open(f, base)
	d.steps(2000, 1200)
	d.close(f)
	names := []string{format.SuperblockName, format.LogName, format.SnapshotName}
	contents := map[string][]byte{}
	repair := map[string]func([]byte){
		format.SuperblockName: formattest.Superblock, format.SnapshotName: formattest.SnapshotHeader,
		format.LogName: func(b []byte) { formattest.Log(b, 64<<10) },
	}
	for _, name := range names {
		file, err := base.Open(name, vfs.How{ReadOnly: true})
		if err != nil {
			f.Fatal(err)
		}
		size, err := file.Size()
		if err != nil {
			f.Fatal(err)
		}
		contents[name] = make([]byte, size)
		if _, err := file.ReadAt(contents[name], 0); err != nil {
			f.Fatal(err)
		}
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
			file, err := fs.Open(name, vfs.How{Create: true})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := file.WriteAt(b, 0); err != nil {
				t.Fatal(err)
			}
			if err := file.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Verify(context.Background(), fs, func(Problem) {}, nil); err != nil {
			t.Error(err)
		}
		inspect(t, fs)
	})
}

// Progress is told now and then, with the share of what there is to read.
func TestVerifyProgress(t *testing.T) {
	var told []int64
	v := &verifier{progress: func(v Verified) { told = append(told, v.Bytes) }}
	for range 5 {
		v.read(progressBytes/2 + 1)
	}
	if want := []int64{progressBytes + 2, 2*progressBytes + 4}; len(told) != 2 || told[0] != want[0] || told[1] != want[1] {
		t.Errorf("told at %v bytes, want %v", told, want)
	}
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
			if err := mem.SetBytes(format.SuperblockName, slices.Concat(a, b)); err != nil {
				t.Fatal(err)
			}
			want, wantErr := format.ReadSuperblock(bytes.NewReader(slices.Concat(a, b)))
			o := &offline{fs: mem, step: func(int64) {}, report: func(Problem) {}}
			if err := o.readSuperblock(); (err == nil) != (wantErr == nil) || wantErr != nil && !errors.Is(err, errors.Unwrap(wantErr)) && !errors.Is(err, wantErr) || o.super != want {
				t.Errorf("places %d and %d: counter %d, %v; want %d, %v", i, j, o.super.Counter, err, want.Counter, wantErr)
			}
		}
	}
}
