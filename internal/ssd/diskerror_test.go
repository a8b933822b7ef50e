package ssd

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// diskFault is a way for a disk to fail for a while.
type diskFault struct {
	name string
	rule vfstest.Rule
}

func diskFaults(err error) []diskFault {
	const writes, changes = vfstest.OpWrite, vfstest.OpWrite | vfstest.OpSync | vfstest.OpAllocate | vfstest.OpTruncate | vfstest.OpRename | vfstest.OpRemove | vfstest.OpSyncDir
	return []diskFault{
		{"a write of the log, once", vfstest.Rule{On: writes, Name: format.LogName, Times: 1}},
		{"a write of the log, twice", vfstest.Rule{On: writes, Name: format.LogName, Times: 2}},
		{"writes of the log", vfstest.Rule{On: writes, Name: format.LogName}},
		{"a range of the log", vfstest.Rule{On: writes, Name: format.LogName, From: 2 * format.MinSegment, To: 8 * format.MinSegment}},
		{"the ends of segments", vfstest.Rule{On: writes, Name: format.LogName, Match: func(op vfstest.Op) bool { return (op.Off+op.Len)%format.MinSegment == 0 }}},
		{"parts of writes of the log", vfstest.Rule{On: writes, Name: format.LogName, Partial: -1, Probability: 0.7}},
		{"all writes", vfstest.Rule{On: writes}},
		{"some writes", vfstest.Rule{On: writes, Probability: 0.2}},
		{"syncs", vfstest.Rule{On: vfstest.OpSync}},
		{"syncs of the log", vfstest.Rule{On: vfstest.OpSync, Name: format.LogName}},
		{"syncs of the superblock", vfstest.Rule{On: vfstest.OpSync, Name: "superblock"}},
		{"the snapshot's file", vfstest.Rule{On: vfstest.OpCreate, Name: format.SnapshotTempName}},
		{"writes of the snapshot", vfstest.Rule{On: writes, Name: format.SnapshotTempName}},
		{"renaming", vfstest.Rule{On: vfstest.OpRename}},
		{"removing", vfstest.Rule{On: vfstest.OpRemove}},
		{"allocation", vfstest.Rule{On: vfstest.OpAllocate}},
		{"the directory's sync", vfstest.Rule{On: vfstest.OpSyncDir}},
		{"all changes", vfstest.Rule{On: changes}},
		{"some changes", vfstest.Rule{On: changes, Probability: 0.1}},
		{"a read of the log, once", vfstest.Rule{On: vfstest.OpRead, Name: format.LogName, Times: 1}},
		{"reads of the log", vfstest.Rule{On: vfstest.OpRead, Name: format.LogName}},
		{"a range of reads", vfstest.Rule{On: vfstest.OpRead, Name: format.LogName, From: 3 * format.MinSegment, To: 6 * format.MinSegment}},
		{"some reads", vfstest.Rule{On: vfstest.OpRead, Probability: 0.2}},
		{"short reads", vfstest.Rule{On: vfstest.OpRead, Partial: -1, Probability: 0.2}},
		{"everything, now and then", vfstest.Rule{On: vfstest.OpAny &^ (vfstest.OpClose | vfstest.OpLock), Probability: 0.02}},
	}
}

// Rows 10 to 14: the disk fails, in many ways, while the tier works, closes and
// opens; its process dies; and then the disk works again.
func TestFault10to14Disk(t *testing.T) {
	t.Parallel()
	const keys = 200
	for _, failure := range []error{syscall.EIO, syscall.ENOSPC} {
		for i, fault := range diskFaults(failure) {
			if !*long && (i%5 == 0) != (failure == syscall.ENOSPC) { // each fault once
				continue
			}
			inBubble(t, fmt.Sprint(fault.name, ", ", failure), func(t *testing.T) {
				w, mem, f := startedFaulty(t, 1, retryingConfig)
				w.steps(t, 600, keys)
				w.written()
				fault.rule.Err = failure
				in, met := f.Inject(fault.rule), 0
				for range 3 {
					w.steps(t, 200, keys)
					w.checkKilled(t, mem, retryingConfig, keys, false) // it died meanwhile, and the disk works again
					_ = w.tier.Close(background)                       // may fail, as may Open
					w.tier.Free()
					w.crashed()
					if err := w.open(retryingConfig(f, w)); err != nil {
						if !errors.Is(err, failure) {
							t.Fatalf("Open: %v; want %v", err, failure)
						}
						met += in.Hits()
						in.Remove()
						w.reopen(t, retryingConfig(f, w))
						in = f.Inject(fault.rule)
					}
					w.check(t, keys, false)
				}
				w.steps(t, 200, keys)
				met += in.Hits()
				in.Remove()
				w.untilOn()
				w.steps(t, 600, keys)
				w.restart(t, retryingConfig(f, w))
				w.check(t, keys, true)
				w.close(t)
				if met == 0 {
					t.Error("nothing failed")
				}
			})
		}
	}
}

// failEach runs a scenario once for each of its operations of these kinds, or
// some of them, which fails, and fails again when it is tried again.
func failEach(t *testing.T, kinds vfstest.Kind, files *vfstest.Mem, err error, run func(f *vfstest.Faulty, mem *vfstest.Mem)) (n int) {
	rng := rand.New(rand.NewPCG(1, 1))
	for {
		mem := files.CrashClone(nil, vfstest.Kill)
		f := vfstest.NewFaulty(mem)
		in := f.Inject(vfstest.Rule{On: kinds, Skip: n, Times: 2, Err: err})
		run(f, mem)
		if in.Hits() == 0 {
			return n
		}
		if n < 30 { // of Open
			n += sized(2, 1)
		} else {
			n += 1 + rng.IntN(sized(24, 4))
		}
	}
}

