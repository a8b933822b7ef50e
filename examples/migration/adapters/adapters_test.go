package adapters

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/VictoriaMetrics/fastcache"
	"github.com/allegro/bigcache/v3"
	"github.com/coocood/freecache"
	"github.com/dgraph-io/ristretto/v2"
	"github.com/hashicorp/golang-lru/v2"

	"github.com/firncache/firn"
)

// The methods that each adapter has in common with its cache.
type (
	fastcacheMethods interface {
		Set(k, v []byte)
		Get(dst, k []byte) []byte
		HasGet(dst, k []byte) ([]byte, bool)
		Has(k []byte) bool
		Del(k []byte)
		Reset()
		SetBig(k, v []byte)
		GetBig(dst, k []byte) []byte
	}
	bigcacheMethods interface {
		Get(key string) ([]byte, error)
		Set(key string, entry []byte) error
		Delete(key string) error
		Reset() error
		Len() int
		Close() error
	}
	freecacheMethods interface {
		Set(key, value []byte, expireSeconds int) error
		Get(key []byte) ([]byte, error)
		GetWithBuf(key, buf []byte) ([]byte, error)
		TTL(key []byte) (timeLeft uint32, err error)
		Del(key []byte) (affected bool)
		EntryCount() int64
	}
	lruMethods[K comparable, V any] interface {
		Add(key K, value V) (evicted bool)
		Get(key K) (V, bool)
		Contains(key K) bool
		Remove(key K) (present bool)
		Keys() []K
		Values() []V
		Len() int
		Purge()
	}
	ristrettoMethods[K comparable, V any] interface {
		Get(key K) (V, bool)
		Set(key K, value V, cost int64) bool
		SetWithTTL(key K, value V, cost int64, ttl time.Duration) bool
		GetTTL(key K) (time.Duration, bool)
		Del(key K)
		Clear()
		Wait()
	}
)

