package ssd

import (
	"sync/atomic"
	"testing"

	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// metered is a file system that counts what is written to its files.
type metered struct {
	vfs.FS
	bytes *atomic.Int64
}

func (c metered) Open(name string, how vfs.OpenOptions) (vfs.File, error) {
	f, err := c.FS.Open(name, how)
	if err != nil {
		return nil, err
	}
	return meteredFile{f, c.bytes}, nil
}

type meteredFile struct {
	vfs.File
	bytes *atomic.Int64
}

func (f meteredFile) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.File.WriteAt(p, off)
	f.bytes.Add(int64(n))
	return n, err
}

// Everything that is written to any file is counted: the superblock, the log, and
// the snapshot that Close writes.
func TestAllThatIsWrittenCounts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		var bytes atomic.Int64
		cfg := testConfig(metered{vfstest.NewMem(), &bytes}, w)
		w.reopen(t, cfg)
		for i := range 1000 {
			if w.offer(i, 1000); i%3 == 0 {
				w.wrote(w.key(i/2), 1)
			}
		}
		tier := w.tier
		w.close(t)
		if got, want := tier.Stats().WrittenBytes, uint64(bytes.Load()); got != want || got < 1e6 {
			t.Errorf("%d bytes were counted, and %d written", got, want)
		}
		if s := tier.Stats(); s.WrittenDay != int64(s.WrittenBytes) {
			t.Errorf("%d bytes were written in the last day, and %d in all", s.WrittenDay, s.WrittenBytes)
		}
	})
}

// What a tier writes keeps to its budget: at once no more than a day's, then what
// each hour brings, on the clock that it was given.
func TestTierKeepsToItsBudget(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const budget, size = 4 << 20, 1000
		w := newWorld(t, 1)
		cfg := testConfig(vfstest.NewMem(), w)
		cfg.Bytes, cfg.WriteBudget = 16<<20, budget
		w.reopen(t, cfg)
		next := 0
		for ; next < 2*budget/size && w.offer(next, size); next++ {
			w.written()
		}
		if n := w.tier.Stats().WrittenBytes; n < budget/2 || n > budget {
			t.Errorf("%d bytes were written at once, want at most the budget of %d, and most of it", n, budget)
		}
		before, from := w.tier.Stats(), w.now.Load()
		for w.now.Load() < from+dayMs {
			w.now.Add(hourMs / 60)
			for range 10 * budget / size / (24 * 60) {
				w.offer(next, size)
				next++
			}
			w.written()
		}
		s := w.tier.Stats()
		if n := float64(s.WrittenBytes-before.WrittenBytes) / budget; n < .9 || n > 1.05 {
			t.Errorf("%.3f budgets were written in a day", n)
		}
		// In the last hour some 50 records of 1700 were let in, by chance: each costs
		// about three times its bytes, for blocks that are written as they fill.
		near := func(got, want float64) bool { return got > .75*want && got < 1.25*want }
		if s.WriteBudget != budget || !near(float64(s.WrittenDay), budget) || !near(float64(s.WriteForecast), budget) || s.AdmittedShare < .01 || s.AdmittedShare > .13 {
			t.Errorf("after a day: %d bytes in a day, forecast %d, %.3f admitted", s.WrittenDay, s.WriteForecast, s.AdmittedShare)
		}
		w.close(t)
	})
}

// A record that is refused for the write budget is counted there first:
// a snapshot in between counts no refused ones less than none.
func TestRefusedIsNotBelowNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.reopen(t, testConfig(vfstest.NewMem(), w))
	defer w.close(t)
	b := &w.tier.admission.Budget
	b.Init(1, w.tier.Now)
	b.Wrote(1 << 30)
	if b.Admit(0, 0, 1) {
		t.Fatal("a spent budget admits a record")
	}
	if s := w.tier.Stats(); s.Rejected != 0 || s.Limited != 1 {
		t.Errorf("%d refused, %d limited: want 0 and 1", s.Rejected, s.Limited)
	}
}
