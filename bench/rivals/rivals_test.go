package rivals

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

// configs are the sizes that give a rival's forms: both arrays, arrays as keys
// of slices, strings, and the case where a rival knows only its budget.
var configs = []Config{
	{Entries: 1000, KeySize: 16, ValueSize: 64, Bytes: 32 << 20},
	{Entries: 1000, KeySize: 4, ValueSize: 4, Bytes: 32 << 20},
	{Entries: 1000, KeySize: 16, ValueSize: 1024, Bytes: 64 << 20},
	{Entries: 1000, KeySize: 11, ValueSize: 100, Bytes: 64 << 20},
	{KeySize: 16, ValueSize: 3000, Bytes: 128 << 20},
	{Bytes: 128 << 20},
	{Bytes: 128 << 20, EntryTTLs: true},
}

func name(c Config) string {
	return fmt.Sprintf("n=%d,key=%d,value=%d", c.Entries, c.KeySize, c.ValueSize)
}

// pairOf returns the i-th key and value of the config's sizes, in slices that
// the caller may overwrite. Where sizes are free, they differ.
func pairOf(c Config, i, version int) (key, value []byte) {
	keySize, valueSize := c.KeySize, c.ValueSize
	if keySize == 0 {
		keySize = 8 + i%9
	}
	if valueSize == 0 {
		valueSize = 4 + i*37%3000
	}
	key = fmt.Appendf(nil, "%0*x", keySize, i)
	value = bytes.Repeat(fmt.Appendf(nil, "%02x%02x", i%251, version), valueSize/4+1)[:valueSize]
	return key, value
}

// forEach opens every rival that can hold the config's sizes.
func forEach(t *testing.T, test func(t *testing.T, r Rival, cfg Config, c Cache)) {
	for _, r := range All {
		for _, cfg := range configs {
			form := cfg.form()
			if r.Fixed && form != arrays4 && form != arrays16 {
				continue
			}
			t.Run(r.Name+"/"+name(cfg), func(t *testing.T) {
				c, err := r.Open(cfg)
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				test(t, r, cfg, c)
			})
		}
	}
}

// store sets all entries of a version, and overwrites the slices it passed.
func store(t *testing.T, cfg Config, c Cache, n, version int) {
	t.Helper()
	for i := range n {
		key, value := pairOf(cfg, i, version)
		for try := 0; !c.Set(key, value); try++ {
			if try == 100 {
				t.Fatalf("Set of entry %d was refused %d times", i, try)
			}
			c.Wait()
		}
		clear(key)
		clear(value)
	}
	c.Wait()
}

// wantVersion reads all entries: each is of the version, or missing. It
// returns how many were missing.
func wantVersion(t *testing.T, cfg Config, c Cache, n, version int) (missing int) {
	t.Helper()
	buf := make([]byte, 0, 4096)
	for i := range n {
		key, want := pairOf(cfg, i, version)
		got, ok := c.Get(buf, key)
		if !ok {
			missing++
		} else if !bytes.Equal(got, want) {
			t.Fatalf("entry %d: got %d bytes %.20q; expected %d bytes %.20q", i, len(got), got, len(want), want)
		}
	}
	return missing
}

func TestStoresAndReturns(t *testing.T) {
	const n = 1000
	forEach(t, func(t *testing.T, r Rival, cfg Config, c Cache) {
		if got := wantVersion(t, cfg, c, n, 0); got != n {
			t.Fatalf("%d of %d entries missing from an empty cache", got, n)
		}
		for version := range 3 {
			store(t, cfg, c, n, version)
			if missing := wantVersion(t, cfg, c, n, version); missing > 0 {
				t.Fatalf("version %d: %d of %d entries missing; there is room for all", version, missing, n)
			}
		}
		for i := range n {
			key, _ := pairOf(cfg, i, 0)
			c.Delete(key)
		}
		c.Wait()
		if missing := wantVersion(t, cfg, c, n, 2); missing != n {
			t.Fatalf("%d of %d entries missing after all were deleted", missing, n)
		}
	})
}

