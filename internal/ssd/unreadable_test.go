package ssd

import (
	"errors"
	"syscall"
	"testing"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// onDisk is a tier with so many records, all of them on the disk and none in
// memory.
func onDisk(t *testing.T, f *vfstest.Faulty, keys int, config func(vfs.FS, *world) Config) *world {
	t.Helper()
	w := newWorld(t, 1)
	w.reopen(t, config(f, w))
	for i := range keys {
		w.put(t, w.key(i))
	}
	w.close(t)
	w.reopen(t, config(f, w))
	return w
}

func (w *world) getKey(i int) error {
	_, err := w.tier.Get(background, nil, w.key(i), w.hasher.Hash(w.key(i)))
	return err
}

func (w *world) spotOf(t *testing.T, i int) recordRef {
	t.Helper()
	ref, ok := w.tier.locate(w.hasher.Hash(w.key(i)), false)
	if !ok {
		t.Fatalf("%s is not there", w.key(i))
	}
	return ref
}

// Row 12: a place that cannot be read costs the record that lies there, however
// often that is asked for, and nothing else.
func TestFault12UnreadablePlace(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys, bad = 100, 50
		f := vfstest.NewFaulty(vfstest.NewMem())
		w := onDisk(t, f, keys, testConfig)
		ref := w.spotOf(t, bad)
		at := int64(ref.slot)<<w.tier.log.SegmentShift + int64(ref.off)
		f.Inject(vfstest.Rule{On: vfstest.OpRead, Name: format.LogName, From: at, To: at + 1, Err: syscall.EIO})
		for n := range 3 * maxBadReads {
			err := w.getKey(bad)
			if want := n < 2; want && !errors.Is(err, syscall.EIO) || !want && !errors.Is(err, ErrNotFound) {
				t.Fatalf("Get number %d: %v", n, err)
			}
		}
		if s := w.tier.Stats(); !s.On || s.SwitchedOff != 0 || s.ReadErrors != 2 {
			t.Errorf("on: %v, %d read errors, want 2", s.On, s.ReadErrors)
		}
		for i := range keys {
			if i == bad {
				continue
			}
			ref := w.spotOf(t, i)
			n, _ := ref.entry.MaxBytes()
			off, length, _ := w.tier.alignedRange(&ref, n)
			if err := w.getKey(i); err != nil && (at < off || at >= off+int64(length)) {
				t.Errorf("%s: %v", w.key(i), err)
			}
		}
		w.put(t, w.key(bad))
		if err := w.getKey(bad); err != nil {
			t.Errorf("written anew: %v", err)
		}
		w.close(t)
	})
}

// Row 12: a place with many records is not the disk, also if nothing else is read
// meanwhile. A disk of which nothing can be read is.
func TestFault12UnreadableSegment(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 600
		small := func(fs vfs.FS, w *world) Config {
			w.most = 500
			return testConfig(fs, w)
		}
		f := vfstest.NewFaulty(vfstest.NewMem())
		w := onDisk(t, f, keys, small)
		slot := w.spotOf(t, 0).slot
		var there, elsewhere []int
		for i := range keys {
			if w.spotOf(t, i).slot == slot {
				there = append(there, i)
			} else {
				elsewhere = append(elsewhere, i)
			}
		}
		if len(there) < 2*maxBadReads || len(elsewhere) < 2*maxBadReads {
			t.Fatalf("%d records are in the segment and %d are not: want more", len(there), len(elsewhere))
		}
		from := int64(slot) << w.tier.log.SegmentShift
		f.Inject(vfstest.Rule{On: vfstest.OpRead, Name: format.LogName, From: from, To: from + int64(w.tier.log.SegmentBytes()), Err: syscall.EIO})
		for _, i := range there {
			if err := w.getKey(i); !errors.Is(err, syscall.EIO) {
				t.Fatalf("%s: %v, want EIO", w.key(i), err)
			}
		}
		if s := w.tier.Stats(); !s.On || s.ReadErrors != uint64(len(there)) {
			t.Fatalf("on: %v, %d read errors, want %d", s.On, s.ReadErrors, len(there))
		}
		for _, i := range elsewhere {
			if err := w.getKey(i); err != nil {
				t.Errorf("%s: %v", w.key(i), err)
			}
		}
		f.Inject(vfstest.Rule{On: vfstest.OpRead, Name: format.LogName, Err: syscall.EIO})
		for n, i := range elsewhere {
			if err := w.getKey(i); err == nil {
				t.Fatalf("%s is read", w.key(i))
			}
			if off := !w.tier.Stats().On; off != (n+1 >= maxBadReads) {
				t.Fatalf("off after %d reads that failed: %v; want it after %d", n+1, off, maxBadReads)
			}
			if n > maxBadReads {
				break
			}
		}
		w.close(t)
	})
}
