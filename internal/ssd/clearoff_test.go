package ssd

import (
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/vfs"
)

// Row 16: nor does Clear wait for ever when the tier is off, or is switched off by
// what Clear finds, and the disk then does nothing.
func TestFault16ClearOff(t *testing.T) {
	for name, off := range map[string]bool{"off": true, "switched off": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 1)
				mem := vfs.NewMem()
				f := vfs.NewFaulty(mem)
				cfg := testConfig(f, w)
				cfg.Patience, cfg.HealEvery = time.Second, time.Hour
				w.reopen(t, cfg)
				w.put(t, w.key(1))
				failing := f.Inject(vfs.Rule{On: vfs.OpWrite, Name: superBlockOf, Err: syscall.EIO, Times: 1})
				stuck := f.Inject(vfs.Rule{On: vfs.OpWrite, Name: superBlockOf, Block: true, Skip: 1})
				if off {
					w.tier.switchOff(syscall.EIO) // and cannot be made void
					synctest.Wait()
				}
				began := time.Now()
				cleared := make(chan error, 1)
				go func() { cleared <- w.tier.Clear() }()
				synctest.Wait()
				time.Sleep(5 * cfg.Patience) // the log may yet be written meanwhile
				synctest.Wait()
				if len(cleared) == 0 {
					t.Errorf("Clear waits after %v", time.Since(began))
				} else if err := <-cleared; err == nil {
					t.Error("Clear: nil, while nothing says on the disk that it was cleared")
				}
				failing.Remove()
				stuck.Remove()
				synctest.Wait()
				w.tier.loose.Wait()
				w.checkKilled(t, mem, testConfig, 5, false)
				w.close(t)
			})
		})
	}
}
