package typed

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"
	"weak"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/tests/harness"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, opts firn.Options) *firn.Cache {
	t.Helper()
	c, err := firn.Open(opts)
	must(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// pair is a typed cache with hot values, and one of its namespace without.
func pair[K comparable, V any](t testing.TB, c *firn.Cache, opts firn.TypedOptions[K, V]) (hot, cold *firn.Typed[K, V]) {
	t.Helper()
	opts.HotValues = -1
	cold, err := firn.NewTyped(c, "n", opts)
	must(t, err)
	opts.HotValues = 1000
	hot, err = firn.NewTyped(c, "n", opts)
	must(t, err)
	return hot, cold
}

// heat reads a key until its value is hot.
func heat[K comparable, V any](t testing.TB, hot *firn.Typed[K, V], key K) {
	t.Helper()
	before := hot.Stats().FrontHits
	for range 4 {
		hot.Get(key)
	}
	if hot.Stats().FrontHits == before {
		t.Fatalf("%v does not become hot", key)
	}
}

var ctx = context.Background()

// writes are the ways to change the value "old" of the key "k", of which raw is the key in the
// Cache.
var writes = map[string]func(c *firn.Cache, hot, cold *firn.Typed[string, string], raw []byte, clock *cachetest.Clock) error{
	"Set": func(_ *firn.Cache, hot, _ *firn.Typed[string, string], _ []byte, _ *cachetest.Clock) error {
		return hot.Set("k", "new")
	},
	"Set past the hot ones": func(_ *firn.Cache, _, cold *firn.Typed[string, string], _ []byte, _ *cachetest.Clock) error {
		return cold.Set("k", "new")
	},
	"SetMulti": func(_ *firn.Cache, hot, _ *firn.Typed[string, string], _ []byte, _ *cachetest.Clock) error {
		return hot.SetMulti(ctx, []string{"x", "k"}, []string{"y", "new"})
	},
	"Delete": func(_ *firn.Cache, _, cold *firn.Typed[string, string], _ []byte, _ *cachetest.Clock) error {
		return cold.Delete("k")
	},
	"Clear": func(_ *firn.Cache, _, cold *firn.Typed[string, string], _ []byte, _ *cachetest.Clock) error {
		return cold.Clear(ctx)
	},
	"Cache.Set": func(c *firn.Cache, _, _ *firn.Typed[string, string], raw []byte, _ *cachetest.Clock) error {
		v, _ := c.Get(nil, raw)
		return c.Set(raw, append(v, "er"...))
	},
	"Cache.Delete": func(c *firn.Cache, _, _ *firn.Typed[string, string], raw []byte, _ *cachetest.Clock) error {
		return c.Delete(raw)
	},
	"Cache.Clear": func(c *firn.Cache, _, _ *firn.Typed[string, string], _ []byte, _ *cachetest.Clock) error {
		return c.Clear(ctx)
	},
	"Compute": func(_ *firn.Cache, _, cold *firn.Typed[string, string], _ []byte, _ *cachetest.Clock) error {
		_, _, err := cold.Compute(ctx, "k", func(old string, _ bool) (string, firn.Op) { return old + "er", firn.OpUpdate })
		return err
	},
	"CompareAndSwap": func(_ *firn.Cache, hot, _ *firn.Typed[string, string], _ []byte, _ *cachetest.Clock) error {
		_, err := hot.CompareAndSwap(ctx, "k", "old", "new")
		return err
	},
	"Refresh": func(_ *firn.Cache, hot, _ *firn.Typed[string, string], _ []byte, _ *cachetest.Clock) error {
		_, err := hot.Refresh(ctx, "k", func(context.Context, string) (string, error) { return "loaded", nil })
		return err
	},
	"InvalidateTag": func(_ *firn.Cache, _, cold *firn.Typed[string, string], _ []byte, _ *cachetest.Clock) error {
		return cold.InvalidateTag(ctx, "tag")
	},
	"Touch": func(_ *firn.Cache, _, cold *firn.Typed[string, string], _ []byte, clock *cachetest.Clock) error {
		_, err := cold.Touch(ctx, "k", time.Second)
		clock.Advance(time.Second)
		return err
	},
	"expiry": func(_ *firn.Cache, _, _ *firn.Typed[string, string], _ []byte, clock *cachetest.Clock) error {
		clock.Advance(time.Minute)
		return nil
	},
	"less RAM": func(c *firn.Cache, _, _ *firn.Typed[string, string], _ []byte, _ *cachetest.Clock) error {
		return c.SetRAMBytes(1 << 19)
	},
}

// What Get returns after any write does not depend on whether the value was hot.
func TestHotFollowsWrites(t *testing.T) {
	t.Parallel()
	for name, write := range writes {
		clock := &cachetest.Clock{}
		c := open(t, firn.Options{RAMBytes: 1 << 20, Clock: clock.Now, TTL: time.Minute})
		hot, cold := pair(t, c, firn.TypedOptions[string, string]{})
		must(t, hot.SetWith(ctx, "k", "old", firn.SetOptions{Tags: []string{"tag"}}))
		var raw []byte
		for k := range c.All() {
			raw = append(raw, k...)
		}
		heat(t, hot, "k")
		if err := write(c, hot, cold, raw, clock); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		want, wantOK := cold.Get("k")
		if wantOK && want == "old" && name != "less RAM" {
			t.Errorf("%s: nothing has changed", name)
		}
		for range 5 {
			if got, ok := hot.Get("k"); got != want || ok != wantOK {
				t.Errorf("%s: hot %q, %v, cold %q, %v", name, got, ok, want, wantOK)
			}
		}
		if hot.Has("k") != wantOK {
			t.Errorf("%s: Has says %v", name, hot.Has("k"))
		}
	}
}

// A hot value is the one that its bytes make, not the one that was set.
func TestHotIsAsCold(t *testing.T) {
	t.Parallel()
	type left struct {
		At    time.Time
		Addr  netip.Addr
		Name  string
		Note  int `firn:"-"`
		Parts [2]struct{ A, B float64 }
	}
	c := open(t, firn.Options{RAMBytes: 1 << 20})
	hot, cold := pair(t, c, firn.TypedOptions[string, left]{})
	v := left{At: time.Now(), Addr: netip.MustParseAddr("10.0.0.1"), Name: "\xff", Note: 5} // with a monotonic clock
	must(t, hot.Set("k", v))
	heat(t, hot, "k")
	got, _ := hot.Get("k")
	if want, _ := cold.Get("k"); !reflect.DeepEqual(got, want) || got.Note != 0 || strings.Contains(got.At.String(), "m=") {
		t.Errorf("hot %v, cold %v", got, want)
	}
	must(t, hot.Close())
	if _, ok := hot.Get("k"); ok {
		t.Error("found after Close")
	}
}

// A key that lies in a caller's buffer may change when the call is over.
func TestHotKeysAreCopies(t *testing.T) {
	t.Parallel()
	c := open(t, firn.Options{RAMBytes: 1 << 20})
	hot, _ := pair(t, c, firn.TypedOptions[string, string]{})
	must(t, hot.Set("first", "1st"))
	must(t, hot.Set("other", "2nd"))
	buffer := []byte("first")
	heat(t, hot, unsafe.String(&buffer[0], len(buffer)))
	copy(buffer, "other")
	if v, _ := hot.Get("other"); v != "2nd" {
		t.Errorf("other: got %q", v)
	}
	must(t, hot.Set("first", "3rd")) // which ends the hot value, by its key
	copy(buffer, "first")
	if v, _ := hot.Get("first"); v != "3rd" {
		t.Errorf("first: got %q", v)
	}
}

func TestHotRefuses(t *testing.T) {
	t.Parallel()
	c := open(t, firn.Options{RAMBytes: 1 << 20})
	_, slices := firn.NewTyped(c, "n", firn.TypedOptions[string, []int]{HotValues: 1})
	_, pointers := firn.NewTyped(c, "n", firn.TypedOptions[string, struct{ P *int }]{HotValues: 1})
	_, maps := firn.NewTyped(c, "n", firn.TypedOptions[string, [1]map[string]int]{HotValues: 1})
	_, keys := firn.NewTyped(c, "n", firn.TypedOptions[netip.Addr, string]{HotValues: 1})
	for _, r := range []struct {
		err  error
		want string
	}{{slices, "[]int, which a caller of Get can change: want TypedOptions.ReadOnly"}, {pointers, "can change"}, {maps, "can change"},
		{keys, "HotValues with keys of type net/netip.Addr"}} {
		if r.err == nil || !strings.Contains(r.err.Error(), r.want) {
			t.Errorf("got %v, want an error with %q", r.err, r.want)
		}
	}
	hot, _ := pair(t, c, firn.TypedOptions[string, []int]{ReadOnly: true})
	must(t, hot.Set("k", []int{1}))
	heat(t, hot, "k")
}

// overheadOf is the bookkeeping of a cache of two typed caches, set and read, each with so many
// hot values, and keys: in the end, and the most. A cache that has to clean is full for a moment,
// and drops its hot values then.
func overheadOf(t *testing.T, ram int64, hotValues, keys int) (c *firn.Cache, overhead, most int64) {
	t.Helper()
	c = open(t, firn.Options{RAMBytes: ram})
	value := strings.Repeat("x", 300)
	for _, name := range []string{"a", "b"} {
		typed, err := firn.NewTyped(c, name, firn.TypedOptions[int, string]{HotValues: hotValues})
		must(t, err)
		for i := range 15_000 {
			must(t, typed.Set(i%keys, value))
			typed.Get(i % keys)
			typed.Get(i % keys)
			if i%100 == 0 {
				most = max(most, c.Stats().RAM.OverheadBytes)
			}
		}
	}
	checkBudget(t, c, ram)
	overhead = c.Stats().RAM.OverheadBytes
	return c, overhead, max(most, overhead)
}

func checkBudget(t *testing.T, c *firn.Cache, budget int64) {
	t.Helper()
	s := c.Stats().RAM
	if used := s.RecordBytes + s.IndexBytes + s.OverheadBytes; used > budget {
		t.Errorf("%d bytes in use of %d", used, budget)
	}
}

// Hot values are part of the budget: a quarter at most, of all typed caches, a 32nd once RAM is
// full, and gone first.
func TestHotBudget(t *testing.T) {
	t.Parallel()
	harness.SkipUnderRace(t)
	const ram = 2 << 20
	_, cold, _ := overheadOf(t, ram, -1, 5000)
	_, hot, _ := overheadOf(t, ram, 0, 5000)
	if hot-cold < ram/64 || hot-cold > ram/32 {
		t.Errorf("hot values have %d bytes in a full cache, want up to %d", hot-cold, ram/32)
	}
	_, _, cold = overheadOf(t, ram, -1, 1000)
	c, _, hot := overheadOf(t, ram, 0, 1000)
	if hot-cold < ram/8 || hot-cold > ram/4 {
		t.Errorf("hot values have %d bytes, want up to %d", hot-cold, ram/4)
	}
	must(t, c.SetRAMBytes(ram/8)) // less than hot values have
	checkBudget(t, c, ram/8)
	must(t, c.SetRAMBytes(ram))
}

// A budget that is refused changes nothing: hot values stay.
func TestHotValuesAfterRefusedBudget(t *testing.T) {
	t.Parallel()
	c := open(t, firn.Options{RAMBytes: 1 << 20})
	typed := harness.NewTyped(t, c, "n", firn.TypedOptions[int, *[1 << 10]byte]{ReadOnly: true})
	must(t, typed.Set(1, new([1 << 10]byte)))
	heat(t, typed, 1)
	hot, _ := typed.Get(1)
	for _, n := range []int64{-1, 0, 1, firn.MinRAMBytes / 2} {
		if c.SetRAMBytes(n) == nil {
			t.Fatalf("SetRAMBytes(%d) is no error", n)
		}
		if again, _ := typed.Get(1); again != hot {
			t.Fatalf("SetRAMBytes(%d) has failed, and the value is hot no more", n)
		}
	}
}

// The hot values of a cache that is closed are garbage, also while their Typed is in use.
func TestHotValuesAfterClose(t *testing.T) {
	c := open(t, firn.Options{RAMBytes: 1 << 20})
	typed := harness.NewTyped(t, c, "n", firn.TypedOptions[int, *[1 << 10]byte]{ReadOnly: true})
	must(t, typed.Set(1, new([1 << 10]byte)))
	heat(t, typed, 1)
	v, _ := typed.Get(1)
	hot := weak.Make(v)
	runtime.GC()
	if again, _ := typed.Get(1); again != v {
		t.Fatal("it is not hot")
	}
	must(t, c.Close())
	for range 10 {
		if runtime.GC(); hot.Value() == nil {
			break
		}
	}
	if hot.Value() != nil {
		t.Error("a value is held after Close")
	}
	if v, ok := typed.Get(1); ok || typed.Set(1, v) != firn.ErrClosed {
		t.Error("something works after Close")
	}
	must(t, c.Close())
	must(t, typed.Close())
}

// short is a codec that makes one byte of any string, and n bytes of "x" of that.
type short struct{ n int }

func (short) Name() string                                { return "short/1" }
func (short) Append(dst []byte, _ string) ([]byte, error) { return append(dst, 'x'), nil }
func (s short) Decode(src []byte) (string, error)         { return strings.Repeat(string(src), s.n), nil }

// What a codec compresses, and slices, count as hot values with the length that they have then.
func TestHotValuesCountWhatTheyAre(t *testing.T) {
	const n, bytes, most = 200, 8 << 10, 1 << 20 / 4 / (8 << 10) // of 1 MiB, a quarter
	for kind, run := range map[string]func(c *firn.Cache) uint64{
		"compressed": func(c *firn.Cache) uint64 {
			return hotOf(t, c, n, firn.TypedOptions[int, string]{Codec: short{bytes}}, "")
		},
		"slices": func(c *firn.Cache) uint64 {
			return hotOf(t, c, n, firn.TypedOptions[int, []string]{ReadOnly: true}, make([]string, bytes/16))
		},
	} {
		if hits := run(harness.OpenSmall(t)); hits == 0 || hits > most {
			t.Errorf("%s: %d of %d values are hot, want 1 to %d", kind, hits, n, most)
		}
	}
}

// hotOf is how many of n values are hot when each is read in turn.
func hotOf[V any](t *testing.T, c *firn.Cache, n int, opts firn.TypedOptions[int, V], v V) uint64 {
	opts.HotValues = 1000
	typed := harness.NewTyped(t, c, "n", opts)
	const rounds = 10
	read := func() uint64 {
		before := typed.Stats().FrontHits
		for i := range n * rounds {
			i %= n
			if _, ok := typed.Get(i); !ok {
				t.Fatalf("%d is gone", i)
			}
		}
		return (typed.Stats().FrontHits - before) / rounds
	}
	for i := range n {
		must(t, typed.Set(i, v))
	}
	read()
	return read()
}

// Readers find nothing older than what was acknowledged before they began, while values are
// set, evicted, cleared, and the budget changes.
func TestHotStress(t *testing.T) {
	t.Parallel()
	const keys, rounds = 64, 3000
	c := open(t, firn.Options{RAMBytes: 1 << 20})
	hot, cold := pair(t, c, firn.TypedOptions[int, [2]uint64]{})
	var latest [keys]struct {
		sync.RWMutex
		version uint64
	}
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 1))
			for i := range rounds {
				k := rng.IntN(keys)
				l := &latest[k]
				switch rng.IntN(20) {
				case 0:
					l.Lock()
					to := []*firn.Typed[int, [2]uint64]{hot, cold}[i%2]
					l.version++
					must(t, to.Set(k, [2]uint64{uint64(k), l.version}))
					l.Unlock()
				case 1:
					if i%50 == 0 {
						must(t, c.SetRAMBytes(1<<20-int64(rng.IntN(1<<18))))
					}
				default:
					l.RLock()
					v, ok := hot.Get(k)
					if ok && v != [2]uint64{uint64(k), l.version} {
						t.Errorf("key %d: got %v, want version %d", k, v, l.version)
					}
					l.RUnlock()
				}
			}
		})
	}
	all.Wait()
	if hot.Stats().FrontHits == 0 {
		t.Error("no hot value: the test shows nothing")
	}
}

