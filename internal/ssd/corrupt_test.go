package ssd

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/firncache/firn/internal/vfs"
)

// settled is a world that has been driven for a while, and whose process died
// with everything written, or closed it.
func settled(t *testing.T, seed uint64, keys int, closed bool) (w *world, files *vfs.Mem) {
	w = newWorld(t, seed)
	mem := vfs.NewMem()
	w.reopen(t, smallConfig(mem, w))
	w.steps(t, 1500, keys)
	w.close(t)
	w.reopen(t, smallConfig(mem, w))
	w.steps(t, 1500, keys)
	w.nearlyFull(t, keys)
	w.steps(t, 300, keys) // the journal turns, and is folded
	w.written()
	files = mem.CrashClone(nil, vfs.Kill)
	w.close(t)
	if closed {
		files = mem.CrashClone(nil, vfs.Kill)
	}
	return w, files
}

// folded reports whether the journal has turned and been folded.
func (w *world) folded() bool {
	w.tier.journal.mu.Lock()
	defer w.tier.journal.mu.Unlock()
	return w.tier.journal.generation > 0 && w.tier.journal.folded
}

// bitsOf are numbers of bits of a file, some in each part that has a form of its
// own.
func bitsOf(t *testing.T, files *vfs.Mem, name string, rng *rand.Rand) (bits []int64) {
	t.Helper()
	b, err := files.Bytes(name)
	if err != nil {
		t.Fatal(err)
	}
	from := func(at, n int) { bits = append(bits, int64(at*8+rng.IntN(n*8))) }
	switch name {
	case "superblock":
		for at := 0; at < superLen; at += 4 {
			from(at, 4)
			from(superSlot+at, 4)
		}
	case journalName:
		for at := 0; at < len(b); at += noteLen {
			if binary.LittleEndian.Uint64(b[at:]) != 0 && rng.IntN(30) == 0 {
				from(at, noteLen)
			}
		}
		from(0, noteLen)
	case snapshotName:
		for range 30 {
			from(0, len(b))
		}
		from(0, snapshotHeaderLen)
	case logName:
		for at := 0; at+minSegment <= len(b); at += minSegment {
			from(at, segmentHeaderLen)
			from(at+segmentHeaderLen, 1000) // records
			from(at, minSegment)
			from(at+minSegment-trailerLen-200, 200) // the list
			from(at+minSegment-trailerLen, trailerLen)
		}
	}
	return bits
}

// Row 6: one bit is wrong, in every kind of bytes of every file, whether the log
// was closed or not.
func TestFault06Flip(t *testing.T) {
	const keys = 200
	for _, closed := range []bool{false, true} {
		w, files := settled(t, 1, keys, closed)
		names := []string{"superblock", journalName, logName}
		if closed {
			names = append(names, snapshotName)
		}
		for _, name := range names {
			t.Run(fmt.Sprintf("%s, closed %v", name, closed), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(6, 6))
				kept, lost, seen := 0, 0, 0
				bits := bitsOf(t, files, name, rng)
				for _, bit := range bits {
					clone := files.CrashClone(nil, vfs.Kill)
					if err := clone.Flip(name, bit); err != nil {
						t.Fatal(err)
					}
					h := w.heir()
					cfg := smallConfig(clone, h)
					if err := h.open(cfg); err != nil {
						t.Fatalf("bit %d of byte %d: %v", bit%8, bit/8, err)
					}
					h.recovered()
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
				if len(bits) < 20 || name != journalName && kept == 0 {
					t.Fatal("want more")
				}
				if name == logName && seen == 0 {
					t.Fatal("no fault was counted")
				}
			})
		}
	}
}

