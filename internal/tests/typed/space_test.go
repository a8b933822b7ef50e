package typed

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

var spaceN firn.TypedOptions[string, string]

// What a namespace holds is found again after a restart, and what it had cleared is
// not: after Close, after the process was killed, and with RecoverAlways after the
// machine has gone down with the number of a namespace that was never cleared.
func TestNamespaceSurvives(t *testing.T) {
	t.Parallel()
	for name, dies := range map[string]func(t *testing.T, c *firn.Cache, fs *vfstest.Mem) *vfstest.Mem{
		"closed": func(t *testing.T, c *firn.Cache, fs *vfstest.Mem) *vfstest.Mem {
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			return fs
		},
		"killed": func(t *testing.T, c *firn.Cache, fs *vfstest.Mem) *vfstest.Mem {
			return fs.CrashClone(nil, vfstest.Kill)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				fs := vfstest.NewMem()
				for life := range 4 {
					c := harness.OpenOn(t, fs)
					typed := harness.NewTyped(t, c, "n", spaceN)
					for past := range life {
						want := past == life-1
						if v, ok := typed.Get(fmt.Sprint("life ", past)); ok != want || ok && v != "value" {
							t.Errorf("life %d finds that of %d: %q, %v, want %v", life, past, v, ok, want)
						}
					}
					if life%2 == 1 {
						typed.Set("cleared", "value")
						if err := typed.Clear(ctx); err != nil {
							t.Fatal(err)
						}
					} else if life > 0 {
						typed.Delete(fmt.Sprint("life ", life-1))
					}
					if typed.Has("cleared") {
						t.Errorf("life %d finds what was cleared", life)
					}
					typed.Set(fmt.Sprint("life ", life), "value")
					harness.Demote(t, c)
					synctest.Wait()
					fs = dies(t, c, fs)
				}
			})
		})
	}
}

// With RecoverAlways, a cache whose machine has gone down finds the typed values of
// namespaces that were never cleared.
func TestNamespaceRecoveredFromLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		always := func(o *firn.Options) { o.SSD.Recovery = firn.RecoverAlways }
		fs := vfstest.NewMem()
		c := harness.OpenOn(t, fs, always)
		typed := harness.NewTyped(t, c, "n", spaceN)
		typed.Set("k", "value")
		harness.Demote(t, c)
		synctest.Wait()
		fs.SetMemory(false) // what the next one does not find
		fs = fs.CrashClone(nil, vfstest.Kill)
		c = harness.OpenOn(t, fs, always)
		if v, ok := harness.NewTyped(t, c, "n", spaceN).Get("k"); !ok || v != "value" {
			t.Errorf("got %q, %v: %+v", v, ok, c.Stats())
		}
	})
}

// However many namespaces were opened, used and closed, the entries of all are found when they are
// opened again, and what was cleared is not.
func TestManyNamespaces(t *testing.T) {
	t.Parallel()
	c := harness.OpenSmall(t, func(o *firn.Options) { o.RAMBytes = 16 << 20 })
	const n = 20_000
	use := func(i int, f func(typed *firn.Typed[string, string])) {
		typed := harness.NewTyped(t, c, fmt.Sprint("namespace ", i), firn.TypedOptions[string, string]{})
		f(typed)
		if err := typed.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		use(i, func(typed *firn.Typed[string, string]) { typed.Set("k", fmt.Sprint(i)) })
	}
	for i := range n {
		use(i, func(typed *firn.Typed[string, string]) {
			if v, ok := typed.Get("k"); !ok || v != fmt.Sprint(i) {
				t.Fatalf("namespace %d has %q, %v", i, v, ok)
			}
		})
	}
	use(7, func(typed *firn.Typed[string, string]) { typed.Clear(ctx) })
	lost := 0
	for i := range n {
		use(i, func(typed *firn.Typed[string, string]) {
			v, ok := typed.Get("k")
			if ok && (i == 7 || v != fmt.Sprint(i)) {
				t.Errorf("namespace %d has %q after a Clear of 7", i, v)
			}
			if !ok {
				lost++
			}
		})
	}
	if lost == 0 || lost > n/200 {
		t.Errorf("%d of %d namespaces are lost with one place of 4096", lost, n)
	}
}

