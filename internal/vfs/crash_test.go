package vfs_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/firncache/firn/internal/vfs/vfstest"

	"github.com/firncache/firn/internal/vfs"
)

const (
	sector = 512
	page   = 4096
)

// powerCuts is how often tests look at what a power cut may leave. With these
// seeds everything that they wait for is seen.
const powerCuts = 400

// cuts calls look with what many power cuts leave of mem.
func cuts(mem *vfstest.Mem, look func(after *vfstest.Mem)) {
	for seed := range uint64(powerCuts) {
		look(mem.CrashClone(rand.New(rand.NewPCG(seed, 0)), vfstest.PowerCut))
	}
}

// bytesOf is a file's bytes, or "none".
func bytesOf(mem *vfstest.Mem, name string) string {
	b, err := mem.Bytes(name)
	if err != nil {
		return "none"
	}
	return string(b)
}

// synced makes a file that survives.
func synced(t *testing.T, mem *vfstest.Mem, name, content string) vfs.File {
	t.Helper()
	f := create(t, mem, name)
	write(t, f, 0, content)
	must(t, f.Sync())
	must(t, mem.SyncDir())
	return f
}

func TestKillKeepsWhatIsWritten(t *testing.T) {
	mem := vfstest.NewMem()
	f := synced(t, mem, "a", "old")
	write(t, f, 0, "new")
	must(t, create(t, mem, "b").Close())
	killed := mem.CrashClone(nil, vfstest.Kill)
	write(t, f, 0, "later")
	must(t, mem.Remove("b"))
	if got := bytesOf(killed, "a"); got != "new" {
		t.Errorf("killed: %q, want new", got)
	}
	wantList(t, killed, "a", "b")

	// It is written, and not synced.
	seen := map[string]bool{}
	cuts(killed, func(after *vfstest.Mem) { seen[bytesOf(after, "a")+" "+bytesOf(after, "b")] = true })
	for _, want := range []string{"old none", "new none", "old ", "new "} {
		if !seen[want] {
			t.Errorf("killed, and then the power cut: never %q, but %v", want, seen)
		}
	}
}

// Every sector holds one of its versions since the sync, and with enough power
// cuts every manner of mixing them is seen.
func TestPowerCutMixesVersions(t *testing.T) {
	mem := vfstest.NewMem()
	const pages = 16
	fill := func(c string) string { return strings.Repeat(c, pages*page) }
	f := synced(t, mem, "a", fill("0"))
	write(t, f, 0, fill("1"))
	write(t, f, 0, fill("2"))

	seen := map[string]bool{}
	prefixes := map[int]bool{}
	cuts(mem, func(after *vfstest.Mem) {
		b := bytesOf(after, "a")
		if len(b) != pages*page {
			t.Fatalf("%d bytes, want %d", len(b), pages*page)
		}
		var sectors []byte
		for s := range slices.Chunk([]byte(b), sector) {
			if strings.Trim(string(s), string(s[0])) != "" || s[0] < '0' || s[0] > '2' {
				t.Fatalf("a sector is torn, or foreign: %q", s)
			}
			sectors = append(sectors, s[0])
		}
		how := mixture(sectors)
		seen[how] = true
		if how == "a prefix" {
			prefixes[bytes.IndexByte(sectors, sectors[len(sectors)-1])] = true
		}
	})
	for _, want := range []string{"lost", "kept", "a prefix", "mixed pages", "mixed sectors"} {
		if !seen[want] {
			t.Errorf("never seen: %s", want)
		}
	}
	if len(prefixes) < 20 {
		t.Errorf("%d lengths of a torn write, want many", len(prefixes))
	}
}

// mixture names what became of two writes over sectors of '0'; mixed are those
// with sectors of all three.
func mixture(sectors []byte) string {
	wholePages := true
	for p := range slices.Chunk(sectors, page/sector) {
		wholePages = wholePages && strings.Trim(string(p), string(p[0])) == ""
	}
	runs := slices.Compact(bytes.Clone(sectors))
	all := bytes.ContainsRune(runs, '0') && bytes.ContainsRune(runs, '1') && bytes.ContainsRune(runs, '2')
	switch {
	case len(runs) == 1:
		return [...]string{"lost", "the first write", "kept"}[runs[0]-'0']
	case len(runs) == 2 && runs[0] == runs[1]+1:
		return "a prefix"
	case all && wholePages:
		return "mixed pages"
	case all:
		return "mixed sectors"
	}
	return "other"
}

