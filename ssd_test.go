package firn_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/vfs/vfstest"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/ssd"
	"github.com/firncache/firn/internal/vfs"
)

// hybrid is a small cache over a directory.
func hybrid(t testing.TB, dir string) *firn.Cache {
	t.Helper()
	fs, err := vfs.OS(dir)
	if err != nil {
		t.Fatal(err)
	}
	return hybridOn(t, fs)
}

func hybridOn(t testing.TB, fs vfs.FS) *firn.Cache {
	t.Helper()
	c, err := firn.Open(hybridOptions(fs))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// hybridOptions have a clock, as a cache in a bubble needs.
func hybridOptions(fs vfs.FS) firn.Options {
	return firn.Options{RAMBytes: 1 << 20, Clock: time.Now, SSD: firn.SSDOptions{Bytes: 16 << 20, Admission: firn.AdmitAll}.On(fs).With(patiently)}
}

// patiently makes writes wait for a disk that is behind for as long as it takes:
// on a busy machine it may be for longer than they wait otherwise, and what leaves
// RAM then is dropped. It is for tests in which all that was set has to be found.
func patiently(c *ssd.Config) { c.MaxWriteStall, c.StallTimeout = time.Minute, time.Minute }

func numbered(i int) (key, value []byte) {
	return fmt.Appendf(nil, "key-%06d", i), fmt.Appendf(nil, "value of %d, %0300d", i, i)
}

// More than fits into RAM is all there, also after closing and opening again.
func TestHybrid(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fs := vfstest.NewMem()
		c := hybridOn(t, fs)
		n := 6_000
		if invariants.Race { // where bytes move by atomic words
			n = 4_000
		}
		for i := range n {
			key, value := numbered(i)
			set(t, c, key, value)
		}
		if missing := countMissing(t, c, n); missing > 0 {
			t.Fatalf("%d of %d are missing: %+v", missing, n, c.Stats())
		}
		if int(c.Stats().SSD.Entries) < n/2 {
			t.Fatalf("too little is on the SSD: %+v", c.Stats())
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		c = hybridOn(t, fs)
		if missing := countMissing(t, c, n); missing > 0 {
			t.Fatalf("%d of %d are missing after Close and Open: %+v", missing, n, c.Stats())
		}
		if _, err := firn.Open(hybridOptions(fs)); !errors.Is(err, firn.ErrLocked) {
			t.Fatalf("second Open: %v, want ErrLocked", err)
		}
		emptied(t, c, n)
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// countMissing looks for the first n numbered entries, one by one and in batches.
func countMissing(t *testing.T, c *firn.Cache, n int) (missing int) {
	t.Helper()
	check := func(i int, v []byte, ok bool) {
		t.Helper()
		if key, want := numbered(i); !ok {
			missing++
		} else if string(v) != string(want) {
			t.Fatalf("%s: %s", key, v)
		}
	}
	for i := range n {
		key, _ := numbered(i)
		v, ok := c.Get(nil, key)
		check(i, v, ok)
	}
	var b firn.Batch
	alone := missing
	for i := 0; i < n; i += 50 {
		keys := make([][]byte, 50)
		for k := range keys {
			keys[k], _ = numbered(i + k)
		}
		c.GetMulti(&b, keys)
		for k := range keys {
			v, ok := b.Value(k)
			check(i+k, v, ok)
		}
	}
	return max(alone, missing-alone)
}

// emptied deletes one of at most n numbered entries, then all.
func emptied(t *testing.T, c *firn.Cache, n int) {
	t.Helper()
	there := 0
	for i := range n {
		if key, _ := numbered(i); c.Has(key) {
			there++
		}
	}
	key, _ := numbered(1)
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
	if err := c.Clear(); err != nil {
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
	opts := hybridOptions(fs)
	opts.SSD.Admission = firn.AdmitRead
	c, err := firn.Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	const n = 500
	for i := range n {
		key, value := numbered(i)
		set(t, c, key, value)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if c, err = firn.Open(opts); err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if missing := countMissing(t, c, n); missing > 0 {
		t.Fatalf("%d of %d are missing: %+v", missing, n, c.Stats())
	}
}