// Row 6: a damaged record is a miss and is counted; all others are intact, and
// it does not come back.
func TestFault06OneRecord(t *testing.T) {
	for _, part := range []string{"checksum", "flags", "lengths", "key", "value"} {
		t.Run(part, func(t *testing.T) {
			const keys = 100
			w := newWorld(t, 1)
			mem := vfs.NewMem()
			w.reopen(t, testConfig(mem, w))
			for i := range keys {
				if err := w.set(w.key(i), 0); err != nil || !w.demote(w.key(i)) {
					t.Fatal(err)
				}
			}
			w.close(t)
			w.reopen(t, testConfig(mem, w))
			key := w.key(keys / 2)
			sp, ok := w.tier.look(w.hasher.Hash(key), false)
			if !ok {
				t.Fatal("not there")
			}
			at := int64(sp.slot)<<w.tier.log.segShift + int64(sp.off)
			at += map[string]int64{"checksum": 1, "flags": 4, "lengths": 5, "key": 9, "value": 30}[part]
			if err := mem.Flip(logName, at*8+2); err != nil {
				t.Fatal(err)
			}
			missing := 0
			for i := range keys {
				f, err := w.tier.Get(context.Background(), nil, w.key(i), w.hasher.Hash(w.key(i)))
				if err != nil {
					missing++
					if i != keys/2 || !errors.Is(err, errCorrupt) {
						t.Fatalf("key %d: %v", i, err)
					}
				} else if _, err := seqOf(w.key(i), f.Value); err != nil {
					t.Fatal(err)
				}
			}
			if s := w.tier.Stats(); missing != 1 || s.Corrupt != 1 || !s.On {
				t.Fatalf("%d missing, %+v", missing, s)
			}
			if _, err := w.tier.Get(context.Background(), nil, key, w.hasher.Hash(key)); !errors.Is(err, ErrNotFound) {
				t.Fatalf("then %v, want ErrNotFound", err)
			}
			w.close(t)
		})
	}
}

// Row 6: an unreadable segment that the journal relied on brings nothing older
// back: every segment is made unreadable, in its header, its list or a record.
func TestFault06SegmentReliedOn(t *testing.T) {
	const keys = 40 // each is written many times
	for seed := range uint64(3) {
		w := newWorld(t, seed)
		w.most = 500
		mem := vfs.NewMem()
		w.reopen(t, smallConfig(mem, w))
		w.steps(t, 4000, keys)
		if seed == 0 { // the log relies on old segments
			w.nearlyFull(t, keys)
			w.steps(t, 2500, keys)
		} else { // and on the last
			for w.nearlyFull(t, keys); !w.folded(); {
				w.steps(t, 1, keys)
			}
		}
		w.written()
		for i := range keys { // what RAM holds now is nowhere else
			if _, ok := w.ram[string(w.key(i))]; ok && w.rng.IntN(2) == 0 {
				w.demote(w.key(i))
			}
		}
		w.written()
		files := mem.CrashClone(nil, vfs.Kill)
		segments := len(w.tier.log.slots)
		w.close(t)
		for slot := range segments {
			for name, at := range map[string]int{"header": 3, "record": 5000, "trailer": minSegment - 20, "list": minSegment - trailerLen - 5} {
				clone := files.CrashClone(nil, vfs.Kill)
				if err := clone.Flip(logName, int64(slot*minSegment+at)*8); err != nil {
					t.Fatal(err)
				}
				if name == "list" { // and a record, so that scanning does not help
					_ = clone.Flip(logName, int64(slot*minSegment+1000)*8)
				}
				h := w.heir()
				h.reopen(t, smallConfig(clone, h))
				if err := h.checkAll(keys); err != nil {
					t.Fatalf("seed %d, slot %d, %s: %v", seed, slot, name, err)
				}
				h.steps(t, 20, keys)
				again := clone.CrashClone(nil, vfs.Kill)
				h2 := h.heir()
				h2.reopen(t, smallConfig(again, h2))
				if err := h2.checkAll(keys); err != nil {
					t.Fatalf("seed %d, slot %d, %s, opened again: %v", seed, slot, name, err)
				}
				h2.close(t)
				h.close(t)
			}
		}
	}
}

// Row 7: the content that a slot had before it was written over is there again.
func TestFault07StaleSegment(t *testing.T) {
	const keys = 200
	w := newWorld(t, 7)
	mem := vfs.NewMem()
	w.reopen(t, smallConfig(mem, w))
	w.steps(t, 3000, keys)
	w.written()
	old, err := mem.Bytes(logName)
	if err != nil {
		t.Fatal(err)
	}
	before := make([]uint64, len(w.tier.log.slots))
	for i := range before {
		before[i] = w.tier.log.slots[i].serial.Load()
	}
	w.steps(t, 3000, keys)
	w.written()
	files := mem.CrashClone(nil, vfs.Kill)
	replaced := 0
	for slot, serial := range before {
		if serial == 0 || w.tier.log.slots[slot].serial.Load() == serial {
			continue
		}
		replaced++
		clone := files.CrashClone(nil, vfs.Kill)
		b, _ := clone.Bytes(logName)
		copy(b[slot*minSegment:(slot+1)*minSegment], old[slot*minSegment:])
		if err := clone.SetBytes(logName, b); err != nil {
			t.Fatal(err)
		}
		h := w.heir()
		h.reopen(t, smallConfig(clone, h))
		h.check(t, keys, false)
		h.close(t)
	}
	if replaced < 3 {
		t.Fatalf("%d slots were written over", replaced)
	}
	w.close(t)
	// The same while the tier is open, and serves the snapshot's index.
	w.reopen(t, smallConfig(mem, w))
	b, _ := mem.Bytes(logName)
	for slot, serial := range before {
		if serial != 0 && w.tier.log.slots[slot].serial.Load() != serial {
			copy(b[slot*minSegment:(slot+1)*minSegment], old[slot*minSegment:])
		}
	}
	if err := mem.SetBytes(logName, b); err != nil {
		t.Fatal(err)
	}
	w.check(t, keys, false)
	if w.tier.Stats().Corrupt == 0 {
		t.Fatal("no record of the old segments was noticed")
	}
	w.close(t)
}