// open opens a cache in which 20,000 bytes are too much for one value.
func open(t *testing.T) *firn.Cache {
	t.Helper()
	c, err := firn.Open(firn.Options{RAMBytes: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func typed[K comparable, V any](t *testing.T) *firn.Typed[K, V] {
	t.Helper()
	made, err := firn.NewTyped(open(t), "n", firn.TypedOptions[K, V]{})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// check runs one program with the other cache and with its adapter: they see the
// same.
func check[C any](t *testing.T, other, adapter C, run func(c C, note func(...any))) {
	t.Helper()
	var seen [2][]string
	for i, c := range []C{other, adapter} {
		run(c, func(what ...any) { seen[i] = append(seen[i], fmt.Sprintln(what...)) })
	}
	if !reflect.DeepEqual(seen[0], seen[1]) || len(seen[0]) == 0 {
		t.Errorf("with %T:\n%q\nwith %T:\n%q", other, seen[0], adapter, seen[1])
	}
}

func TestFastcache(t *testing.T) {
	check[fastcacheMethods](t, fastcache.New(1), Fastcache{open(t)}, func(c fastcacheMethods, note func(...any)) {
		k, absent := []byte("k"), []byte("absent")
		c.Set(k, []byte("v"))
		note(string(c.Get([]byte("dst "), k)), string(c.Get([]byte("dst "), absent)))
		v, ok := c.HasGet(nil, k)
		note(string(v), ok, c.Has(k), c.Has(absent))
		c.SetBig([]byte("large"), make([]byte, 10_000))
		note(len(c.GetBig(nil, []byte("large"))))
		c.Del(k)
		c.Del(absent)
		note(c.Has(k))
		c.Set(k, []byte("again"))
		c.Reset()
		note(c.Has(k))
	})
}

func TestBigcache(t *testing.T) {
	other, err := bigcache.New(context.Background(), bigcache.Config{Shards: 2, LifeWindow: time.Hour, MaxEntrySize: 100, HardMaxCacheSize: 1})
	if err != nil {
		t.Fatal(err)
	}
	check[bigcacheMethods](t, other, Bigcache{open(t)}, func(c bigcacheMethods, note func(...any)) {
		note(c.Set("k", []byte("v")))
		v, err := c.Get("k")
		note(string(v), err)
		v, err = c.Get("absent")
		note(v == nil, err != nil)
		note(c.Len(), c.Delete("k"), c.Delete("k") != nil, c.Len())
		note(c.Set("k", []byte("again")), c.Reset(), c.Len(), c.Close())
	})
}

func TestFreecache(t *testing.T) {
	check[freecacheMethods](t, freecache.NewCache(1<<20), Freecache{open(t)}, func(c freecacheMethods, note func(...any)) {
		k, absent := []byte("k"), []byte("absent")
		note(c.Set(k, []byte("v"), 3600))
		v, err := c.Get(k)
		note(string(v), err)
		buf := make([]byte, 0, 100)
		v, err = c.GetWithBuf(k, buf)
		note(string(v), err, &v[:1][0] == &buf[:1][0])
		_, err = c.Get(absent)
		note(err != nil)
		left, err := c.TTL(k)
		note(left > 3500 && left <= 3600, err)
		note(c.Set([]byte("for ever"), []byte("v"), 0))
		left, err = c.TTL([]byte("for ever"))
		note(left, err)
		_, err = c.TTL(absent)
		note(err != nil)
		note(c.EntryCount(), c.Del(k), c.Del(absent), c.EntryCount())
	})
}

func TestLRU(t *testing.T) {
	other, err := lru.New[string, int](100)
	if err != nil {
		t.Fatal(err)
	}
	check[lruMethods[string, int]](t, other, LRU[string, int]{typed[string, int](t)}, func(c lruMethods[string, int], note func(...any)) {
		note(c.Add("a", 1), c.Add("b", 2), c.Add("a", 3))
		v, ok := c.Get("a")
		note(v, ok)
		v, ok = c.Get("absent")
		note(v, ok, c.Contains("b"), c.Contains("absent"))
		keys, values := c.Keys(), c.Values()
		slices.Sort(keys)
		slices.Sort(values)
		note(keys, values, c.Len())
		note(c.Remove("a"), c.Remove("a"), c.Len())
		c.Purge()
		note(c.Len(), c.Contains("b"))
	})
}

func TestRistretto(t *testing.T) {
	other, err := ristretto.NewCache(&ristretto.Config[string, int]{NumCounters: 1000, MaxCost: 100, BufferItems: 64, IgnoreInternalCost: true})
	if err != nil {
		t.Fatal(err)
	}
	check[ristrettoMethods[string, int]](t, other, Ristretto[string, int]{typed[string, int](t)}, func(c ristrettoMethods[string, int], note func(...any)) {
		note(c.Set("a", 1, 1), c.SetWithTTL("b", 2, 1, time.Hour), c.SetWithTTL("c", 3, 1, 0), c.SetWithTTL("d", 4, 1, -1))
		c.Wait()
		for _, key := range []string{"a", "b", "c", "d"} {
			v, ok := c.Get(key)
			ttl, has := c.GetTTL(key)
			note(key, v, ok, ttl > 59*time.Minute, ttl == 0, has)
		}
		c.Del("a")
		c.Wait()
		_, ok := c.Get("a")
		note(ok)
		c.Clear()
		_, ok = c.Get("b")
		note(ok)
	})
}

// A Set that fails leaves nothing under its key: what was there before is old.
func TestFailedSetLeavesNothing(t *testing.T) {
	large, k := make([]byte, 20_000), []byte("k")
	c := open(t)
	numbers := typed[string, []byte](t)
	for name, set := range map[string]func(value []byte) (has bool){
		"Fastcache": func(value []byte) bool { Fastcache{c}.Set(k, value); return c.Has(k) },
		"Bigcache":  func(value []byte) bool { _ = Bigcache{c}.Set("k", value); return c.Has(k) },
		"Freecache": func(value []byte) bool { _ = Freecache{c}.Set(k, value, 0); return c.Has(k) },
		"LRU":       func(value []byte) bool { LRU[string, []byte]{numbers}.Add("k", value); return numbers.Has("k") },
		"Ristretto": func(value []byte) bool {
			Ristretto[string, []byte]{numbers}.Set("k", value, 1)
			return numbers.Has("k")
		},
	} {
		if !set([]byte("small")) || set(large) {
			t.Errorf("%s: a small value is not there, or one is after the Set of one too large", name)
		}
	}
}
