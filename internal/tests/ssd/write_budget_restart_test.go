package ssd

import (
	"encoding/binary"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// What was written is remembered: neither Close nor a kill, nor a log that is
// dropped, gives a new budget.
func TestWriteBudgetOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	harness.SkipUnderRace(t)
	const budget = 2 << 20
	for name, next := range map[string]func(o *firn.SSDOptions){
		"the same":  func(*firn.SSDOptions) {},
		"a new log": func(o *firn.SSDOptions) { o.Recovery = firn.RecoverNever },
	} {
		for _, kill := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				mem, o := vfstest.NewMem(), firn.SSDOptions{Bytes: 16 << 20, SegmentBytes: 64 << 10, Admission: firn.AdmitAll, WriteBudget: budget}
				first := burst(t, mem, o)
				s := first.Stats()
				if s.SSD.Limited == 0 || s.SSD.WrittenBytes < budget/2 {
					t.Fatalf("%d bytes were written, and %d records limited", s.SSD.WrittenBytes, s.SSD.Limited)
				}
				files := mem
				if kill {
					files = mem.CrashClone(nil, vfstest.Kill)
				}
				if err := first.Close(); err != nil {
					t.Fatal(err)
				}
				next(&o)
				second := burst(t, files, o)
				s = second.Stats()
				if s.SSD.Writes > 0 || s.SSD.WrittenDayBytes < budget/2 {
					t.Errorf("%s, kill %v: %d records were written by the next process; written in a day %d", name, kill, s.SSD.Writes, s.SSD.WrittenDayBytes)
				}
				if err := second.Close(); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

// burst opens a cache and stores several budgets at once.
func burst(t *testing.T, mem *vfstest.Mem, o firn.SSDOptions) *firn.Cache {
	t.Helper()
	c, err := firn.Open(firn.Options{RAMBytes: 1 << 20, Clock: time.Now, SSD: harness.On(o, mem)})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10_000 {
		if err := c.Set(binary.BigEndian.AppendUint32(nil, uint32(i)), make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
		if i%20 == 0 {
			synctest.Wait() // for the disk; no time passes
		}
	}
	return c
}