// Nobody sees anything of a namespace but its entries.
func TestNamespacesAreNotSeen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fs := vfstest.NewMem()
		told := map[string]bool{}
		tell := func(o *firn.Options) {
			o.OnEvict = func(key, _ []byte, _ firn.Cause) {
				if !strings.HasPrefix(string(key), "key-") {
					told[string(key)] = true
				}
			}
		}
		for range 2 {
			c := harness.OpenOn(t, fs, tell)
			typed := harness.NewTyped(t, c, "n", spaceN)
			for range 3 {
				if err := typed.Clear(ctx); err != nil {
					t.Fatal(err)
				}
			}
			if n, s := c.Len(), c.Stats(); n != 0 || s.Entries != 0 || s.SSD.Entries != 0 || s.SSD.Writes != 0 || s.Sets != 0 {
				t.Errorf("%d entries of nothing: %+v", n, s)
			}
			for key := range c.All() {
				t.Errorf("All yields %q", key)
			}
			for i := range 6_000 {
				_, value := harness.Numbered(i)
				if err := c.Set(fmt.Appendf(nil, "key-%d", i), value); err != nil {
					t.Fatal(err)
				}
			}
			synctest.Wait()
			for key := range c.All() {
				if !strings.HasPrefix(string(key), "key-") {
					t.Errorf("All yields %q", key)
				}
			}
			if err := c.Clear(ctx); err != nil {
				t.Fatal(err)
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if len(told) > 0 {
			t.Errorf("OnEvict was told of %v", told)
		}
	})
}

// Clear of the whole cache leaves the namespace.
func TestNamespaceAfterCacheClear(t *testing.T) {
	c := harness.OpenSmall(t)
	typed := harness.NewTyped(t, c, "n", firn.TypedOptions[int, int]{})
	typed.Set(1, 1)
	if err := c.Clear(ctx); err != nil {
		t.Fatal(err)
	}
	if typed.Has(1) {
		t.Error("Cache.Clear left a typed value")
	}
	typed.Set(2, 2)
	if again := harness.NewTyped(t, c, "n", firn.TypedOptions[int, int]{}); !again.Has(2) {
		t.Error("another typed cache of the namespace does not find what was set after Cache.Clear")
	}
}

// Namespaces that were closed leave nothing on the heap, and those that were forgotten
// nothing that the collector keeps.
func TestNamespacesAreFreed(t *testing.T) {
	const n = 20_000
	for name, leave := range map[string]func(*firn.Typed[int, int]) error{
		"closed":    (*firn.Typed[int, int]).Close,
		"forgotten": func(*firn.Typed[int, int]) error { return nil },
	} {
		c := harness.OpenSmall(t)
		codec, err := firn.DefaultCodec[int]()
		if err != nil {
			t.Fatal(err)
		}
		opts := firn.TypedOptions[int, int]{Codec: codec}
		make := func(i int) {
			typed := harness.NewTyped(t, c, fmt.Sprint("space ", i), opts)
			if err := errors.Join(typed.Set(i, i), leave(typed)); err != nil {
				t.Fatal(err)
			}
		}
		make(0)
		before := heapObjects()
		for i := range n {
			make(i)
		}
		if name == "closed" && harness.Namespaces(c) != 0 {
			t.Errorf("%s: %d namespaces are known", name, harness.Namespaces(c))
		}
		harness.AwaitNamespaces(c, 0)
		if more := heapObjects() - before; more > n/10 {
			t.Errorf("%s: %d objects on the heap after %d namespaces", name, more, n)
		}
		runtime.KeepAlive(c)
	}
}

// heapObjects is how many objects the heap has that can be reached.
func heapObjects() int {
	var s runtime.MemStats
	for range 4 { // sync.Pools leave with the second, and what they held after it
		runtime.GC()
	}
	runtime.ReadMemStats(&s)
	return int(s.HeapObjects)
}

