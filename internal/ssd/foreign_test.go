package ssd

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// A user's own files by the tier's names are not overwritten. The error names the
// file.
func TestForeignFiles(t *testing.T) {
	contents := map[string][]byte{
		"text":    []byte("2026-11-22 03:04:05 started\n"),
		"a byte":  {'x'},
		"numbers": {0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3},
		"an image": append(make([]byte, 200<<10), // of a disk that begins with nothing
			[]byte(strings.Repeat("data", 100))...),
	}
	for _, name := range []string{format.SuperblockName, format.LogName, format.SnapshotName, format.SnapshotTempName} {
		for what, content := range contents {
			for _, recovery := range []Recovery{RecoverSafe, RecoverNever} {
				t.Run(fmt.Sprintf("%s, %s, %d", name, what, recovery), func(t *testing.T) {
					w, mem := newWorld(t, 1), vfstest.NewMem()
					noError(t, mem.SetBytes(name, content))
					before := mem.Dump()
					cfg := testConfig(mem, w)
					cfg.Recovery = recovery
					err := w.open(cfg)
					if !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), name) {
						t.Errorf("Open: %v, want an error that names %s", err, name)
					}
					after := mem.Dump()
					delete(after, format.LockName)
					if !maps.EqualFunc(before, after, func(a, b []byte) bool { return string(a) == string(b) }) {
						t.Error("the directory was changed")
					}
					noError(t, mem.Remove(name))
					w.reopen(t, cfg) // the lock is free again
					w.close(t)
				})
			}
		}
	}
}

// A file by a name that only an earlier version used is the user's, unless the
// superblock is of that version.
func TestJournalOfTheUser(t *testing.T) {
	t.Parallel()
	w, mem := newWorld(t, 1), vfstest.NewMem()
	noError(t, mem.SetBytes("journal", []byte("Dear diary")))
	for _, recovery := range []Recovery{RecoverSafe, RecoverNever} {
		cfg := testConfig(mem, w)
		cfg.Recovery = recovery
		w.reopen(t, cfg)
		w.close(t)
		if b, err := mem.Bytes("journal"); string(b) != "Dear diary" {
			t.Errorf("the user's file is %q, %v", b, err)
		}
	}
}

// Whatever a crash leaves of the first Open, the next one knows it for its own.
func TestCrashInFirstOpen(t *testing.T) {
	crashes := 3 // for each boundary
	if invariants.Race {
		crashes = 1
	}
	for _, crash := range []vfstest.Crash{vfstest.Kill, vfstest.PowerCut} {
		rng := rand.New(rand.NewPCG(1, 1))
		mem := vfstest.NewMem()
		n := vfstest.EachBoundary(mem, func(fsys vfs.FS) {
			w := newWorld(t, 1)
			tier := mustOpen(t, smallConfig(fsys, w))
			tier.abandon()
		}, func(b vfstest.Boundary) {
			for range crashes {
				h := newWorld(t, 1)
				if err := h.open(smallConfig(b.Crash(rng, crash), h)); err != nil {
					t.Errorf("crash %d, %v: %v", crash, b, err)
					return
				}
				h.put(t, h.key(1))
				h.close(t)
			}
		})
		if n < 10 {
			t.Errorf("%d boundaries", n)
		}
	}
}
