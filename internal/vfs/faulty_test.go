package vfs_test

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/vfs/vfstest"

	"github.com/firncache/firn/internal/vfs"
)

const errIO = syscall.EIO

// touch does every operation once on the file a, and returns the errors by kind.
func touch(fsys vfs.FS) map[vfstest.Kind]error {
	errs := map[vfstest.Kind]error{}
	f, err := fsys.Open("a", vfs.OpenOptions{Create: true})
	errs[vfstest.OpCreate] = err
	if err == nil {
		_, errs[vfstest.OpWrite] = f.WriteAt([]byte("hello"), 0)
		_, errs[vfstest.OpRead] = f.ReadAt(make([]byte, 5), 0)
		errs[vfstest.OpSync] = f.Sync()
		errs[vfstest.OpTruncate] = f.Truncate(5)
		errs[vfstest.OpAllocate] = f.Allocate(5)
		errs[vfstest.OpClose] = f.Close()
	}
	g, err := fsys.Open("a", vfs.OpenOptions{})
	errs[vfstest.OpOpen] = err
	if err == nil {
		_ = g.Close()
	}
	lock, err := fsys.Lock("LOCK")
	errs[vfstest.OpLock] = err
	if err == nil {
		_ = lock.Close()
	}
	errs[vfstest.OpRename] = fsys.Rename("a", "b")
	errs[vfstest.OpRemove] = fsys.Remove("LOCK")
	_, errs[vfstest.OpList] = fsys.List()
	errs[vfstest.OpSyncDir] = fsys.SyncDir()
	_, errs[vfstest.OpFree] = fsys.Free()
	touchMemory(fsys, errs)
	return errs
}

// touchMemory does the operations of memory that outlives the process.
func touchMemory(fsys vfs.FS, errs map[vfstest.Kind]error) {
	keeper, _ := fsys.(vfs.MemoryKeeper)
	m, err := keeper.NewMemory(100)
	if errs[vfstest.OpNewMemory] = err; err != nil {
		return
	}
	_ = m.Close()
	m, err = keeper.OpenMemory(m.ID())
	if errs[vfstest.OpOpenMemory] = err; err == nil {
		errs[vfstest.OpRemoveMemory] = m.Remove()
	}
}

// A rule for one kind of operation meets that and no other.
func TestFaultyEveryKind(t *testing.T) {
	kinds := 0
	for kind := range touch(vfstest.NewMem()) {
		kinds++
		faulty := vfstest.NewFaulty(vfstest.NewMem())
		must(t, create(t, faulty, "LOCK").Close())
		f := create(t, faulty, "a")
		write(t, f, 0, "hello")
		must(t, f.Close())
		before := faulty.Count(kind, "")
		in := faulty.Inject(vfstest.Rule{On: kind, Err: syscall.EMFILE})
		for other, err := range touch(faulty) {
			if other == kind {
				var path *fs.PathError
				if !errors.Is(err, syscall.EMFILE) || !errors.As(err, &path) || path.Op != kind.String() {
					t.Errorf("%v: error %v", kind, err)
				}
			} else if err != nil {
				t.Errorf("rule for %v: %v fails too: %v", kind, other, err)
			}
		}
		if in.Hits() == 0 || in.Hits() != faulty.Count(kind, "")-before {
			t.Errorf("%v: %d hits, %d operations", kind, in.Hits(), faulty.Count(kind, "")-before)
		}
		in.Remove()
		for other, err := range touch(faulty) {
			if err != nil {
				t.Errorf("rule for %v removed: %v: %v", kind, other, err)
			}
		}
	}
	if want := len(strings.Split(vfstest.OpAny.String(), "|")); kinds != want {
		t.Errorf("%d kinds tested, there are %d", kinds, want)
	}
}

// hitsOf writes one byte at 0, 100, 200 and so on to 900, and returns which writes failed.
func hitsOf(t *testing.T, faulty *vfstest.Faulty, name string) (failed []int) {
	t.Helper()
	f := create(t, faulty, name)
	defer f.Close()
	for i := range 10 {
		if _, err := f.WriteAt([]byte("x"), int64(100*i)); err != nil {
			failed = append(failed, i)
		}
	}
	return failed
}

