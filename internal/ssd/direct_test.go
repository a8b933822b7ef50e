package ssd

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// falseDirect is a file system that takes direct I/O at Open, and fails it then.
type falseDirect struct{ vfs.FS }

type falseFile struct{ vfs.File }

func (f falseDirect) Open(name string, how vfs.How) (vfs.File, error) {
	file, err := f.FS.Open(name, how)
	if err == nil && how.Direct {
		file = falseFile{file}
	}
	return file, err
}

func (falseFile) ReadAt([]byte, int64) (int, error)  { return 0, syscall.EINVAL }
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
			if s := w.tier.Stats(); !s.On || s.Direct || s.WriteErrors > 0 {
				t.Errorf("%+v", s)
			}
			w.close(t)
			cfg := testConfig(fs, w)
			cfg.Direct = DirectOn
			tier, err := Open(cfg)
			if err == nil {
				_ = tier.Close()
			}
			if !errors.Is(err, vfs.ErrNoDirect) || !errors.Is(err, syscall.EINVAL) || !strings.Contains(err.Error(), "takes the flag") {
				t.Errorf("DirectOn: %v, want that there is no direct I/O, and why", err)
			}
		}
	})
}
