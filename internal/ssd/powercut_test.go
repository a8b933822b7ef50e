package ssd

import (
	"math/rand/v2"
	"testing"

	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// Row 2: the machine goes down. What was not closed is not believed; a clone of
// the files at any boundary of Close is cold, or exact.
func TestFault02PowerCut(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 150
		w, mem := started(t, 1, smallConfig)
		w.steps(t, 3000, keys)
		rng := rand.New(rand.NewPCG(2, 2))
		for i := range sized(8, 30) {
			w.steps(t, 50, keys)
			h := w.heir()
			config := rebooted
			if i%2 == 0 { // the memory is gone all the same
				config = smallConfig
			}
			h.reopenAtRest(t, config(mem.CrashClone(rng, vfstest.PowerCut), h))
			h.wantLen(t, 0)
			h.close(t)
		}
		w.settle()
		mem = w.end(t, mem, killed)
		var records, cold, warm int
		vfstest.EachBoundary(mem, func(fs vfs.FS) {
			w.reopen(t, smallConfig(fs, w))
			w.steps(t, 200, keys)
			records = w.kept()
			w.close(t)
		}, apart(t, func(b vfstest.Boundary) {
			if b.N%sized(3, 1) != 0 && b.Op.Kind != 0 {
				return
			}
			for range 2 {
				h := w.heirAtRest(t, b.Crash(rng, vfstest.PowerCut), rebooted)
				switch n := h.tier.Len(); {
				case n == 0:
					cold++
				case n != records:
					t.Fatalf("%v: %d records after a power cut, %d before", b, n, records)
				default:
					warm++
					h.check(t, keys, true)
				}
				h.close(t)
			}
		}))
		t.Logf("%d cold, %d warm with %d records", cold, warm, records)
		if warm == 0 || cold == 0 {
			t.Fatal("want both")
		}
		// With everything on the device nothing is lost.
		h := w.heirAtRest(t, mem.CrashClone(rng, vfstest.PowerCut), rebooted)
		h.wantLen(t, records)
		h.check(t, keys, true)
		h.close(t)
	})
}

// Row 2 with RecoverAlways: what comes back may be outdated, but is what was
// once written under the key.
func TestFault02PowerCutRecoverAlways(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 150
		rng := rand.New(rand.NewPCG(3, 3))
		found := 0
		for seed := range uint64(sized(8, 20)) {
			w, mem := started(t, seed, smallConfig)
			w.steps(t, 2000, keys)
			w.written()
			h := w.heir()
			h.acked = map[string]uint64{} // any version will do
			cfg := rebooted(mem.CrashClone(rng, vfstest.PowerCut), h)
			cfg.Recovery = RecoverAlways
			h.reopen(t, cfg)
			h.check(t, keys, false)
			found += h.hits
			h.close(t)
			w.close(t)
		}
		if found == 0 {
			t.Fatal("nothing came back")
		}
	})
}

// Row 2: a log that was closed, and opened again, is not closed any more: when the
// machine goes down then, nothing of it is believed.
func TestFault02PowerCutAfterClose(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 50
		w, mem := started(t, 1, smallConfig)
		w.fill(t, keys)
		w.restart(t, smallConfig(mem, w))
		if w.tier.Len() != keys {
			t.Fatalf("%d records after Close, want %d", w.tier.Len(), keys)
		}
		w.setKeys(keys / 2)
		rng := rand.New(rand.NewPCG(1, 1))
		for range 20 { // that lose this and that
			h := w.heirOf(t, mem.CrashClone(rng, vfstest.PowerCut), rebooted)
			h.wantLen(t, 0)
			h.check(t, keys, false)
			h.close(t)
		}
		w.close(t)
	})
}

// reattached are the files as a power cut of their device leaves them, beside the
// memory as a kill leaves it: the device was detached and attached again while the
// machine went on.
func reattached(t *testing.T, mem *vfstest.Mem, rng *rand.Rand) *vfstest.Mem {
	t.Helper()
	files, cut := mem.CrashClone(nil, vfstest.Kill), mem.CrashClone(rng, vfstest.PowerCut)
	for name := range files.Dump() {
		noError(t, files.Remove(name))
	}
	for name, b := range cut.Dump() {
		noError(t, files.SetBytes(name, b))
	}
	return files
}

// Row 2: the device went down alone, and lost what was not synced; the memory says
// that it was written. What is not there is a miss, and counted.
func TestFault02DeviceLosesWrites(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 300
		w, mem := started(t, 1, smallConfig)
		w.steps(t, 3000, keys)
		w.restart(t, smallConfig(mem, w)) // over a log of which some is on the device
		w.steps(t, 3000, keys)
		w.settle()
		rng := rand.New(rand.NewPCG(9, 9))
		var right, corrupt uint64
		for range sized(20, 200) {
			h := w.heirAtRest(t, reattached(t, mem, rng), smallConfig)
			h.check(t, keys, false)
			s := h.tier.Stats()
			right, corrupt = right+uint64(h.hits), corrupt+s.Corrupt
			h.restart(t, smallConfig(h.tier.tracked.FS, h)) // the snapshot of that
			h.check(t, keys, false)
			h.steps(t, 200, keys)
			h.close(t)
		}
		t.Logf("%d right, %d corrupt", right, corrupt)
		if right == 0 || corrupt == 0 {
			t.Error("want both")
		}
		w.close(t)
	})
}

// Row 2: likewise at every boundary of Open, Close and what begins another log: the
// superblock may be an earlier one, and the memory that it names another log's.
func TestFault02DeviceLosesSuperblocks(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 100
		w, mem := started(t, 1, smallConfig)
		w.steps(t, 1000, keys)
		w.close(t)
		rng := rand.New(rand.NewPCG(10, 10))
		vfstest.EachBoundary(mem, func(fs vfs.FS) {
			w.reopen(t, smallConfig(fs, w))
			w.steps(t, 100, keys)
			noError(t, w.tier.startEmpty("for the test"))
			w.steps(t, 100, keys)
			w.close(t)
		}, apart(t, func(b vfstest.Boundary) {
			for range sized(2, 10) {
				h := w.heirOf(t, reattached(t, b.Crash(nil, vfstest.Kill), rng), smallConfig)
				h.check(t, keys, false)
				h.close(t)
			}
		}))
	})
}