func TestFaultyConditions(t *testing.T) {
	for name, test := range map[string]struct {
		rule vfstest.Rule
		want []int
	}{
		"all":         {vfstest.Rule{}, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
		"kinds":       {vfstest.Rule{On: vfstest.OpRead | vfstest.OpSync}, nil},
		"name":        {vfstest.Rule{Name: "data-?"}, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
		"other name":  {vfstest.Rule{Name: "log"}, nil},
		"range":       {vfstest.Rule{From: 100, To: 301}, []int{1, 2, 3}},
		"to the end":  {vfstest.Rule{From: 701}, []int{8, 9}},
		"to":          {vfstest.Rule{To: 100}, []int{0}},
		"match":       {vfstest.Rule{Match: func(op vfstest.Op) bool { return op.Off%300 == 0 }}, []int{0, 3, 6, 9}},
		"nth":         {vfstest.Rule{Skip: 3, Times: 1}, []int{3}},
		"skip":        {vfstest.Rule{Skip: 8}, []int{8, 9}},
		"times":       {vfstest.Rule{Times: 2}, []int{0, 1}},
		"nth matched": {vfstest.Rule{From: 500, Skip: 1, Times: 2}, []int{6, 7}},
	} {
		faulty := vfstest.NewFaulty(vfstest.NewMem())
		test.rule.Err = errIO
		if test.rule.On == 0 {
			test.rule.On = vfstest.OpWrite
		}
		in := faulty.Inject(test.rule)
		if got := hitsOf(t, faulty, "data-1"); !slices.Equal(got, test.want) || in.Hits() != len(test.want) {
			t.Errorf("%s: writes %v failed, %d hits, want %v", name, got, in.Hits(), test.want)
		}
	}
}

func TestFaultyProbability(t *testing.T) {
	run := func(seed uint64) (failed []int) {
		faulty := vfstest.NewFaulty(vfstest.NewMem())
		faulty.Seed(seed)
		faulty.Inject(vfstest.Rule{On: vfstest.OpWrite, Probability: 0.5, Err: errIO})
		for range 10 {
			failed = append(failed, len(hitsOf(t, faulty, "a")))
		}
		return failed
	}
	if a, b := run(1), run(1); !slices.Equal(a, b) {
		t.Errorf("one seed, two results: %v, %v", a, b)
	}
	if a, b := run(1), run(2); slices.Equal(a, b) {
		t.Errorf("two seeds, one result: %v", a)
	}
	sum := 0
	for _, n := range run(3) {
		sum += n
	}
	if sum < 25 || sum > 75 {
		t.Errorf("%d of 100 writes failed, at a probability of a half", sum)
	}
}

func TestFaultyFirstErrorCounts(t *testing.T) {
	faulty := vfstest.NewFaulty(vfstest.NewMem())
	first := faulty.Inject(vfstest.Rule{On: vfstest.OpSyncDir, Times: 1, Err: syscall.ENOSPC})
	faulty.Inject(vfstest.Rule{On: vfstest.OpSyncDir, Err: syscall.EROFS})
	if err := faulty.SyncDir(); !vfs.NoSpace(err) {
		t.Errorf("error %v, want no space", err)
	}
	wantErr(t, faulty.SyncDir(), syscall.EROFS)
	first.Remove()
	wantErr(t, faulty.SyncDir(), syscall.EROFS)
}

func TestFaultyPartial(t *testing.T) {
	mem := vfstest.NewMem()
	faulty := vfstest.NewFaulty(mem)
	must(t, mem.SetBytes("a", []byte("0000000000")))
	f := create(t, faulty, "a")
	torn := faulty.Inject(vfstest.Rule{On: vfstest.OpWrite, Partial: 3, Err: syscall.ENOSPC})
	if n, err := f.WriteAt([]byte("1111111111"), 0); n != 3 || !vfs.NoSpace(err) {
		t.Errorf("WriteAt = %d, %v, want 3 and no space", n, err)
	}
	torn.Remove()
	if got := bytesOf(mem, "a"); got != "1110000000" {
		t.Errorf("the file holds %q", got)
	}
	short := faulty.Inject(vfstest.Rule{On: vfstest.OpRead, Partial: 4})
	buf := make([]byte, 10)
	if n, err := f.ReadAt(buf, 0); n != 4 || !errors.Is(err, errIO) || string(buf) != "1110\x00\x00\x00\x00\x00\x00" {
		t.Errorf("ReadAt = %d, %v, %q, want 4 and EIO", n, err, buf)
	}
	short.Remove()
	must(t, f.Close())
}

// Any number of sectors of a write, in units of the file's alignment.
func TestFaultyPartialAny(t *testing.T) {
	mem := vfstest.NewMem()
	mem.SetDirect(1024)
	faulty := vfstest.NewFaulty(mem)
	faulty.Inject(vfstest.Rule{On: vfstest.OpWrite, Partial: -1})
	f, err := faulty.Open("a", vfs.OpenOptions{Create: true, Direct: true})
	must(t, err)
	p := vfs.Aligned(4096, 1024)
	seen := map[int]bool{}
	for range 200 {
		n, err := f.WriteAt(p, 0)
		wantErr(t, err, errIO)
		seen[n] = true
	}
	if len(seen) != 5 || !seen[0] || !seen[1024] || !seen[2048] || !seen[3072] || !seen[4096] {
		t.Errorf("lengths %v, want 0 to 4096 in steps of 1024", seen)
	}
}

func TestFaultyMangle(t *testing.T) {
	mem := vfstest.NewMem()
	faulty := vfstest.NewFaulty(mem)
	must(t, mem.SetBytes("a", []byte("hello")))
	f := create(t, faulty, "a")
	in := faulty.Inject(vfstest.Rule{On: vfstest.OpRead, Mangle: func(op vfstest.Op, p []byte) { p[0] ^= 0x20 }})
	if got := contents(t, f); got != "Hello" {
		t.Errorf("read %q, want Hello", got)
	}
	in.Remove()
	if got := contents(t, f); got != "hello" {
		t.Errorf("read %q, want hello", got)
	}
}

func TestFaultyDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		faulty := vfstest.NewFaulty(vfstest.NewMem())
		faulty.Inject(vfstest.Rule{On: vfstest.OpSyncDir, Delay: 3 * time.Second})
		start := time.Now()
		must(t, faulty.SyncDir())
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("took %v, want 3s", took)
		}
	})
}

