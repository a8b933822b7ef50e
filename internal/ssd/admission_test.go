package ssd

import (
	"testing"

	"github.com/firncache/firn/internal/record"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// AdmitSeen takes all until the log has been full, and selects then: after
// Clear, and after a restart, as the log is.
func TestAdmitSeenFillsTheLog(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, mem := newWorld(t, 1), vfstest.NewMem()
		config := func() Config {
			cfg := testConfig(mem, w)
			cfg.Admission = AdmitSeen
			return cfg
		}
		w.reopen(t, config())
		next := 0
		// offer offers a record that nobody read, and reports whether it was let in.
		offer := func(i int) bool {
			key := w.key(i)
			for h := w.hasher.Hash(key); ; w.roomy() {
				before := w.tier.Stats()
				switch taken := w.tier.Demote(h, key, make([]byte, 1000), 0, false, record.SameCopy); {
				case taken:
					return true
				case w.tier.Stats().Rejected > before.Rejected:
					return false
				case !before.Online:
					t.Fatal("the tier is off")
				}
			}
		}
		fill := func(why string) {
			t.Helper()
			choosing := w.tier.admission.Selective.Load
			for ; !choosing(); next++ {
				if !offer(next) && !choosing() {
					t.Fatalf("%s: record %d was refused, and the log has not been full", why, next)
				}
			}
			if n := int64(w.tier.Len()) * 1000; n < w.tier.logBytes*3/4 {
				t.Fatalf("%s: records were chosen when %d bytes lay in a log of %d", why, n, w.tier.logBytes)
			}
		}
		selects := func(why string) {
			t.Helper()
			if next++; offer(next) {
				t.Fatalf("%s: a record that nobody asked for was let in", why)
			}
			if !offer(next) {
				t.Fatalf("%s: a record that was offered twice was refused", why)
			}
		}

		for range 100 {
			offer(next)
			next++
		}
		w.restart(t, config())
		fill("a log that was not full when it was closed")
		selects("a full log")
		w.restart(t, config())
		selects("a log that was full when it was closed")
		w.written()
		mem = w.end(t, mem, killed)
		w.reopen(t, config())
		selects("a log that was full when the process died")
		w.tier.Clear()
		fill("after Clear")
		selects("after Clear and filling it")
		w.close(t)
	})
}