// A later write may be there without an earlier one.
func TestPowerCutReordersWrites(t *testing.T) {
	mem := vfstest.NewMem()
	f := synced(t, mem, "a", strings.Repeat("0", 2*page))
	write(t, f, 0, "1")
	write(t, f, page, "1")
	seen := map[string]bool{}
	cuts(mem, func(after *vfstest.Mem) {
		b := bytesOf(after, "a")
		seen[b[:1]+b[page:page+1]] = true
	})
	for _, want := range []string{"00", "10", "01", "11"} {
		if !seen[want] {
			t.Errorf("never %s, but %v", want, seen)
		}
	}
}

func TestPowerCutLengths(t *testing.T) {
	mem := vfstest.NewMem()
	f := synced(t, mem, "a", "short")
	write(t, f, 5, strings.Repeat("x", 10_000))
	must(t, f.Truncate(7))
	seen := map[int]bool{}
	cuts(mem, func(after *vfstest.Mem) {
		b := bytesOf(after, "a")
		seen[len(b)] = true
		if !strings.HasPrefix(b, "short") || strings.Trim(b[5:], "x\x00") != "" {
			t.Fatalf("%d bytes: %q", len(b), b)
		}
		g := create(t, after, "a") // after the end there is nothing old
		must(t, g.Truncate(20_000))
		if end := contents(t, g)[len(b):]; strings.Trim(end, "\x00") != "" {
			t.Fatalf("%d bytes, extended: %q", len(b), end)
		}
	})
	for _, want := range []int{5, 7, 10_005} {
		if !seen[want] {
			t.Errorf("never %d bytes, but %v", want, seen)
		}
	}
}

func TestPowerCutDirectory(t *testing.T) {
	mem := vfstest.NewMem()
	must(t, synced(t, mem, "removed", "r").Close())
	must(t, synced(t, mem, "moved", "m").Close())
	must(t, synced(t, mem, "replaced", "old").Close())
	f := create(t, mem, "tmp")
	write(t, f, 0, "new")
	must(t, f.Sync())
	must(t, f.Close())
	must(t, mem.Remove("removed"))
	must(t, mem.Rename("moved", "here"))
	must(t, mem.Rename("tmp", "replaced"))

	seen := map[string]bool{}
	cuts(mem, func(after *vfstest.Mem) {
		removed, moved, here := bytesOf(after, "removed"), bytesOf(after, "moved"), bytesOf(after, "here")
		replaced, tmp := bytesOf(after, "replaced"), bytesOf(after, "tmp")
		seen["removed "+removed] = true
		seen["moved "+moved+here] = true
		seen["replaced "+replaced+tmp] = true
	})
	want := []string{"moved mnone", "moved nonem", "removed none", "removed r",
		"replaced newnone", // all
		"replaced oldnew",  // made, and not renamed
		"replaced oldnone", // nothing
	}
	var got []string
	for s := range seen {
		got = append(got, s)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("seen %q\nwant %q", got, want)
	}
}

// A file that was renamed twice has one name, and only one of its names.
func TestPowerCutRenamedTwice(t *testing.T) {
	mem := vfstest.NewMem()
	must(t, synced(t, mem, "a", "x").Close())
	must(t, mem.Rename("a", "b"))
	must(t, mem.Rename("b", "c"))
	seen := map[string]bool{}
	cuts(mem, func(after *vfstest.Mem) {
		names, err := after.List()
		must(t, err)
		if len(names) != 1 {
			t.Fatalf("found as %q", names)
		}
		seen[names[0]] = true
	})
	if len(seen) != 3 {
		t.Errorf("found as %v, want each of a, b and c", seen)
	}
}

// What a failed sync gave up is not kept by the next one.
func TestFailedSync(t *testing.T) {
	mem := vfstest.NewMem()
	must(t, synced(t, mem, "a", "old").Close())
	faulty := vfstest.NewFaulty(mem)
	f, err := faulty.Open("a", vfs.OpenOptions{})
	must(t, err)
	write(t, f, 0, "new")
	once := faulty.Inject(vfstest.Rule{On: vfstest.OpSync, Times: 1, Err: errIO})
	wantErr(t, f.Sync(), errIO)
	must(t, f.Sync())
	if got := contents(t, f); once.Hits() != 1 || got != "new" {
		t.Errorf("after %d failed syncs the file reads %q", once.Hits(), got)
	}
	lost := false
	cuts(mem, func(after *vfstest.Mem) { lost = lost || bytesOf(after, "a") == "old" })
	if !lost {
		t.Error("no power cut took what a failed sync gave up")
	}
	write(t, f, 0, "again") // dirty anew
	must(t, f.Sync())
	cuts(mem, func(after *vfstest.Mem) {
		if got := bytesOf(after, "a"); got != "again" {
			t.Fatalf("written and synced after the failure: %q", got)
		}
	})
}

