package ssd

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/record"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/ssd/health"
	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// Row 6: one bit is wrong, in every kind of bytes of every file, whether the log
// was closed or not.
func TestFault06Flip(t *testing.T) {
	t.Parallel()
	const keys = 200
	for _, end := range []ending{killed, closing, reopened} {
		w, files := settled(t, 1, keys, end)
		names := []string{"superblock", format.LogName, format.SnapshotName}
		switch end {
		case killed: // the snapshot is of no use then
			names = names[:2]
		case reopened:
			names = names[:1]
		}
		for _, name := range names {
			inBubble(t, fmt.Sprintf("%s, %s", name, end), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(6, 6))
				kept, lost, seen := 0, 0, 0
				bits := bitsOf(t, files, name, rng)
				if !*long { // TestFault36Parsed flips every bit of each form
					rng.Shuffle(len(bits), func(i, j int) { bits[i], bits[j] = bits[j], bits[i] })
					usual := usualFlips[name]
					if invariants.Race {
						usual = max(usual/3, 2)
					}
					bits = bits[:min(len(bits), usual)]
				}
				for _, bit := range bits {
					clone := files.CrashClone(nil, vfstest.Kill)
					noError(t, clone.Flip(name, bit))
					h := w.heirIn(t)
					cfg := smallConfig(clone, h)
					if err := h.open(cfg); err != nil {
						t.Fatalf("bit %d of byte %d: %v", bit%8, bit/8, err)
					}
					if err := h.checkAll(keys); err != nil {
						t.Fatalf("bit %d of byte %d: %v", bit%8, bit/8, err)
					}
					if h.hits > 0 {
						kept++
					} else {
						lost++
					}
					seen += int(h.tier.Stats().Corrupt)
					h.steps(t, 50, keys)
					h.close(t)
				}
				t.Logf("%d bits: %d times there were hits, %d times none; %d faults counted", len(bits), kept, lost, seen)
				if kept == 0 {
					t.Fatal("want more")
				}
				if *long && name == format.LogName && seen == 0 { // a few bits may all be of what is dead; see TestFault06OneRecord
					t.Fatal("no fault was counted")
				}
			})
		}
	}
}

// bitsOf are numbers of bits of a file, some in each part that has a form of its
// own.
func bitsOf(t *testing.T, files *vfstest.Mem, name string, rng *rand.Rand) (bits []int64) {
	t.Helper()
	b := bytesIn(t, files, name)
	from := func(at, n int) { bits = append(bits, int64(at*8+rng.IntN(n*8))) }
	switch name {
	case "superblock":
		for at := 0; at < format.SuperblockLen; at += 4 {
			from(at, 4)
			from(format.SuperblockBytes+at, 4)
		}
	case format.SnapshotName:
		for range 30 {
			from(0, len(b))
		}
		from(0, format.SnapshotHeaderLen)
	case format.LogName:
		for at := 0; at+format.MinSegment <= len(b); at += format.MinSegment {
			from(at, format.SegmentHeaderLen)
			from(at+format.SegmentHeaderLen, 1000) // records
			from(at, format.MinSegment)
			from(at+format.MinSegment-format.TrailerLen-200, 200) // the list
			from(at+format.MinSegment-format.TrailerLen, format.TrailerLen)
		}
	}
	return bits
}

// usualFlips is how many bits of a file are flipped, each in files of its own,
// without -long.
var usualFlips = map[string]int{"superblock": 8, format.LogName: 24, format.SnapshotName: 4}

