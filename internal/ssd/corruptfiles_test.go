package ssd

import (
	"errors"
	"fmt"
	"testing"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// Row 7: the content that a slot had before it was written over is there again.
func TestFault07StaleSegment(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 200
		w, mem := started(t, 7, smallConfig)
		w.steps(t, 3000, keys)
		w.written()
		old := bytesIn(t, mem, format.LogName)
		before := make([]uint64, len(w.tier.log.Slots))
		for i := range before {
			before[i] = w.tier.log.SlotWords[i].Serial.Load()
		}
		w.steps(t, 3000, keys)
		w.written()
		files := mem.CrashClone(nil, vfstest.Kill)
		replaced := 0
		for slot, serial := range before {
			if serial == 0 || w.tier.log.SlotWords[slot].Serial.Load() == serial {
				continue
			}
			replaced++
			clone := files.CrashClone(nil, vfstest.Kill)
			b, _ := clone.Bytes(format.LogName)
			copy(b[slot*format.MinSegment:(slot+1)*format.MinSegment], old[slot*format.MinSegment:])
			noError(t, clone.SetBytes(format.LogName, b))
			h := w.heirOf(t, clone, smallConfig)
			h.check(t, keys, false)
			h.close(t)
		}
		if replaced < 3 {
			t.Fatalf("%d slots were written over", replaced)
		}
		w.close(t)
		// The same while the tier is open, and serves the snapshot's index.
		w.reopen(t, smallConfig(mem, w))
		b, _ := mem.Bytes(format.LogName)
		for slot, serial := range before {
			if serial != 0 && w.tier.log.SlotWords[slot].Serial.Load() != serial {
				copy(b[slot*format.MinSegment:(slot+1)*format.MinSegment], old[slot*format.MinSegment:])
			}
		}
		noError(t, mem.SetBytes(format.LogName, b))
		w.check(t, keys, false)
		if w.tier.Stats().Corrupt == 0 {
			t.Fatal("no record of the old segments was noticed")
		}
		w.close(t)
	})
}

// Row 7: the files of another log of the same directory's past, one by one.
func TestFault07StaleLog(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 200
		w, mem := started(t, 8, smallConfig)
		w.steps(t, 3000, keys)
		w.close(t)
		old := mem.Dump()
		w.reopen(t, smallConfig(mem, w))
		w.tier.Clear()
		w.crashed()
		for i := range keys { // nothing of before may be found
			w.set(w.key(i), 0)
		}
		w.steps(t, 1000, keys)
		w.written()
		files := w.end(t, mem, killed)
		for _, state := range []*vfstest.Mem{files, mem} {
			for _, name := range []string{format.LogName, format.SnapshotName} {
				clone := state.CrashClone(nil, vfstest.Kill)
				noError(t, clone.SetBytes(name, old[name]))
				h := w.heirOf(t, clone, smallConfig)
				if err := h.checkAll(keys); err != nil {
					t.Fatalf("old %s: %v", name, err)
				}
				h.close(t)
			}
		}
	})
}

// Row 8: files that are cut, extended, empty, missing, exchanged or too many.
func TestFault08Files(t *testing.T) {
	t.Parallel()
	const keys = 200
	for _, end := range []ending{killed, closing} {
		w, files := settled(t, 8, keys, end)
		names, err := files.List()
		if err != nil {
			t.Fatal(err)
		}
		bytesOf := func(name string) []byte {
			b := bytesIn(t, files, name)
			return b
		}
		run := func(what string, change func(m *vfstest.Mem) error) {
			inBubble(t, fmt.Sprintf("%s, %s", what, end), func(t *testing.T) {
				clone := files.CrashClone(nil, vfstest.Kill)
				noError(t, change(clone))
				h := w.heirIn(t)
				h.reopen(t, smallConfig(clone, h))
				h.check(t, keys, false)
				h.steps(t, 300, keys)
				h.restart(t, smallConfig(clone, h))
				h.check(t, keys, true) // it is in order again
				h.close(t)
			})
		}
		for i, name := range names {
			b := bytesOf(name)
			for _, n := range []int{0, 1, len(b)/2 + 64, len(b) / 2, len(b) - 1} {
				if n >= 0 && n < len(b) {
					run(fmt.Sprintf("%s cut to %d", name, n), func(m *vfstest.Mem) error { return m.SetBytes(name, b[:n]) })
				}
			}
			run(name+" extended", func(m *vfstest.Mem) error { return m.SetBytes(name, append(b[:len(b):len(b)], b...)) })
			run(name+" of zeros", func(m *vfstest.Mem) error { return m.SetBytes(name, make([]byte, len(b))) })
			run(name+" missing", func(m *vfstest.Mem) error { return m.Remove(name) })
			for _, other := range names[i+1:] {
				run(name+" and "+other+" exchanged", func(m *vfstest.Mem) error {
					return errors.Join(m.SetBytes(name, bytesOf(other)), m.SetBytes(other, b))
				})
			}
		}
		run("more files", func(m *vfstest.Mem) error {
			return errors.Join(m.SetBytes("other", []byte("text")), m.SetBytes(format.SnapshotTempName, make([]byte, 5000)))
		})
	}
}

// Without its superblock a directory is still known for the tier's.
func TestSuperblockLost(t *testing.T) {
	w, mem := started(t, 1, smallConfig)
	w.steps(t, 500, 50)
	w.close(t)
	noError(t, mem.Remove(format.SuperblockName))
	w.reopen(t, smallConfig(mem, w))
	if w.tier.Len() != 0 {
		t.Error("something is believed without a superblock")
	}
	w.close(t)
}