// Typed caches that were forgotten, and those that are closed, leave their place to others: by
// default so many have hot values.
func TestHotPlaces(t *testing.T) {
	t.Parallel()
	c := open(t, firn.Options{RAMBytes: 1 << 20})
	becomesHot := func() (*firn.Typed[string, string], bool) {
		typed := newTyped[string, string](t, c, "n")
		must(t, typed.Set("k", "v"))
		before := typed.Stats().FrontHits
		typed.Get("k")
		typed.Get("k")
		return typed, typed.Stats().FrontHits > before
	}
	fill := func() (all []*firn.Typed[string, string]) {
		for {
			typed, ok := becomesHot()
			if !ok {
				return all
			}
			all = append(all, typed)
		}
	}
	all := fill()
	if len(all) != 16 {
		t.Errorf("%d typed caches have hot values, want 16", len(all))
	}
	must(t, all[0].Close())
	if _, ok := becomesHot(); !ok {
		t.Error("the place of one that was closed is not free")
	}
	clear(all)
	for range 1000 {
		runtime.GC()
		if _, ok := becomesHot(); ok {
			return
		}
	}
	t.Error("the places of those that were forgotten are not free")
}

func TestHotAllocations(t *testing.T) {
	c := open(t, firn.Options{RAMBytes: 1 << 20})
	hot, _ := pair(t, c, firn.TypedOptions[string, struct{ A, B string }]{})
	must(t, hot.Set("k", struct{ A, B string }{"a", "b"}))
	heat(t, hot, "k")
	load := func(context.Context, string) (v struct{ A, B string }, err error) { return v, errors.New("called") }
	if n := testing.AllocsPerRun(100, func() { hot.Get("k"); hot.GetOrLoad(ctx, "k", load) }); n != 0 {
		t.Errorf("%v allocations of a hot Get and GetOrLoad", n)
	}
}
