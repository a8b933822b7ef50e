package check

import (
	"context"
	"encoding/binary"
	"errors"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/ssd/format/formattest"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

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
				} else {
					noError(t, old.Close(context.Background()))
				}
				if _, problems := verify(t, clone); len(problems) > 0 {
					t.Fatalf("seed %d, life %d, killed %v: %v", seed, life, kill, problems)
				}
				if in := inspect(t, clone); len(in.Problems) > 0 {
					t.Fatalf("seed %d, life %d, killed %v: %v", seed, life, kill, in.Problems)
				}
				d.open(t, clone)
				if kill {
					noError(t, old.Close(context.Background()))
				}
				old.Free()
				fs = clone
			}
			d.close(t)
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

// What has the right checksum and says something else than the log does.
func TestVerifySnapshotAgainstLog(t *testing.T) {
	bubble(t, func(t *testing.T) {
		base, _ := worn(t, 6, false)
		in := inspect(t, base)
		l := format.Layout{LocationBits: uint8(in.Superblock.LocationBits), UnitShift: uint8(bits.TrailingZeros(uint(in.Superblock.UnitBytes)))}
		for _, test := range []struct {
			name   string
			change func(e format.Entry) format.Entry
			want   string
		}{
			{"place", func(e format.Entry) format.Entry { return e + 1<<format.LocationShift }, "where no record begins"},
			{"slot", func(e format.Entry) format.Entry { return e | format.Entry(1<<l.LocationBits-1)<<format.LocationShift }, "where there is no segment of it"},
			{"key", func(e format.Entry) format.Entry { return e ^ 1<<l.FingerprintShift() }, "names another key's record"},
			{"size", func(e format.Entry) format.Entry { return e &^ (1<<format.ClassBits - 1) }, "says that its record has at most"},
		} {
			fs := base.CrashClone(rand.New(rand.NewPCG(1, 1)), vfstest.Kill)
			edit(t, fs, format.SnapshotName, 0, func(b []byte) {
				slots := int(in.Superblock.Segments)
				dir, at := b[format.SnapshotHeaderLen+format.SlotWordsLen*slots:], format.SnapshotHeaderLen+format.SlotWordsLen*slots+8*in.Superblock.Shards+format.ClockLen*(1+in.Snapshot.Places)
				for shard := range in.Superblock.Shards {
					n := int(binary.LittleEndian.Uint32(dir[8*shard:]))
					part := b[at : at+8*n]
					for i := 0; i < len(part); i += 8 {
						e := format.Entry(binary.LittleEndian.Uint64(part[i:]))
						if _, bounded := l.MaxBytes(e); bounded && e.Class() > 2 {
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