// Stuck operations hold nobody else, and go on when they are released.
func TestFaultyBlock(t *testing.T) {
	faulty := vfstest.NewFaulty(vfstest.NewMem())
	stuck, other := create(t, faulty, "stuck"), create(t, faulty, "other")
	in := faulty.Inject(vfstest.Rule{Name: "stuck", Block: true})
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Go(func() {
			if _, err := stuck.WriteAt([]byte("x"), int64(i)); err != nil {
				t.Error(err)
			}
		})
	}
	in.AwaitBlocked(3)
	write(t, other, 0, "free")
	if size, _ := stuck.Size(); size != 0 {
		t.Errorf("a stuck write was done: %d bytes", size)
	}
	if got := strings.Count(faulty.Log(), "write stuck 0+1 ..."); got != 1 {
		t.Errorf("the log does not show the stuck write:\n%s", faulty.Log())
	}
	in.Release()
	wg.Wait()
	wantSize(t, stuck, 3)
	write(t, stuck, 3, "x") // holds no more
	if in.Hits() != 4 {
		t.Errorf("%d hits, want 4", in.Hits())
	}
}

// A removed rule lets go what it holds, and a held operation can fail afterwards.
func TestFaultyBlockThenFail(t *testing.T) {
	faulty := vfstest.NewFaulty(vfstest.NewMem())
	in := faulty.Inject(vfstest.Rule{On: vfstest.OpSyncDir, Block: true, Err: errIO})
	errs := make(chan error)
	go func() { errs <- faulty.SyncDir() }()
	in.AwaitBlocked(1)
	in.Remove()
	wantErr(t, <-errs, errIO)
	must(t, faulty.SyncDir())
}

// The hook stands at the boundary: before the operation, and free to do others.
func TestFaultyHook(t *testing.T) {
	mem := vfstest.NewMem()
	faulty := vfstest.NewFaulty(mem)
	f := create(t, faulty, "a")
	write(t, f, 0, "old")
	var before string
	var op vfstest.Op
	in := faulty.Inject(vfstest.Rule{On: vfstest.OpWrite, Hook: func(o vfstest.Op) {
		op, before = o, contents(t, f)
	}})
	write(t, f, 1, "new")
	in.AwaitHits(1)
	if before != "old" || op.Kind != vfstest.OpWrite || op.Name != "a" || op.Off != 1 || op.Len != 3 {
		t.Errorf("before %+v the file read %q", op, before)
	}
	if got := contents(t, f); got != "onew" {
		t.Errorf("afterwards %q", got)
	}
}

func TestFaultyCountsAndLog(t *testing.T) {
	faulty := vfstest.NewFaulty(vfstest.NewMem())
	a, b := create(t, faulty, "a"), create(t, faulty, "b")
	write(t, a, 10, "hello")
	faulty.Inject(vfstest.Rule{On: vfstest.OpRename, Err: syscall.EACCES})
	_ = faulty.Rename("a", "c")
	must(t, b.Allocate(100))
	if got := faulty.OpenFiles(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("open files %q", got)
	}
	must(t, a.Close())
	if got := faulty.OpenFiles(); !slices.Equal(got, []string{"b"}) || faulty.PeakOpenFiles() != 2 {
		t.Errorf("open files %q, at most %d", got, faulty.PeakOpenFiles())
	}
	must(t, b.Close())
	_, _ = faulty.List()
	want := "     1 create a\n     2 create b\n     3 write a 10+5\n     4 rename a to c: rename a: permission denied\n" +
		"     5 allocate b 100\n     6 close a\n     7 close b\n     8 list\n"
	if got := faulty.Log(); got != want {
		t.Errorf("log:\n%s\nwant:\n%s", got, want)
	}
	for _, c := range []struct {
		kinds vfstest.Kind
		name  string
		want  int
	}{
		{vfstest.OpAny, "", 8}, {vfstest.OpCreate, "", 2}, {vfstest.OpCreate, "a", 1}, {vfstest.OpCreate | vfstest.OpWrite, "a", 2},
		{vfstest.OpRename, "a", 1}, {vfstest.OpRead, "", 0}, {vfstest.OpChange, "", 5},
	} {
		if got := faulty.Count(c.kinds, c.name); got != c.want {
			t.Errorf("Count(%v, %q) = %d, want %d", c.kinds, c.name, got, c.want)
		}
	}
	for range 3000 {
		_ = faulty.SyncDir()
	}
	if lines := strings.Split(strings.TrimSpace(faulty.Log()), "\n"); len(lines) != 1000 || strings.TrimSpace(lines[0]) != "2009 syncdir" {
		t.Errorf("%d lines, the first %q", len(lines), lines[0])
	}
}