// TestLoadIsComplete holds Config.room and the budgets to their word at a size
// where shards fill unevenly.
func TestLoadIsComplete(t *testing.T) {
	const n = 50_000
	for _, r := range All {
		t.Run(r.Name, func(t *testing.T) {
			cfg := Config{Entries: n, KeySize: 16, ValueSize: 64, Bytes: n*104*3/2 + 64<<20}
			c, err := r.Open(cfg)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			store(t, cfg, c, n, 0)
			if missing := wantVersion(t, cfg, c, n, 0); missing > n/1000 {
				t.Errorf("%d of %d entries missing; expected at most one in a thousand", missing, n)
			}
		})
	}
}

func TestSetTTLExpires(t *testing.T) {
	cfg := Config{Bytes: 64 << 20, EntryTTLs: true}
	for _, r := range All {
		c, err := r.Open(cfg)
		if err != nil {
			if r.Fixed {
				continue
			}
			t.Fatal(err)
		}
		defer c.Close()
		setter, ok := c.(TTLSetter)
		if !ok {
			continue
		}
		t.Run(r.Name, func(t *testing.T) {
			setter.SetTTL([]byte("hour"), []byte("v"), time.Hour)
			setter.SetTTL([]byte("never"), []byte("v"), 0)
			c.Wait()
			for _, key := range []string{"hour", "never"} {
				if v, ok := c.Get(nil, []byte(key)); !ok || string(v) != "v" {
					t.Errorf("key %q: got %q, %v; expected it to live", key, v, ok)
				}
			}
		})
	}
}

func TestBatch(t *testing.T) {
	cfg := configs[0]
	c, err := firnRival.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const n = 100
	var keys, values [][]byte
	for i := range n {
		key, value := pairOf(cfg, i, 1)
		keys, values = append(keys, key), append(values, value)
	}
	b := c.(Batcher).NewBatch()
	if !b.Set(keys[:n/2], values[:n/2]) {
		t.Fatal("Set of a batch was refused")
	}
	b.Get(keys)
	for i := range n {
		v, ok := b.Value(i)
		if ok != (i < n/2) || ok && !bytes.Equal(v, values[i]) {
			t.Fatalf("entry %d: got %.20q, %v; expected it to be there: %v", i, v, ok, i < n/2)
		}
	}
}

// TestLargeValues stores values around fastcache's limits, in both orders: a
// small version must never leave a large one to be found, nor the reverse.
func TestLargeValues(t *testing.T) {
	for _, r := range All {
		c, err := r.Open(Config{KeySize: 16, Bytes: 256 << 20})
		if err != nil {
			continue // of one size only
		}
		defer c.Close()
		t.Run(r.Name, func(t *testing.T) {
			key := []byte("sixteen bytes ok")
			for version, size := range []int{10, 100 << 10, 20, 60 << 10, fastcacheBig, 200 << 10, 30} {
				want := bytes.Repeat([]byte{byte(version + 1)}, size)
				if !c.Set(key, want) {
					c.Delete(key)
				}
				c.Wait()
				if got, ok := c.Get(nil, key); ok && !bytes.Equal(got, want) {
					t.Fatalf("version %d: got %d bytes of %d; expected %d or a miss", version, len(got), got[0], size)
				} else if !ok && size < 1<<10 {
					t.Fatalf("version %d of %d bytes is missing", version, size)
				}
			}
		})
	}
}

func TestFind(t *testing.T) {
	for _, want := range All {
		r, err := Find(want.Name)
		if err != nil || r.Name != want.Name {
			t.Errorf("Find(%q) = %q, %v", want.Name, r.Name, err)
		}
	}
	if _, err := Find("memcached"); err == nil || !strings.Contains(err.Error(), "fastcache") {
		t.Errorf("Find of an unknown name: %v; expected the names there are", err)
	}
}

func TestWrongSizeIsFound(t *testing.T) {
	c, err := xsyncRival.Open(configs[0])
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a key of 3 bytes passed where 16 were promised")
		}
	}()
	c.Get(nil, []byte("abc"))
}