// Row 6: a damaged record is a miss and is counted; all others are intact, and
// it does not come back.
func TestFault06OneRecord(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"checksum", "flags", "lengths", "key", "value"} {
		inBubble(t, part, func(t *testing.T) {
			const keys = 100
			w, mem := started(t, 1, testConfig)
			w.fill(t, keys)
			w.restart(t, testConfig(mem, w))
			key := w.key(keys / 2)
			ref := w.spotOf(t, key)
			at := w.placeOf(&ref)
			at += map[string]int64{"checksum": 1, "flags": 4, "lengths": 5, "key": 9, "value": 30}[part]
			noError(t, mem.Flip(format.LogName, at*8+2))
			missing := 0
			for i := range keys {
				f, err := w.lookUp(w.key(i))
				if err != nil {
					missing++
					if i != keys/2 || !errors.Is(err, format.ErrCorrupt) {
						t.Fatalf("key %d: %v", i, err)
					}
				} else if _, err := seqOf(w.key(i), f.Value); err != nil {
					t.Fatal(err)
				}
			}
			if s := w.tier.Stats(); missing != 1 || s.Corrupt != 1 || !s.Online {
				t.Fatalf("%d missing, %+v", missing, s)
			}
			wantErr(t, errOf(w.lookUp(key)), ErrNotFound)
			w.close(t)
		})
	}
}

// A large record whose header is damaged is one damaged record, not a disk that
// fails: it leaves the index, and the tier stays on.
func TestDamagedHeaderOfALargeRecord(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const size = 3 << 20
		w, mem := newWorld(t, 1), vfstest.NewMem()
		cfg := testConfig(mem, w)
		cfg.Bytes, cfg.SegmentBytes, cfg.Memory = 64<<20, 4<<20, 64<<20
		w.reopen(t, cfg)
		w.most = 1
		for i := range 2 * segmentBuffers {
			w.put(t, w.key(i)) // the first segment begins with this one
			key := w.key(100 + i)
			hash := w.hasher.Hash(key)
			for !w.tier.Demote(hash, key, w.bytesOf(key, w.seq, size), 0, true, record.SameCopy) {
				w.tier.AwaitRoom()
			}
			w.acked[string(key)] = w.seq
		}
		w.written()
		key := w.key(100)
		hash := w.hasher.Hash(key)
		ref, ok := w.tier.locate(hash, false)
		if _, bounded := w.tier.index.MaxBytes(ref.entry); !ok || bounded {
			t.Fatalf("found: %v; in a bounded class: %v", ok, bounded)
		}
		if w.tier.log.Pin(ref.slot, ref.lsn>>w.tier.log.SegmentShift) != nil {
			t.Fatal("the segment is still in memory")
		}
		f, err := mem.Open(format.LogName, vfs.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt([]byte{0xff}, w.tier.log.FileOffset(ref.slot, ref.off)+4); err != nil { // the flags
			t.Fatal(err)
		}
		_ = f.Close()
		if _, err := w.tier.Get(background, nil, key, hash); err != format.ErrCorrupt {
			t.Fatalf("Get: %v", err)
		}
		for range 2 * health.MaxRow {
			if _, err := w.tier.Get(background, nil, key, hash); err != ErrNotFound {
				t.Fatalf("Get: %v", err)
			}
		}
		if s := w.tier.Stats(); !s.Online || s.Corrupt != 1 || s.ReadErrors != 0 {
			t.Errorf("on: %v, %d records damaged, %d read errors", s.Online, s.Corrupt, s.ReadErrors)
		}
		wantErr(t, w.getKey(101), nil)
		w.close(t)
	})
}

// Row 6: a record is read wrong once. It is a miss from then on, also when the
// process died since.
func TestFault06ReadWrongOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, mem, f := startedFaulty(t, 1, testConfig)
		key := w.key(1)
		w.put(t, key)
		w.restart(t, testConfig(f, w))
		w.readWrong(t, f, key)
		h := w.killed(t, mem, testConfig)
		h.wantLen(t, 0)
		h.close(t)
		w.close(t)
	})
}

// readWrong reads a key's record with a bit flipped on the way.
func (w *world) readWrong(t *testing.T, f *vfstest.Faulty, key []byte) {
	t.Helper()
	ref := w.spotOf(t, key)
	at := w.placeOf(&ref) + 30
	wrong := f.Inject(vfstest.Rule{On: vfstest.OpRead, Name: format.LogName, From: at, To: at + 1, Mangle: func(op vfstest.Op, p []byte) {
		p[at-op.Off] ^= 1
	}})
	defer wrong.Remove()
	wantErr(t, errOf(w.lookUp(key)), format.ErrCorrupt)
}
