// Package peertests runs the cases of other caches' own test suites on firn.
package peertests

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/firncache/firn"
)

// fastcache is firn behind the calls of fastcache, so that its cases read as
// they do there.
type fastcache struct {
	t testing.TB
	c *firn.Cache
}

// newFastcache opens a cache with at least fastcache's smallest size, 32 MiB.
func newFastcache(t testing.TB, bytes int64) *fastcache {
	t.Helper()
	c, err := firn.Open(firn.Options{RAMBytes: max(bytes, 32<<20)})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return &fastcache{t, c}
}

// Set reports with Errorf, which other goroutines than the test's may call.
func (f *fastcache) Set(k, v []byte) {
	if err := f.c.Set(k, v); err != nil {
		f.t.Errorf("Set of a key of %d and a value of %d bytes: %v", len(k), len(v), err)
	}
}

func (f *fastcache) HasGet(dst, k []byte) ([]byte, bool) { return f.c.Get(dst, k) }
func (f *fastcache) Get(dst, k []byte) []byte            { v, _ := f.c.Get(dst, k); return v }
func (f *fastcache) Has(k []byte) bool                   { return f.c.Has(k) }

func (f *fastcache) Del(k []byte) {
	if err := f.c.Delete(k); err != nil {
		f.t.Errorf("Delete %q: %v", k, err)
	}
}

func (f *fastcache) Reset() {
	if err := f.c.Clear(context.Background()); err != nil {
		f.t.Errorf("Clear: %v", err)
	}
}

// wantMiss and wantValue check one key through Get, HasGet and Has.
func (f *fastcache) wantMiss(k string) {
	f.t.Helper()
	if v, ok := f.HasGet(nil, []byte(k)); ok || len(v) != 0 {
		f.t.Fatalf("key %q: got %q, %v; expected a miss", k, v, ok)
	}
	if f.Has([]byte(k)) {
		f.t.Fatalf("key %q: Has says that it is there; expected a miss", k)
	}
}

func (f *fastcache) wantValue(k, want string) {
	f.t.Helper()
	if v, ok := f.HasGet(nil, []byte(k)); !ok || string(v) != want {
		f.t.Fatalf("key %q: got %.40q, %v; expected %.40q", k, v, ok, want)
	}
	if v := f.Get([]byte("before "), []byte(k)); string(v) != "before "+want {
		f.t.Fatalf("key %q appended to %q: got %.40q", k, "before ", v)
	}
	if !f.Has([]byte(k)) {
		f.t.Fatalf("key %q: Has says that it is not there", k)
	}
}

func TestFastcacheSmall(t *testing.T) {
	c := newFastcache(t, 1)
	c.wantMiss("aaa")
	c.Set([]byte("key"), []byte("value"))
	c.wantValue("key", "value")
	c.wantMiss("")
	c.wantMiss("aaa")
	c.Set([]byte("aaa"), []byte("bbb"))
	c.wantValue("aaa", "bbb")
	c.wantValue("key", "value")

	c.Reset()
	c.wantMiss("aaa")
	c.wantMiss("key")

	c.Set([]byte("empty"), nil)
	c.wantValue("empty", "")
	c.wantMiss("foobar")
	c.Set(nil, []byte("of the empty key"))
	c.wantValue("", "of the empty key")
}

// TestFastcacheWrap stores several times what the cache can hold: every value
// is there at once, and later it is either there unchanged or gone.
func TestFastcacheWrap(t *testing.T) {
	c := newFastcache(t, 32<<20)
	const calls = 2_000_000
	var k, v, got []byte
	for i := range calls {
		k, v = fmt.Appendf(k[:0], "key %d", i), fmt.Appendf(v[:0], "value %d", i)
		c.Set(k, v)
		if got = c.Get(got[:0], k); !bytes.Equal(got, v) {
			t.Fatalf("key %q after its Set: got %q; expected %q", k, got, v)
		}
	}
	misses := 0
	for i := 0; i < calls; i += 10 {
		k, v = fmt.Appendf(k[:0], "key %d", i), fmt.Appendf(v[:0], "value %d", i)
		var ok bool
		if got, ok = c.HasGet(got[:0], k); !ok {
			misses++
		} else if !bytes.Equal(got, v) {
			t.Fatalf("key %q later: got %q; expected %q", k, got, v)
		}
	}
	if misses == 0 || misses == calls/10 {
		t.Fatalf("%d misses of %d; expected some, and some hits", misses, calls/10)
	}
	c.wantStats(calls, calls+calls/10, misses)
	if n := c.c.Len(); n < calls/5 {
		t.Errorf("%d entries; expected at least %d", n, calls/5)
	}
}

// wantStats checks the counters. Hits and misses are counted without atomic
// additions, and may be off by a few when goroutines meet; one goroutine's
// calls are exact.
func (f *fastcache) wantStats(sets, gets, misses int) {
	f.t.Helper()
	s := f.c.Stats()
	if int(s.Sets) != sets {
		f.t.Errorf("Stats.Sets %d; expected %d", s.Sets, sets)
	}
	if int(s.Hits+s.Misses) != gets {
		f.t.Errorf("Stats.Hits+Misses %d; expected %d", s.Hits+s.Misses, gets)
	}
	if int(s.Misses) != misses {
		f.t.Errorf("Stats.Misses %d; expected %d", s.Misses, misses)
	}
}

