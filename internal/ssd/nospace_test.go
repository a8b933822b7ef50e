package ssd

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/ssd/index"
	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// Row 10: there is no space to begin with. RAM goes on alone; what the files
// held is dead; and when there is space, the tier begins.
func TestFault10NoSpace(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 100
		w, mem := started(t, 1, retryingConfig)
		w.fill(t, keys)
		w.close(t)
		mem.SetQuota(1<<20 + 100<<10)
		cfg := retryingConfig(mem, w)
		cfg.Bytes = 4 << 20 // more than there is
		told := tell(&cfg)
		w.reopen(t, cfg)
		if w.tier.Stats().Online {
			t.Fatal("on, without space")
		}
		w.deleteKeys(keys)
		w.checkKilled(t, mem, retryingConfig, keys, false)
		mem.SetQuota(16 << 20)
		w.untilOn()
		if lines := told.about("starts empty"); len(lines) != 1 || !strings.Contains(lines[0], "the file system was full") {
			t.Errorf("the log says %q", lines)
		}
		w.put(t, w.key(1))
		w.check(t, keys, true)
		w.restart(t, cfg)
		w.check(t, keys, true)
		w.close(t)
	})
}

// Row 10: the superblock cannot be written at Open, for there is no space. The tier is
// off, or, if the files say that there is data, it does not open.
func TestFault10NoSpaceForSuperblock(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 100
		for _, kept := range []bool{false, true} {
			w, mem := newWorld(t, 1), vfstest.NewMem()
			if kept {
				w.reopen(t, testConfig(mem, w))
				w.fill(t, keys)
				w.settle()
				w.close(t)
			}
			f := vfstest.NewFaulty(mem)
			full := f.Inject(vfstest.Rule{On: vfstest.OpWrite, Name: format.SuperblockName, Err: syscall.ENOSPC})
			err := w.open(testConfig(f, w))
			switch {
			case kept && !errors.Is(err, syscall.ENOSPC):
				t.Errorf("Open over data: %v", err)
			case !kept && (err != nil || w.tier.Stats().Online):
				t.Errorf("Open over nothing: %v", err)
			}
			full.Remove()
			if w.tier != nil {
				if err == nil {
					w.untilOn()
				}
				_ = w.tier.Close(background)
				w.tier.Free()
			}
			synctest.Wait()
			w.reopen(t, testConfig(mem, w))
			w.wantAll(t)
			w.close(t)
		}
	})
}

// Row 10: there is no space for the files of a killed cache, which are to be larger or
// not. The tier is off; what was left is gone; and it is on when there is space.
func TestFault10NoSpaceAfterKill(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 3000
		for _, memory := range []int64{1 << 20, 2 << 20} {
			w, mem := started(t, 1, testConfig)
			w.most = 50
			w.fill(t, keys)
			w.settle()
			id := w.tier.index.ID()
			h := w.heir()
			left := mem.CrashClone(nil, vfstest.Kill)
			f := vfstest.NewFaulty(left)
			full := f.Inject(vfstest.Rule{On: vfstest.OpAllocate, Err: syscall.ENOSPC})
			cfg := testConfig(f, h)
			cfg.Memory = memory
			h.reopen(t, cfg)
			if h.tier.Stats().Online {
				t.Fatal("on, without space")
			}
			if m, err := left.OpenMemory(id); err == nil {
				t.Error("the memory of a log that is not kept is still there")
				_ = m.Close()
			} else if errors.Is(err, vfs.ErrLocked) && memory > 1<<20 {
				t.Error("the memory of a log that is not kept is still open")
			}
			h.check(t, keys, false)
			full.Remove()
			h.untilOn()
			if used, least := h.tier.index.Used.Load(), index.MinBytes(len(h.tier.index.Shards)); used != least {
				t.Errorf("an empty index takes %d bytes, want %d", used, least)
			}
			h.there = map[string]uint64{}
			h.put(t, h.key(1))
			h.restart(t, testConfig(left, h))
			h.check(t, keys, true)
			h.close(t)
			w.close(t)
		}
	})
}