// Row 13 and 10: each operation of Close fails. What was not synced counts as
// lost, also on a machine that goes down after.
func TestFault13Close(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 200
		w, files := settled(t, 3, keys, killed)
		rng := rand.New(rand.NewPCG(13, 13))
		var failed, warm int
		n := failEach(t, vfstest.OpAny&^vfstest.OpLock, files, syscall.EIO, func(f *vfstest.Faulty, mem *vfstest.Mem) {
			h := w.heir()
			if h.open(retryingConfig(f, h)) != nil {
				return // see TestFault40
			}
			if h.steps(t, 100, keys); h.tier.Close(background) != nil {
				failed++
			}
			h.tier.Free()
			for _, boot := range []string{"boot", "another boot"} {
				clone := mem.CrashClone(nil, vfstest.Kill)
				if boot != "boot" {
					clone = mem.CrashClone(rng, vfstest.PowerCut)
				}
				h2 := h.heirOf(t, clone, inBoot(retryingConfig, boot))
				h2.check(t, keys, false)
				if h2.hits > 0 {
					warm++
				}
				h2.close(t)
			}
		})
		t.Logf("%d operations; Close failed %d times; %d times something was found", n, failed, warm)
		if n < 50 || warm == 0 { // whether Close failed depends on whether the tier was off by then
			t.Fatal("want more")
		}
	})
}

// Row 13: a sync that failed is not tried again and believed. The files are
// those of a machine that goes down after a Close which said that it failed.
func TestFault13SyncFails(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 200
		for _, name := range []string{format.LogName, "superblock", format.SnapshotTempName} {
			w, mem, f := startedFaulty(t, 1, testConfig)
			w.steps(t, 2000, keys)
			f.Inject(vfstest.Rule{On: vfstest.OpSync, Name: name, Err: syscall.EIO, Times: 1})
			err := w.tier.Close(background)
			w.tier.Free()
			if err == nil {
				t.Fatalf("%s: Close: %v", name, err)
			}
			for seed := range uint64(10) {
				cut := mem.CrashClone(rand.New(rand.NewPCG(seed, 13)), vfstest.PowerCut)
				h := w.heirOf(t, cut, inBoot(testConfig, "another boot"))
				// The superblock's sync comes last: if it reached the device all the same,
				// so did everything else.
				if n := h.tier.Len(); n != 0 && name == format.LogName {
					t.Fatalf("%s: %d records that were not synced", name, n)
				}
				h.check(t, keys, false)
				h.close(t)
			}
			h := w.heirOf(t, mem, testConfig) // of the process alone: the index is in memory yet
			if h.check(t, keys, name != format.LogName); name == format.LogName && h.hits > 0 {
				t.Errorf("%s: %d records are believed", name, h.hits)
			}
			h.close(t)
		}
	})
}

// Row 15 and 17: no file can be opened, or one of them cannot: a clear error, no
// file left open, and no lock.
func TestFault15and17Open(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for _, failure := range []error{syscall.EACCES, syscall.EROFS, syscall.EMFILE, syscall.ENFILE, syscall.ENOENT, syscall.EIO} {
			w, mem := newWorld(t, 1), vfstest.NewMem()
			n := 0
			for ; ; n++ {
				f := vfstest.NewFaulty(mem)
				in := f.Inject(vfstest.Rule{On: vfstest.OpOpen | vfstest.OpCreate | vfstest.OpLock, Skip: n, Times: 1, Err: failure})
				err := w.open(testConfig(f, w))
				if in.Hits() == 0 {
					in.Remove()
					w.close(t)
					break
				}
				if !errors.Is(err, failure) {
					t.Fatalf("open %d: %v, want %v", n, err, failure)
				}
				var path *fs.PathError
				if !errors.As(err, &path) || path.Path == "" {
					t.Fatalf("open %d: %v: want an error that names the file", n, err)
				}
				wantNoOpenFiles(t, f)
			}
			if n < 4 {
				t.Fatalf("%d files are opened", n)
			}
		}
	})
}

// Row 40: each operation of Open and of the recovery fails. It opens or does not;
// the next Open, of a disk that works, does.
func TestFault40Recovery(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 200
		for _, end := range []ending{killed, closing} {
			w, files := settled(t, 4, keys, end)
			for _, failure := range []error{syscall.EIO, syscall.ENOSPC} {
				if !*long && (end == killed) != (failure == syscall.EIO) {
					continue
				}
				var failed, warm int
				n := failEach(t, vfstest.OpAny, files, failure, func(f *vfstest.Faulty, mem *vfstest.Mem) {
					h := w.heir()
					if err := h.open(retryingConfig(f, h)); err != nil {
						failed++
						if !errors.Is(err, failure) {
							t.Fatalf("Open: %v", err)
						}
						wantNoOpenFiles(t, f)
					} else {
						h.check(t, keys, false)
						h.steps(t, 50, keys)
					}
					h2 := h.heirOf(t, mem.CrashClone(nil, vfstest.Kill), retryingConfig)
					h2.check(t, keys, false)
					if h2.hits > 0 {
						warm++
					}
					h2.close(t)
					if h.tier != nil {
						_ = h.tier.Close(background)
						h.tier.Free()
					}
				})
				t.Logf("%s, %v: %d operations; Open failed %d times, the next found something %d times", end, failure, n, failed, warm)
				if n < 20 || warm == 0 {
					t.Fatal("want more")
				}
			}
		}
	})
}