// replaceFile is the usual way to change a small file; careless leaves one sync out.
func replaceFile(t *testing.T, fsys vfs.FS, content, careless string) {
	f := create(t, fsys, "tmp")
	write(t, f, 0, content)
	if careless != "no sync" {
		must(t, f.Sync())
	}
	must(t, f.Close())
	must(t, fsys.Rename("tmp", "a"))
	if careless != "no syncdir" {
		must(t, fsys.SyncDir())
	}
}

// The usual way survives every crash at every boundary, and each careless one is
// found out.
func TestEachBoundary(t *testing.T) {
	before, after := strings.Repeat("0", 3*sector), strings.Repeat("1", 5*sector)
	faults := func(careless string) (boundaries []string, faults []string) {
		mem := vfstest.NewMem()
		must(t, synced(t, mem, "a", before).Close())
		n := vfstest.EachBoundary(mem, func(fsys vfs.FS) { replaceFile(t, fsys, after, careless) }, func(b vfstest.Boundary) {
			boundaries = append(boundaries, b.String())
			fine := func(mem *vfstest.Mem, how string) {
				got := bytesOf(mem, "a")
				if got == after || got == before && b.Op.Kind != 0 {
					return
				}
				faults = append(faults, how+" at "+b.String())
			}
			fine(b.Crash(nil, vfstest.Kill), "kill")
			for seed := range uint64(50) {
				fine(b.Crash(rand.New(rand.NewPCG(seed, 0)), vfstest.PowerCut), "power cut")
			}
		})
		if n != len(boundaries) {
			t.Errorf("EachBoundary = %d, called %d times", n, len(boundaries))
		}
		return boundaries, faults
	}

	boundaries, found := faults("")
	if len(found) > 0 {
		t.Errorf("faults of the usual way: %q", found)
	}
	want := []string{
		"boundary 0: before operation 1, create tmp",
		"boundary 1: before operation 2, write tmp 0+2560",
		"boundary 2: 512 bytes into operation 2, write tmp 0+2560",
		"boundary 3: 1536 bytes into operation 2, write tmp 0+2560",
		"boundary 4: 2048 bytes into operation 2, write tmp 0+2560",
		"boundary 5: before operation 3, sync tmp",
		"boundary 6: before operation 5, rename tmp to a",
		"boundary 7: before operation 6, syncdir",
		"boundary 8: at the end",
	}
	if !slices.Equal(boundaries, want) {
		t.Errorf("boundaries:\n%s\nwant:\n%s", strings.Join(boundaries, "\n"), strings.Join(want, "\n"))
	}
	for careless, at := range map[string]string{
		"no sync":    "power cut at boundary 6: before operation 5, syncdir",
		"no syncdir": "power cut at boundary 7: at the end",
	} {
		if _, found := faults(careless); !slices.Contains(found, at) {
			t.Errorf("%s: not found at %q, but %q", careless, at, slices.Compact(found))
		}
	}
}

// Inside of a write, so many bytes of it are there, and no more.
func TestBoundaryTorn(t *testing.T) {
	mem := vfstest.NewMem()
	must(t, mem.SetBytes("a", bytes.Repeat([]byte{'0'}, 2000)))
	var torn []int
	run := func(fsys vfs.FS) {
		f := create(t, fsys, "a")
		write(t, f, 100, strings.Repeat("1", 1500))
		must(t, f.Close())
	}
	vfstest.EachBoundary(mem, run, func(b vfstest.Boundary) {
		if b.Torn == 0 {
			return
		}
		torn = append(torn, b.Torn)
		want := strings.Repeat("0", 100) + strings.Repeat("1", b.Torn) + strings.Repeat("0", 1900-b.Torn)
		if got := bytesOf(b.Crash(nil, vfstest.Kill), "a"); got != want {
			t.Errorf("%v: %q", b, got)
		}
	})
	if want := []int{412, 924, 1436}; !slices.Equal(torn, want) {
		t.Errorf("torn at %v, want %v", torn, want)
	}
}