// Row 7: the files of another log of the same directory's past, one by one.
func TestFault07StaleLog(t *testing.T) {
	const keys = 200
	w := newWorld(t, 8)
	mem := vfs.NewMem()
	w.reopen(t, smallConfig(mem, w))
	w.steps(t, 3000, keys)
	w.close(t)
	old := mem.Dump()
	w.reopen(t, smallConfig(mem, w))
	if err := w.tier.Clear(); err != nil {
		t.Fatal(err)
	}
	w.crashed()
	for i := range keys { // nothing of before may be found
		if err := w.set(w.key(i), 0); err != nil {
			t.Fatal(err)
		}
	}
	w.steps(t, 1000, keys)
	w.written()
	files := mem.CrashClone(nil, vfs.Kill)
	w.close(t)
	for _, state := range []*vfs.Mem{files, mem} {
		for _, name := range []string{logName, journalName, snapshotName} {
			clone := state.CrashClone(nil, vfs.Kill)
			if err := clone.SetBytes(name, old[name]); err != nil {
				t.Fatal(err)
			}
			h := w.heir()
			h.reopen(t, smallConfig(clone, h))
			if err := h.checkAll(keys); err != nil {
				t.Fatalf("old %s: %v", name, err)
			}
			h.close(t)
		}
	}
}

// Row 8: files that are cut, extended, empty, missing, exchanged or too many.
func TestFault08Files(t *testing.T) {
	const keys = 200
	for _, closed := range []bool{false, true} {
		w, files := settled(t, 8, keys, closed)
		names, err := files.List()
		if err != nil {
			t.Fatal(err)
		}
		bytesOf := func(name string) []byte {
			b, err := files.Bytes(name)
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		run := func(what string, change func(m *vfs.Mem) error) {
			t.Run(fmt.Sprintf("%s, closed %v", what, closed), func(t *testing.T) {
				clone := files.CrashClone(nil, vfs.Kill)
				if err := change(clone); err != nil {
					t.Fatal(err)
				}
				h := w.heir()
				h.reopen(t, smallConfig(clone, h))
				h.check(t, keys, false)
				h.steps(t, 300, keys)
				h.close(t)
				h.reopen(t, smallConfig(clone, h))
				h.check(t, keys, true) // it is in order again
				h.close(t)
			})
		}
		for i, name := range names {
			b := bytesOf(name)
			for _, n := range []int{0, 1, len(b) / 2, len(b) - 1} {
				if n >= 0 && n < len(b) {
					run(fmt.Sprintf("%s cut to %d", name, n), func(m *vfs.Mem) error { return m.SetBytes(name, b[:n]) })
				}
			}
			run(name+" extended", func(m *vfs.Mem) error { return m.SetBytes(name, append(b[:len(b):len(b)], b...)) })
			run(name+" of zeros", func(m *vfs.Mem) error { return m.SetBytes(name, make([]byte, len(b))) })
			run(name+" missing", func(m *vfs.Mem) error { return m.Remove(name) })
			for _, other := range names[i+1:] {
				run(name+" and "+other+" exchanged", func(m *vfs.Mem) error {
					return errors.Join(m.SetBytes(name, bytesOf(other)), m.SetBytes(other, b))
				})
			}
		}
		run("more files", func(m *vfs.Mem) error {
			return errors.Join(m.SetBytes("other", []byte("text")), m.SetBytes(snapshotTemp, make([]byte, 5000)))
		})
	}
}
