package ssd

import (
	"syscall"
	"testing"

	"github.com/firncache/firn/internal/vfs"
)

// full puts so many small records into a tier, and returns its files as a kill
// leaves them.
func full(t *testing.T, w *world, config func(vfs.FS, *world) Config, keys int) *vfs.Mem {
	t.Helper()
	w.most = 1
	mem := vfs.NewMem()
	w.reopen(t, config(mem, w))
	for i := range keys {
		w.put(t, w.key(i))
	}
	w.written()
	clone := mem.CrashClone(nil, vfs.Kill)
	w.close(t)
	return clone
}

// Rows 21 and 30: the log holds more records than an index in less RAM can name.
// The oldest are dropped from the log, too: the next Open is a quick one again.
func TestRecoveryOfMoreThanFits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 40_000
		w := newWorld(t, 1)
		roomy := func(fs vfs.FS, w *world) Config {
			cfg := testConfig(fs, w)
			cfg.Bytes = 16 << 20 // enough for the snapshot
			return cfg
		}
		cfg := roomy(full(t, w, roomy, keys), w)
		cfg.Memory = 512 << 10
		for range 2 {
			w.reopenAtRest(t, cfg)
			w.check(t, keys, true)
			w.close(t)
		}
		w.reopenAtRest(t, cfg)
		if s := w.tier.Stats(); s.Recovered != 0 || s.Records == 0 || s.Records == keys {
			t.Errorf("%d records of %d, from %d segments: want some, from the snapshot", s.Records, keys, s.Recovered)
		}
		w.close(t)
	})
}

// Row 5: keys are deleted while the recovery has not come to their records, and
// there is no memory to remember that. There is some when it comes to them.
func TestFault05NoMemoryForGraves(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 2400 // whose notes the journal takes without a fold
		w := newWorld(t, 1)
		f := vfs.NewFaulty(full(t, w, testConfig, keys))
		held := f.Inject(vfs.Rule{On: vfs.OpRead, Name: logName, Match: func(op vfs.Op) bool { return op.Len > blockBytes }, Block: true})
		w.crashed()
		var err error
		if w.tier, err = Open(testConfig(f, w)); err != nil {
			t.Fatal(err)
		}
		w.tier.restarting.Lock() // the keeper has other things to do
		left := w.tier.fixed + w.tier.index.allowed.Load() + w.tier.index.wantsMemory()
		err = w.tier.Start(func(n int64) error {
			if n > left {
				return syscall.ENOMEM
			}
			left -= n
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		held.AwaitBlocked(1)
		for i := range keys {
			if err := w.delete(w.key(i)); err != nil {
				t.Fatal(err)
			}
		}
		if n := w.tier.index.len(); n == keys {
			t.Fatalf("there is room for all %d", n)
		}
		left = 1 << 20
		if err := w.tier.chargeMemory(256 << 10); err != nil {
			t.Fatal(err)
		}
		held.Remove()
		w.recovered()
		w.tier.restarting.Unlock()
		w.check(t, keys, false)
		w.close(t)
	})
}
