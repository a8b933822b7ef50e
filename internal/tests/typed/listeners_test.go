package typed

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// typedOn is a typed cache that notes its events as "key=value cause".
func typedOn(t *testing.T, c *firn.Cache, namespace string, events *[]string, causes ...firn.Cause) *firn.Typed[int, string] {
	t.Helper()
	typed, err := firn.NewTyped(c, namespace, firn.TypedOptions[int, string]{
		OnEvict: func(key int, value string, cause firn.Cause) {
			*events = append(*events, fmt.Sprintf("%d=%s %v", key, value, cause))
		},
		OnEvictCauses: causes,
	})
	if err != nil {
		t.Fatal(err)
	}
	return typed
}

func wantEvents(t *testing.T, what string, events *[]string, want ...string) {
	t.Helper()
	if !slices.Equal(*events, want) {
		t.Errorf("%s: %q, want %q", what, *events, want)
	}
	*events = nil
}

// Each typed cache of a namespace is told of its entries, for the causes that it asked for,
// beside the Cache's own OnEvict, and of no others.
func TestTypedOnEvict(t *testing.T) {
	t.Parallel()
	all := 0
	c := harness.Open(t, firn.Options{RAMBytes: 1 << 20, OnEvict: func(_, _ []byte, _ firn.Cause) { all++ }})
	var one, two, deletes, other []string
	typed := typedOn(t, c, "a", &one)
	typedOn(t, c, "a", &two)
	typedOn(t, c, "a", &deletes, firn.CauseDeleted)
	typedOn(t, c, "b", &other)
	for _, v := range []string{"x", "y"} {
		if err := typed.Set(7, v); err != nil {
			t.Fatal(err)
		}
	}
	if err := typed.Delete(7); err != nil {
		t.Fatal(err)
	}
	gone := typedOn(t, c, "a", &other)
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	if err := typed.Set(8, "z"); err != nil {
		t.Fatal(err)
	}
	if err := typed.Delete(8); err != nil {
		t.Fatal(err)
	}
	harness.Set(t, c, []byte("short"), []byte("bytes of nobody"))
	harness.Set(t, c, []byte("short"), []byte("bytes of nobody"))
	wantEvents(t, "the first of a", &one, "7=x replaced", "7=y deleted", "8=z deleted")
	wantEvents(t, "the second of a", &two, "7=x replaced", "7=y deleted", "8=z deleted")
	wantEvents(t, "the third of a", &deletes, "7=y deleted", "8=z deleted")
	wantEvents(t, "b, and one of a that was closed", &other)
	if all != 4 {
		t.Errorf("OnEvict of the Cache was told of %d entries, want 4", all)
	}
}

// OnEvict of a Typed that was closed after an entry left, by another OnEvict, is not called for it.
func TestTypedOnEvictAfterClose(t *testing.T) {
	t.Parallel()
	var events []string
	var typed *firn.Typed[int, string]
	c := harness.Open(t, firn.Options{RAMBytes: 1 << 20, OnEvict: func(_, _ []byte, _ firn.Cause) { typed.Close() }})
	typed = typedOn(t, c, "a", &events)
	if err := typed.Set(7, "x"); err != nil {
		t.Fatal(err)
	}
	if err := typed.Delete(7); err != nil {
		t.Fatal(err)
	}
	wantEvents(t, "closed before it was told", &events)
}

// What Clear has removed is of no generation that anybody listens to.
func TestTypedOnEvictAfterClear(t *testing.T) {
	t.Parallel()
	c := harness.Open(t, firn.Options{RAMBytes: 1 << 20})
	var events []string
	typed := typedOn(t, c, "a", &events)
	set := func(k int, v string) {
		if err := typed.Set(k, v); err != nil {
			t.Fatal(err)
		}
	}
	set(1, "old")
	if err := typed.Clear(ctx); err != nil {
		t.Fatal(err)
	}
	set(1, "new")
	if err := c.Clear(ctx); err != nil { // of old and new
		t.Fatal(err)
	}
	wantEvents(t, "after Clear", &events, "1=new deleted")
}

