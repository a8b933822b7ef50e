package ssd

import (
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/ssd/health"
	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// Row 12: a read that fails is a miss that says why, and is counted; many in a
// row switch the tier off, which comes back.
func TestFault12Read(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 300
		w, f := onDisk(t, keys, retryingConfig)
		once := f.Inject(vfstest.Rule{On: vfstest.OpRead, Name: format.LogName, Err: syscall.EIO, Times: 1})
		wantErr(t, w.getKey(1), syscall.EIO)
		wantErr(t, w.getKey(1), nil)
		if s := w.tier.Stats(); s.ReadErrors != 1 || !s.Online {
			t.Fatalf("%+v", s)
		}
		once.Remove()
		always := f.Inject(vfstest.Rule{On: vfstest.OpRead, Name: format.LogName, Err: syscall.EIO})
		for i := range health.MaxRow {
			wantErr(t, w.getKey(i), syscall.EIO)
		}
		if s := w.tier.Stats(); s.SwitchedOff != 1 {
			t.Fatalf("%+v", s)
		}
		wantErr(t, w.getKey(1), ErrNotFound)
		w.many(background, 1, 2, func(err error) { wantErr(t, err, ErrNotFound) })
		always.Remove()
		w.untilOn()
		w.put(t, w.key(1))
		noError(t, w.getKey(1))
		w.close(t)
	})
}

// Row 12: a place that cannot be read costs the record that lies there, however
// often that is asked for, and nothing else.
func TestFault12UnreadablePlace(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys, bad = 100, 50
		w, f := onDisk(t, keys, testConfig)
		ref := w.spotOf(t, w.key(bad))
		at := w.placeOf(&ref)
		f.Inject(vfstest.Rule{On: vfstest.OpRead, Name: format.LogName, From: at, To: at + 1, Err: syscall.EIO})
		for n := range 3 * health.MaxRow {
			err := w.getKey(bad)
			if want := n < 2; want && !errors.Is(err, syscall.EIO) || !want && !errors.Is(err, ErrNotFound) {
				t.Fatalf("Get number %d: %v", n, err)
			}
		}
		if s := w.tier.Stats(); !s.Online || s.SwitchedOff != 0 || s.ReadErrors != 2 {
			t.Errorf("on: %v, %d read errors, want 2", s.Online, s.ReadErrors)
		}
		for i := range keys {
			if i == bad {
				continue
			}
			ref := w.spotOf(t, w.key(i))
			n, _ := w.tier.index.MaxBytes(ref.entry)
			off, length, _ := w.tier.alignedRange(&ref, n)
			if err := w.getKey(i); err != nil && (at < off || at >= off+int64(length)) {
				t.Errorf("%s: %v", w.key(i), err)
			}
		}
		w.put(t, w.key(bad))
		wantErr(t, w.getKey(bad), nil)
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
		w, f := onDisk(t, keys, small)
		slot := w.spotOf(t, w.key(0)).slot
		var there, elsewhere []int
		for i := range keys {
			if w.spotOf(t, w.key(i)).slot == slot {
				there = append(there, i)
			} else {
				elsewhere = append(elsewhere, i)
			}
		}
		if len(there) < 2*health.MaxRow || len(elsewhere) < 2*health.MaxRow {
			t.Fatalf("%d records are in the segment and %d are not: want more", len(there), len(elsewhere))
		}
		from := int64(slot) << w.tier.log.SegmentShift
		f.Inject(vfstest.Rule{On: vfstest.OpRead, Name: format.LogName, From: from, To: from + int64(w.tier.log.SegmentBytes()), Err: syscall.EIO})
		for _, i := range there {
			wantErr(t, w.getKey(i), syscall.EIO)
		}
		if s := w.tier.Stats(); !s.Online || s.ReadErrors != uint64(len(there)) {
			t.Fatalf("on: %v, %d read errors, want %d", s.Online, s.ReadErrors, len(there))
		}
		for _, i := range elsewhere {
			wantErr(t, w.getKey(i), nil)
		}
		f.Inject(vfstest.Rule{On: vfstest.OpRead, Name: format.LogName, Err: syscall.EIO})
		for n, i := range elsewhere {
			if err := w.getKey(i); err == nil {
				t.Fatalf("%s is read", w.key(i))
			}
			if off := !w.tier.Stats().Online; off != (n+1 >= health.MaxRow) {
				t.Fatalf("off after %d reads that failed: %v; want it after %d", n+1, off, health.MaxRow)
			}
			if n > health.MaxRow {
				break
			}
		}
		w.close(t)
	})
}

// Row 33: a handler of log lines may use the cache.
func TestFault33LogHandlerUsesTheCache(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		f := vfstest.NewFaulty(vfstest.NewMem())
		cfg := testConfig(f, w)
		var get func() error
		failed, told := make(chan error, 1), atomic.Int32{}
		cfg.Log = slog.New(handling(func(r slog.Record) {
			told.Add(1)
			if r.Message == "firn: SSD tier: a read failed" {
				err := get()
				w.tier.Clear()
				failed <- err
			}
		}))
		w.reopen(t, cfg)
		key := w.key(1)
		w.put(t, key)
		for i := range 200 { // so that it is not in memory any more
			w.put(t, w.key(1000+i))
		}
		get = func() error { return errOf(w.lookUp(key)) }
		bad := f.Inject(vfstest.Rule{On: vfstest.OpRead, Name: format.LogName, Err: syscall.EIO})
		inTime(t, "Get", func() { _ = get() })
		inTime(t, "the handler", func() { <-failed })
		bad.Remove()
		n := told.Load()
		w.close(t)
		if n == 0 {
			t.Error("nothing was logged")
		}
	})
}

// falseDirect is a file system that takes direct I/O at Open, and fails it then.
type falseDirect struct{ vfs.FS }

type falseFile struct{ vfs.File }

func (f falseDirect) Open(name string, how vfs.OpenOptions) (vfs.File, error) {
	file, err := f.FS.Open(name, how)
	if err == nil && how.Direct {
		file = falseFile{file}
	}
	return file, err
}

func (falseFile) ReadAt([]byte, int64) (int, error) { return 0, syscall.EINVAL }

func (falseFile) WriteAt([]byte, int64) (int, error) { return 0, syscall.EINVAL }

// A file system that takes direct I/O and fails it is used by the page cache, with a
// log that is new or there already; who wants direct I/O is told.
func TestDirectThatFails(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		fs := falseDirect{vfstest.NewMem()}
		for range 2 {
			w.reopen(t, testConfig(fs, w))
			w.put(t, w.key(1))
			w.check(t, 2, true)
			if s := w.tier.Stats(); !s.Online || s.Direct || s.WriteErrors > 0 {
				t.Errorf("%+v", s)
			}
			w.close(t)
			cfg := testConfig(fs, w)
			cfg.Direct = DirectOn
			tier, err := Open(cfg)
			if err == nil {
				_ = tier.Close(background)
			}
			if !errors.Is(err, vfs.ErrNoDirect) || !errors.Is(err, syscall.EINVAL) || !strings.Contains(err.Error(), "takes the flag") {
				t.Errorf("DirectOn: %v, want that there is no direct I/O, and why", err)
			}
		}
	})
}
