package firn_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/ssd"
)

func hybrid(t testing.TB, dir string) *firn.Cache {
	t.Helper()
	c, err := firn.Open(firn.Options{RAMBytes: 1 << 20, SSD: firn.SSDOptions{Dir: dir, Bytes: 64 << 20, Admission: firn.AdmitAll}.With(patiently)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// patiently makes writes wait for a disk that is behind for as long as it takes:
// on a busy machine it may be for longer than they wait otherwise, and what leaves
// RAM then is dropped. It is for tests in which all that was set has to be found.
func patiently(c *ssd.Config) { c.Throttle, c.Patience = time.Minute, time.Minute }

func numbered(i int) (key, value []byte) {
	return fmt.Appendf(nil, "key-%06d", i), fmt.Appendf(nil, "value of %d, %0300d", i, i)
}

// Ten times what fits into RAM is all there, also after closing and opening
// again.
func TestHybrid(t *testing.T) {
	dir := t.TempDir()
	c := hybrid(t, dir)
	const n = 6_000
	for i := range n {
		key, value := numbered(i)
		if err := c.Set(key, value); err != nil {
			t.Fatal(err)
		}
	}
	check := func(c *firn.Cache) {
		t.Helper()
		missing := 0
		for i := range n {
			key, want := numbered(i)
			v, ok := c.Get(nil, key)
			if !ok {
				missing++
			} else if string(v) != string(want) {
				t.Fatalf("%s: %s", key, v)
			}
		}
		if missing > 0 {
			t.Fatalf("%d of %d are missing: %+v", missing, n, c.Stats())
		}
	}
	check(c)
	var b firn.Batch
	for i := 0; i < n; i += 100 {
		keys := make([][]byte, 100)
		for k := range keys {
			keys[k], _ = numbered(i + k)
		}
		c.GetMulti(&b, keys)
		for k := range keys {
			_, want := numbered(i + k)
			if v, ok := b.Value(k); !ok || string(v) != string(want) {
				t.Fatalf("GetMulti: %s: %s, %v", keys[k], v, ok)
			}
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	c = hybrid(t, dir)
	t.Logf("opened in %v", time.Since(start))
	check(c)
	if _, err := firn.Open(firn.Options{RAMBytes: 1 << 20, SSD: firn.SSDOptions{Dir: dir, Bytes: 64 << 20}}); !errors.Is(err, firn.ErrLocked) {
		t.Fatalf("second Open: %v, want ErrLocked", err)
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
	if len(seen) != n-1 {
		t.Fatalf("All yields %d keys, want %d", len(seen), n-1)
	}
	if err := c.Clear(); err != nil {
		t.Fatal(err)
	}
	if n := c.Len(); n != 0 {
		t.Fatalf("%d entries after Clear", n)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

// What RAM holds at Close is there at the next Open, read or not.
func TestCloseSavesRAM(t *testing.T) {
	opts := firn.Options{RAMBytes: 1 << 20, SSD: firn.SSDOptions{Dir: t.TempDir(), Bytes: 16 << 20, Admission: firn.AdmitRead}.With(patiently)}
	c, err := firn.Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	const n = 500
	for i := range n {
		key, value := numbered(i)
		if err := c.Set(key, value); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if c, err = firn.Open(opts); err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for i := range n {
		key, want := numbered(i)
		if v, ok := c.Get(nil, key); !ok || string(v) != string(want) {
			t.Fatalf("%s: %q, %v", key, v, ok)
		}
	}
}