// TestFastcacheGenerationOverflow lets two large values take each other's
// place many times. In fastcache the counter of wraps overflowed, and what was
// in the cache could no longer be read.
func TestFastcacheGenerationOverflow(t *testing.T) {
	c := newFastcache(t, 1)
	keys := []string{"26", "8"}
	values := []string{string(bytes.Repeat([]byte{1}, 7<<20)), string(bytes.Repeat([]byte{2}, 7<<20-1))}
	for range 200 {
		for i, k := range keys {
			c.Set([]byte(k), []byte(values[i]))
			if v, ok := c.HasGet(nil, []byte(k)); !ok || string(v) != values[i] {
				t.Fatalf("key %q after its Set: %d bytes, %v; expected the %d bytes stored", k, len(v), ok, len(values[i]))
			}
		}
	}
}

func TestFastcacheDel(t *testing.T) {
	c := newFastcache(t, 1024)
	for i := range 100 {
		k, v := fmt.Sprintf("key %d", i), fmt.Sprintf("value %d", i)
		c.Set([]byte(k), []byte(v))
		c.wantValue(k, v)
		c.Del([]byte(k))
		c.wantMiss(k)
		c.Del([]byte(k)) // of a key that is gone
	}
}

// TestFastcacheBigKeyValue has the case where fastcache drops an entry in
// silence, a key and a value of more than 64 KiB: firn stores it. What is too
// large for firn, above a quarter of the budget, is an error and not there.
func TestFastcacheBigKeyValue(t *testing.T) {
	c := newFastcache(t, 32<<20)
	for _, size := range []int{40 << 10, 90 << 10} {
		k, v := bytes.Repeat([]byte{'k'}, size), bytes.Repeat([]byte{'v'}, size)
		c.Set(k, v)
		c.wantValue(string(k), string(v))
	}
	k := []byte("larger than a quarter of the budget")
	if err := c.c.Set(k, make([]byte, 9<<20)); !errors.Is(err, firn.ErrTooLarge) {
		t.Fatalf("Set of 9 MiB in 32 MiB: %v; expected ErrTooLarge", err)
	}
	c.wantMiss(string(k))
}

func TestFastcacheSetGetSerial(t *testing.T) {
	c := newFastcache(t, 0)
	c.setAndGet(10_000)
}

func TestFastcacheGetSetConcurrent(t *testing.T) {
	c := newFastcache(t, 0)
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() { c.setAndGet(10_000) })
	}
	wg.Wait()
}

// setAndGet stores items and reads each at once and again at the end. All
// goroutines store the same, and everything fits.
func (f *fastcache) setAndGet(items int) {
	for round := range 2 {
		for i := range items {
			k, v := fmt.Appendf(nil, "key %d", i), fmt.Appendf(nil, "value %d", i)
			if round == 0 {
				f.Set(k, v)
			}
			if got, ok := f.HasGet(nil, k); !ok || !bytes.Equal(got, v) {
				f.t.Errorf("round %d, key %q: got %q, %v; expected %q", round, k, got, ok, v)
				return
			}
		}
	}
}

// TestFastcacheResetStatsSetConcurrent clears, counts and stores at once: no
// call fails, and a value is never another key's.
func TestFastcacheResetStatsSetConcurrent(t *testing.T) {
	c := newFastcache(t, 12334)
	stop := make(chan struct{})
	var background, setters sync.WaitGroup
	until := func(f func()) {
		background.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					f()
				}
			}
		})
	}
	for range 4 {
		until(c.Reset)
		until(func() { _ = c.c.Stats() })
	}
	for range 10 {
		setters.Go(func() {
			for i := range 1000 {
				k, v := fmt.Appendf(nil, "key_%d", i%100), fmt.Appendf(nil, "value_%d", i%100)
				c.Set(k, v)
				if got, ok := c.HasGet(nil, k); ok && !bytes.Equal(got, v) {
					t.Errorf("key %q: got %q; expected %q or a miss", k, got, v)
				}
			}
		})
	}
	setters.Wait()
	close(stop)
	background.Wait()
	c.Reset()
	if n := c.c.Len(); n != 0 {
		t.Errorf("%d entries after the last Clear; expected none", n)
	}
}

// TestFastcacheSetGetBig stores values of every size through the one Set,
// around the limits that fastcache needs SetBig for.
func TestFastcacheSetGetBig(t *testing.T) {
	c := newFastcache(t, 256<<20)
	const count = 10
	for _, size := range []int{1, 100, 1<<16 - 1, 1 << 16, 1<<16 + 1, 1<<17 - 1, 1 << 17, 1<<17 + 1, 1 << 19} {
		t.Run(fmt.Sprintf("size=%d", size), func(t *testing.T) {
			for seed := range 3 {
				c.setAndGetBig(t, size, count, seed)
			}
		})
	}
}

func (f *fastcache) setAndGetBig(t *testing.T, size, count, seed int) {
	t.Helper()
	value := func(i int) []byte {
		v := make([]byte, size)
		for at := range v {
			v[at] = byte(at + seed + i)
		}
		return v
	}
	for round := range 2 {
		for i := range count {
			k := fmt.Appendf(nil, "key %d", i)
			if round == 0 {
				f.Set(k, value(i))
			}
			if got := f.Get(nil, k); !bytes.Equal(got, value(i)) {
				t.Fatalf("seed %d, round %d, key %q: got %d bytes; expected the %d stored", seed, round, k, len(got), size)
			}
		}
	}
}
