package ssd

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// hybrid is a small cache over a directory.
func hybrid(t testing.TB, dir string) *firn.Cache {
	t.Helper()
	fs, err := vfs.OS(dir)
	if err != nil {
		t.Fatal(err)
	}
	return harness.HybridOn(t, fs)
}

// More than fits into RAM is all there, also after closing and opening again.
func TestHybrid(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fs := vfstest.NewMem()
		c := harness.HybridOn(t, fs)
		n := 6_000
		if invariants.Race { // where bytes move by atomic words
			n = 4_000
		}
		for i := range n {
			key, value := harness.Numbered(i)
			harness.Set(t, c, key, value)
		}
		if missing := harness.CountMissing(t, c, n); missing > 0 {
			t.Fatalf("%d of %d are missing: %+v", missing, n, c.Stats())
		}
		if int(c.Stats().SSD.Entries) < n/2 {
			t.Fatalf("too little is on the SSD: %+v", c.Stats())
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		c = harness.HybridOn(t, fs)
		if missing := harness.CountMissing(t, c, n); missing > 0 {
			t.Fatalf("%d of %d are missing after Close and Open: %+v", missing, n, c.Stats())
		}
		if _, err := firn.Open(harness.HybridOptions(fs)); !errors.Is(err, firn.ErrLocked) {
			t.Fatalf("second Open: %v, want ErrLocked", err)
		}
		emptied(t, c, n)
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// emptied deletes one of at most n numbered entries, then all.
func emptied(t *testing.T, c *firn.Cache, n int) {
	t.Helper()
	there := 0
	for i := range n {
		if key, _ := harness.Numbered(i); c.Has(key) {
			there++
		}
	}
	key, _ := harness.Numbered(1)
	if err := c.Delete(key); err != nil {
		t.Fatal(err)
	}
	if c.Has(key) {
		t.Fatal("deleted, and still there")
	}
	seen := map[string]bool{}
	for k := range c.All() {
		seen[string(k)] = true
	}
	if len(seen) != there-1 {
		t.Fatalf("All yields %d keys, want %d", len(seen), there-1)
	}
	if err := c.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := c.Len(); n != 0 {
		t.Fatalf("%d entries after Clear", n)
	}
}

// What RAM holds at Close is there at the next Open, read or not, on a real disk
// and in a bubble.
func TestCloseSavesRAM(t *testing.T) {
	t.Parallel()
	disk, err := vfs.OS(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	closeSavesRAM(t, disk)
	synctest.Test(t, func(t *testing.T) { closeSavesRAM(t, vfstest.NewMem()) })
}

func closeSavesRAM(t *testing.T, fs vfs.FS) {
	t.Helper()
	opts := harness.HybridOptions(fs)
	opts.SSD.Admission = firn.AdmitRead
	c, err := firn.Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	const n = 500
	for i := range n {
		key, value := harness.Numbered(i)
		harness.Set(t, c, key, value)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if c, err = firn.Open(opts); err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if missing := harness.CountMissing(t, c, n); missing > 0 {
		t.Fatalf("%d of %d are missing: %+v", missing, n, c.Stats())
	}
}