// Values and keys that cannot be decoded are counted, and nobody is told.
func TestTypedOnEvictOfOthers(t *testing.T) {
	t.Parallel()
	c := harness.Open(t, firn.Options{RAMBytes: 1 << 20})
	var events []string
	numbers := harness.NewTyped(t, c, "a", firn.TypedOptions[int, int]{})
	harness.Must(t, numbers.Set(1, 5))
	harness.Must(t, numbers.Close())
	typed := typedOn(t, c, "a", &events)
	broken, err := firn.NewTyped(c, "b", firn.TypedOptions[int, string]{
		Codec:   unreadableCodec{},
		OnEvict: func(int, string, firn.Cause) { t.Error("told of a value that cannot be decoded") },
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{typed.Set(1, "x"), typed.Delete(1), broken.Set(1, "x"), broken.Delete(1)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	wantEvents(t, "of one namespace", &events, "1=x deleted")
	if s := c.Stats(); s.Mismatches != 1 || s.DecodeErrors != 1 {
		t.Errorf("%d mismatches and %d decode errors, want one of each", s.Mismatches, s.DecodeErrors)
	}
}

// unreadableCodec writes what it cannot read.
type unreadableCodec struct{}

func (unreadableCodec) Name() string                                { return "broken/1" }
func (unreadableCodec) Append(dst []byte, v string) ([]byte, error) { return append(dst, v...), nil }
func (unreadableCodec) Decode([]byte) (string, error)               { return "", errors.New("broken") }

// Options of OnEvict that make no sense are refused, with the field's name.
func TestOnEvictOptions(t *testing.T) {
	t.Parallel()
	c := harness.Open(t, firn.Options{RAMBytes: 1 << 20})
	ignore := func(_, _ []byte, _ firn.Cause) {}
	_, noFunc := firn.NewTyped(c, "a", firn.TypedOptions[int, int]{OnEvictCauses: []firn.Cause{firn.CauseDeleted}})
	_, unknown := firn.NewTyped(c, "a", firn.TypedOptions[int, int]{OnEvict: func(int, int, firn.Cause) {}, OnEvictCauses: []firn.Cause{9}})
	_, noKeys := firn.NewTyped(c, "a", firn.TypedOptions[oneWay, int]{OnEvict: func(oneWay, int, firn.Cause) {}})
	for want, err := range map[string]error{
		"firn: Options.OnEvictCauses is [deleted], and OnEvict is nil: want both":                                                                            firn.Options{RAMBytes: 1 << 20, OnEvictCauses: []firn.Cause{firn.CauseDeleted}}.Validate(),
		"firn: Options.OnEvictCauses has Cause(8): want causes up to 7, quota":                                                                               firn.Options{RAMBytes: 1 << 20, OnEvict: ignore, OnEvictCauses: []firn.Cause{8}}.Validate(),
		"firn: TypedOptions.OnEvictCauses is [deleted], and OnEvict is nil: want both":                                                                       noFunc,
		"firn: TypedOptions.OnEvictCauses has Cause(9): want causes up to 7, quota":                                                                          unknown,
		"firn: TypedOptions.OnEvict with keys of type github.com/firncache/firn/internal/tests/typed.oneWay: want UnmarshalBinary, or TypedOptions.KeyCodec": noKeys,
	} {
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// With no causes OnEvict is told of nothing.
func TestOnEvictOfNoCauses(t *testing.T) {
	t.Parallel()
	c := harness.Open(t, firn.Options{RAMBytes: 1 << 20, OnEvictCauses: []firn.Cause{}, OnEvict: func(_, _ []byte, _ firn.Cause) { t.Error("told") }})
	for range 2 {
		harness.Set(t, c, []byte("k"), []byte("v"))
	}
	if err := c.Clear(ctx); err != nil {
		t.Fatal(err)
	}
}

// Without CauseDemoted and CauseSSDEvicted, OnEvict hears as little of the SSD tier as if
// they did not exist, and nothing is read for it.
func TestOnEvictOfOldHearsNothingNew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		told := map[firn.Cause]int{}
		o := harness.HybridOptions(vfstest.NewMem())
		o.SSD.Bytes = 2 << 20
		o.OnEvict = func(_, _ []byte, cause firn.Cause) { told[cause]++ }
		c, err := firn.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 12_000 {
			key, value := harness.Numbered(i)
			harness.Set(t, c, key, value)
		}
		s := c.Stats()
		if s.SSD.Evictions == 0 || s.SSD.Demotions == 0 || len(told) > 1 || told[firn.CauseCapacity] != int(s.Evictions) {
			t.Errorf("told of %v, of %d evictions, %d demotions, %d evictions from the SSD", told, s.Evictions, s.SSD.Demotions, s.SSD.Evictions)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// While OnEvict is told of what left the SSD it may use the cache, and close it: a write waits
// for room no longer than for a disk that is behind.
func TestOnEvictOfSSDMayClose(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(c *firn.Cache) error{
		"Set":   func(c *firn.Cache) error { return c.Set([]byte("k"), make([]byte, 200_000)) },
		"Clear": func(c *firn.Cache) error { return c.Clear(ctx) },
		"Close": func(c *firn.Cache) error { return c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var c *firn.Cache
				calls, began := 0, time.Now()
				o := firn.Options{RAMBytes: 1 << 20, Clock: time.Now, OnEvictCauses: []firn.Cause{firn.CauseSSDEvicted}}
				o.SSD = harness.On(firn.SSDOptions{Bytes: 2 << 20, Admission: firn.AdmitAll}, vfstest.NewMem())
				o.OnEvict = func(_, _ []byte, _ firn.Cause) {
					if calls++; calls == 1 {
						if err := call(c); err != nil {
							t.Error(err)
						}
					}
				}
				c, err := firn.Open(o)
				if err != nil {
					t.Fatal(err)
				}
				for i := range 12_000 {
					key, value := harness.Numbered(i)
					if err := c.Set(key, value); err != nil && !(name == "Close" && errors.Is(err, firn.ErrClosed)) {
						t.Fatal(err)
					}
				}
				synctest.Wait()
				if calls == 0 {
					t.Error("OnEvict was not called")
				}
				if took := time.Since(began); took > 5*time.Second {
					t.Errorf("it took %v of the bubble's time: somebody waited in vain", took)
				}
				_ = c.Close()
			})
		})
	}
}

// As long as OnEvict has not returned, no more is read from the SSD to be told than a segment
// has: the log is full then, and what leaves RAM is dropped.
func TestOnEvictOfSSDHoldsReclaiming(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release, told := make(chan struct{}), 0
		o := firn.Options{RAMBytes: 1 << 20, Clock: time.Now, OnEvictCauses: []firn.Cause{firn.CauseSSDEvicted}}
		o.SSD = harness.On(firn.SSDOptions{Bytes: 2 << 20, SegmentBytes: 64 << 10, Admission: firn.AdmitAll}, vfstest.NewMem())
		o.OnEvict = func(_, _ []byte, _ firn.Cause) {
			if told++; told == 1 {
				<-release
			}
		}
		c, err := firn.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 12_000 {
			key, value := harness.Numbered(i)
			harness.Set(t, c, key, value)
		}
		synctest.Wait()
		const segment = 64 << 10 / 300 // records, at most
		s := c.Stats()
		if s.SSD.Evictions == 0 || s.SSD.Evictions > segment || told != 1 || s.SSD.Dropped == 0 {
			t.Errorf("%d records left the SSD, OnEvict was called %d times, %d were dropped: want up to %d, 1, and some", s.SSD.Evictions, told, s.SSD.Dropped, segment)
		}
		close(release)
		synctest.Wait()
		if now := c.Stats().SSD.Evictions; told < int(s.SSD.Evictions) || now < uint64(told) {
			t.Errorf("OnEvict was called %d times in the end, of %d records that left the SSD", told, now)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// A cache that nobody closed is collected although its listeners refer to it.
func TestListenersLetCacheGo(t *testing.T) {
	collected := make(chan struct{})
	func() {
		var c *firn.Cache
		c, err := firn.Open(firn.Options{RAMBytes: 1 << 20, OnEvict: func(_, _ []byte, _ firn.Cause) { c.Len() }})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := firn.NewTyped(c, "a", firn.TypedOptions[int, int]{OnEvict: func(int, int, firn.Cause) { c.Len() }}); err != nil {
			t.Fatal(err)
		}
		runtime.AddCleanup(c, func(done chan struct{}) { close(done) }, collected)
	}()
	for range 1000 {
		runtime.GC()
		select {
		case <-collected:
			return
		default:
			runtime.Gosched()
		}
	}
	t.Error("the cache is not collected")
}

// Of what many goroutines store, while others read it so that it comes back to RAM, each
// entry is there, or has left once, after it had been demoted or instead.
func TestOnEvictMissesNothingOfSSD(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		left, demoted := map[string]firn.Cause{}, map[string]int{}
		o := firn.Options{RAMBytes: 1 << 20, Clock: time.Now, OnEvictCauses: harness.AllCauses}
		o.SSD = harness.On(firn.SSDOptions{Bytes: 2 << 20}, vfstest.NewMem())
		o.OnEvict = func(key, value []byte, cause firn.Cause) {
			mu.Lock()
			defer mu.Unlock()
			if _, err := cachetest.Sequence(key, value); err != nil {
				t.Errorf("key %s: %v", key, err)
			}
			if cause == firn.CauseDemoted {
				demoted[string(key)]++
				return
			}
			if before, twice := left[string(key)]; twice {
				t.Errorf("key %s left for %v and for %v", key, before, cause)
			}
			left[string(key)] = cause
		}
		c, err := firn.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		const writers = 4
		each := 3000
		if invariants.Race { // where bytes move by atomic words
			each = 1500
		}
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				rng := rand.New(rand.NewPCG(uint64(w), 1))
				for i := range each {
					key := fmt.Appendf(nil, "%d-%d", w, i)
					if err := c.Set(key, cachetest.AppendValue(nil, key, 1, cachetest.MinValue+rng.IntN(1500))); err != nil {
						t.Error(err)
					}
					c.Get(nil, fmt.Appendf(nil, "%d-%d", rng.IntN(writers), rng.IntN(i+1)))
				}
			})
		}
		wg.Wait()
		synctest.Wait()
		there, fromSSD := map[string]bool{}, 0
		for k := range c.All() {
			there[string(k)] = true
		}
		for w := range writers {
			for i := range each {
				key := fmt.Sprintf("%d-%d", w, i)
				cause, gone := left[key]
				if gone == there[key] {
					t.Errorf("key %s is there %v, and has left %v (%v, demoted %d times)", key, there[key], gone, cause, demoted[key])
				}
				if gone && cause == firn.CauseSSDEvicted {
					if fromSSD++; demoted[key] == 0 {
						t.Errorf("key %s left the SSD, and was not demoted", key)
					}
				}
			}
		}
		if s := c.Stats(); fromSSD == 0 || len(there) == 0 || s.SSD.Promotions == 0 || len(demoted) == 0 {
			t.Errorf("%d left the SSD, %d are there, %d were demoted: %+v", fromSSD, len(there), len(demoted), s)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
