package ssd

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// Row 16: a read that takes longer than Config.ReadTimeout is not waited for. That
// is no error of the disk.
func TestFault16ReadTimeout(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys, timeout = 40, 3 * time.Second
		f := vfstest.NewFaulty(vfstest.NewMem())
		w := onDisk(t, f, keys, func(fs vfs.FS, w *world) Config {
			cfg := testConfig(fs, w)
			cfg.ReadTimeout = timeout
			return cfg
		})
		stuck := f.Inject(vfstest.Rule{On: vfstest.OpRead, Name: format.LogName, Block: true})
		began := time.Now()
		var group sync.WaitGroup
		group.Go(func() {
			if err := w.getKey(0); !errors.Is(err, ErrTimeout) {
				t.Errorf("Get: %v, want ErrTimeout", err)
			}
		})
		group.Go(func() {
			w.many(1, 20, func(err error) {
				if !errors.Is(err, ErrTimeout) {
					t.Errorf("GetMany: %v, want ErrTimeout", err)
				}
			})
		})
		group.Wait()
		if took := time.Since(began); took != timeout {
			t.Errorf("the reads took %v, want %v", took, timeout)
		}
		if err := w.getKey(20); !errors.Is(err, ErrBusy) { // it has not moved for a timeout
			t.Errorf("Get: %v, want ErrBusy", err)
		}
		s := w.tier.Stats()
		if s.ReadErrors != 0 || !s.On || s.Reads.Timeouts != 20 || s.Reads.Abandoned != 20 {
			t.Errorf("on: %v, %d read errors, %d timeouts, %d abandoned: want none, 20 and 20", s.On, s.ReadErrors, s.Reads.Timeouts, s.Reads.Abandoned)
		}
		stuck.Remove()
		synctest.Wait()
		for i := range keys {
			if err := w.getKey(i); err != nil {
				t.Errorf("%s when the disk goes on: %v", w.key(i), err)
			}
		}
		w.close(t)
	})
}

// Row 16: a stuck disk is not asked any more, for good, but for a read in a while.
func TestFault16SilentDisk(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 40
		f := vfstest.NewFaulty(vfstest.NewMem())
		w := onDisk(t, f, keys, testConfig)
		stuck := f.Inject(vfstest.Rule{On: vfstest.OpRead, Name: format.LogName, Block: true})
		var group sync.WaitGroup
		group.Go(func() {
			if err := w.getKey(0); err != nil {
				t.Errorf("Get that was waiting: %v", err)
			}
		})
		stuck.AwaitBlocked(1)
		time.Sleep(silence)
		group.Go(func() { _ = w.getKey(1) })
		synctest.Wait()
		for i := range keys {
			if err := w.getKey(i); !errors.Is(err, ErrBusy) {
				t.Errorf("Get: %v, want ErrBusy", err)
			}
		}
		w.many(0, keys, func(err error) {
			if !errors.Is(err, ErrBusy) {
				t.Errorf("GetMany: %v, want ErrBusy", err)
			}
		})
		if s := w.tier.Stats(); stuck.Hits() != 2 || s.Reads.Refused != 2*keys || !s.On {
			t.Errorf("%d reads were begun, want 2; %+v", stuck.Hits(), s)
		}
		stuck.Remove()
		group.Wait()
		for i := range keys {
			if err := w.getKey(i); err != nil {
				t.Errorf("%s when the disk goes on: %v", w.key(i), err)
			}
		}
		w.close(t)
	})
}

// Row 16: those who wait for a slow disk are bounded; who comes then gets nothing,
// at once. What the tier reads for itself waits its turn.
func TestFault16ReadsRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys, depth, more = 40, 2, 100
		f := vfstest.NewFaulty(vfstest.NewMem())
		w := onDisk(t, f, keys, func(fs vfs.FS, w *world) Config {
			cfg := testConfig(fs, w)
			cfg.Depth = depth
			return cfg
		})
		stuck := f.Inject(vfstest.Rule{On: vfstest.OpRead, Name: format.LogName, Block: true})
		answers := make(chan error, 2*minCallers)
		for i := range depth + minCallers + more {
			go func() { answers <- w.getKey(i % keys) }()
		}
		synctest.Wait()
		if len(answers) != more || stuck.Hits() != depth {
			t.Errorf("%d calls have ended, and %d reads were begun: want %d and %d", len(answers), stuck.Hits(), more, depth)
		}
		for range len(answers) {
			if err := <-answers; !errors.Is(err, ErrBusy) {
				t.Errorf("%v, want ErrBusy", err)
			}
		}
		listed := make(chan int)
		go func() {
			n := 0
			w.tier.All(func(uint64, []byte, []byte) bool { n++; return true })
			listed <- n
		}()
		synctest.Wait()
		stuck.Remove()
		for range depth + minCallers {
			if err := <-answers; err != nil {
				t.Errorf("Get of those who waited: %v", err)
			}
		}
		if n := <-listed; n != keys {
			t.Errorf("All found %d records of %d", n, keys)
		}
		w.close(t)
	})
}

// However many batches wait for the disk, the buffers of what they have read do
// not grow with their number.
func TestBatchesShareMemory(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const batches, each = 16, 100
		f := vfstest.NewFaulty(vfstest.NewMem())
		w := onDisk(t, f, batches*each, func(fs vfs.FS, w *world) Config {
			w.most = 3000
			cfg := testConfig(fs, w)
			cfg.Bytes = 8 << 20
			return cfg
		})
		var held []int64 // the first read of each batch: its others come back
		for i := range batches {
			ref := w.spotOf(t, i*each)
			held = append(held, int64(ref.slot)<<w.tier.log.SegmentShift+int64(ref.off))
		}
		stuck := f.Inject(vfstest.Rule{On: vfstest.OpRead, Name: format.LogName, Block: true, Match: func(op vfstest.Op) bool {
			for _, at := range held {
				if op.Off <= at && at < op.Off+op.Len {
					return true
				}
			}
			return false
		}})
		var group sync.WaitGroup
		for i := range batches {
			group.Go(func() {
				w.many(i*each, (i+1)*each, func(err error) {
					if err != nil {
						t.Error(err)
					}
				})
			})
			stuck.AwaitBlocked(i + 1)
		}
		synctest.Wait()
		const chunk = 64 << 10                      // what the pool takes from the system at once, for each of five sizes
		most := 4*w.tier.cfg.readMemory() + 5*chunk // 1 + 1/2 + … + 1/16 is 3.4
		if got := w.tier.reader.Bytes(); got > most || got < most/4 {
			t.Errorf("%d batches hold %d bytes: want at most %d", batches, got, most)
		}
		stuck.Remove()
		group.Wait()
		w.close(t)
	})
}

// many looks up the keys [from, to) in one batch, and tells how each ended.
func (w *world) many(from, to int, ended func(error)) {
	var m Many
	for i := from; i < to; i++ {
		m.Queries = append(m.Queries, Query{Key: w.key(i), Hash: w.hasher.Hash(w.key(i))})
	}
	w.tier.GetMany(context.Background(), &m, func(_ int, _ Found, err error) { ended(err) })
}