// A Typed that was closed finds and stores nothing, whatever else is made of its
// namespace; its entries stay.
func TestTypedClose(t *testing.T) {
	for name, opts := range map[string]firn.TypedOptions[string, string]{"": spaceN, "with a front": harness.WithFront(spaceN)} {
		c := harness.OpenSmall(t)
		typed, other := harness.NewTyped(t, c, "n", opts), harness.NewTyped(t, c, "n", spaceN)
		typed.Set("k", "old")
		for range 2 {
			typed.Get("k")
		}
		for range 2 {
			if err := typed.Close(); err != nil {
				t.Errorf("%s: Close: %v", name, err)
			}
		}
		if v, ok := other.Get("k"); !ok || v != "old" {
			t.Errorf("%s: the entry is %q, %v", name, v, ok)
		}
		other.Set("k", "new")
		if v, ok := typed.Get("k"); ok {
			t.Errorf("%s: closed, it finds %q", name, v)
		}
		_, ttlOK := typed.TTL("k")
		if typed.Has("k") || ttlOK || typed.Len() != 0 {
			t.Errorf("%s: closed, it has the key", name)
		}
		for k := range typed.All() {
			t.Errorf("%s: closed, it yields %q", name, k)
		}
		_, lookup := typed.Lookup(t.Context(), "k")
		_, load := typed.GetOrLoad(t.Context(), "k", neverLoad)
		var b firn.TypedBatch[string]
		for call, err := range map[string]error{
			"Set": typed.Set("k", "v"), "Delete": typed.Delete("k"), "Clear": typed.Clear(ctx), "Lookup": lookup, "GetOrLoad": load,
			"SetMulti": typed.SetMulti(ctx, []string{"k"}, []string{"v"}), "DeleteMulti": typed.DeleteMulti(ctx, "k"),
			"LookupMulti": typed.GetMulti(t.Context(), &b, []string{"k"}), "Refresh": harness.Err(typed.Refresh(t.Context(), "k", neverLoad)),
			"InvalidateTag": typed.InvalidateTag(ctx, "a"), "SetWith": typed.SetWith(ctx, "k", "v", firn.SetOptions{Tags: []string{"a"}}),
		} {
			if !errors.Is(err, firn.ErrClosed) || err.Error() != "firn: Typed is closed" {
				t.Errorf("%s: %s: %v", name, call, err)
			}
		}
		if v, ok := other.Get("k"); !ok || v != "new" {
			t.Errorf("%s: after the calls the entry is %q, %v", name, v, ok)
		}
		if err := other.Close(); err != nil {
			t.Error(err)
		}
		if v, ok := harness.NewTyped(t, c, "n", opts).Get("k"); !ok || v != "new" {
			t.Errorf("%s: made anew, it finds %q, %v", name, v, ok)
		}
	}
}

func TestTypedOfClosedCache(t *testing.T) {
	c := harness.OpenSmall(t)
	typed := harness.NewTyped(t, c, "n", spaceN)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := firn.NewTyped(c, "n", spaceN); !errors.Is(err, firn.ErrClosed) {
		t.Errorf("NewTyped: %v", err)
	}
	if err := typed.Clear(ctx); !errors.Is(err, firn.ErrClosed) {
		t.Errorf("Clear: %v", err)
	}
	if err := typed.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// A namespace that is open, and was used a little, takes 200 bytes of Go's heap, its Typed and its
// name included, however many processors there are, and a kilobyte with options.
func TestHeapOfNamespace(t *testing.T) {
	const n = 10_000
	heap := func() (m runtime.MemStats) {
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m
	}
	for name, o := range map[string]struct {
		opts firn.TypedOptions[int, int]
		most int64
	}{
		"nothing set": {firn.TypedOptions[int, int]{}, 200},
		"TTL":         {firn.TypedOptions[int, int]{TTL: time.Hour}, 1 << 10},
		"Loading":     {firn.TypedOptions[int, int]{Loading: firn.LoadingOptions{StaleIfError: time.Minute}}, 1 << 10},
	} {
		c := harness.OpenSmall(t)
		all := make([]*firn.Typed[int, int], n)
		harness.NewTyped(t, c, "first", o.opts)
		before := heap()
		for i := range all {
			all[i] = harness.NewTyped(t, c, fmt.Sprint("space", i), o.opts)
			if err := all[i].Set(i, i); err != nil {
				t.Fatal(err)
			}
			all[i].Get(i)
		}
		after := heap()
		if each := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / n; each > o.most {
			t.Errorf("with %s: %d bytes of the heap for a namespace, want %d at most", name, each, o.most)
		}
		runtime.KeepAlive(all)
	}
}

// What many goroutines count in one stripe, and then in many, is counted nearly in full.
func TestCountsOfManyCalls(t *testing.T) {
	c := harness.OpenSmall(t)
	v := harness.NewTyped(t, c, "counted", firn.TypedOptions[int, int]{})
	const n = 100_000
	for i := range n {
		if i%4 == 0 {
			if err := v.Set(i%10, i); err != nil {
				t.Fatal(err)
			}
		}
		v.Get(i % 20)
	}
	if st := v.Stats(); st.Hits+st.Misses != n || st.Sets != n/4 {
		t.Errorf("%d hits, %d misses, %d sets of %d reads and %d sets", st.Hits, st.Misses, st.Sets, n, n/4)
	}
}
