package typed

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

func expire[K comparable, V any](t *testing.T, typed *firn.Typed[K, V], tag string) {
	t.Helper()
	harness.Must(t, typed.ExpireTag(context.Background(), tag))
}

// down is a source that is down.
func down(context.Context, string) (string, error) { return "", errSource }

// expectStale demands that a load which fails gives a value, or its error where that is empty.
func expectStale(t *testing.T, when string, typed *firn.Typed[string, string], key, want string) {
	t.Helper()
	v, err := typed.GetOrLoad(t.Context(), key, down)
	var b firn.TypedBatch[string]
	multi := typed.GetOrLoadMulti(t.Context(), &b, []string{key}, func(context.Context, []string) (map[string]string, error) { return nil, errSource })
	many, found := b.Value(0)
	if v != want || many != want || found != (want != "") || want == "" && (err != errSource || !errors.Is(multi, errSource)) || want != "" && (err != nil || multi != nil) {
		t.Errorf("%s: %q, %v and %q, %v of a source that is down: want %q", when, v, err, many, multi, want)
	}
}

func withStaleIfError(o *firn.Options) {
	o.Clock, o.Loading.StaleIfError, o.Loading.RetryAfter = time.Now, time.Hour, time.Millisecond
}

// No read finds a value of which a tag has expired, with or without a time to live, and a load that fails
// finds it as long as StaleIfError says.
func TestExpireTag(t *testing.T) {
	for name, ttl := range map[string]time.Duration{"Forever": firn.Forever, "a day": 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			onTagTiers(t, func(t *testing.T, typed *firn.Typed[string, string]) {
				long := strings.Repeat("long ", 30_000)
				for key, v := range map[string]string{"k": "v", "long": long} {
					harness.Must(t, typed.SetWith(t.Context(), key, v, firn.SetOptions{TTL: ttl, Tags: []string{"a", "b"}}))
					typed.Get(key)
				}
				setTagged(t, typed, "other", "v", "c")
				expire(t, typed, "b")
				for read, find := range taggedReads {
					if strings.HasPrefix(read, "GetOrLoad") {
						continue // with an answer of its own
					}
					if v, ok := find(typed, "k"); ok {
						t.Errorf("%s finds %q", read, v)
					}
					if _, ok := find(typed, "other"); !ok {
						t.Errorf("%s finds no value without the tag", read)
					}
				}
				time.Sleep(59 * time.Minute)
				expectStale(t, "after 59 minutes", typed, "k", "v")
				expectStale(t, "after 59 minutes", typed, "long", long)
				if v, ok := typed.Get("k"); ok {
					t.Errorf("Get finds %q after a load that failed", v)
				}
				time.Sleep(time.Minute)
				expectStale(t, "after an hour", typed, "k", "")
				expire(t, typed, "b")
				expectStale(t, "after it has expired again", typed, "k", "")
			}, withStaleIfError)
		})
	}
}

// A value that is set afterwards is fresh, and so is one that a load has made.
func TestExpireTagAndNewValues(t *testing.T) {
	onTagTiers(t, func(t *testing.T, typed *firn.Typed[string, string]) {
		setTagged(t, typed, "set", "old", "a")
		setTagged(t, typed, "loaded", "old", "a")
		setTagged(t, typed, "gone", "old", "a")
		expire(t, typed, "a")
		setTagged(t, typed, "set", "new", "a")
		for range 2 {
			v, err := typed.GetOrLoad(t.Context(), "loaded", func(ctx context.Context, _ string) (string, error) {
				return "new", firn.SetLoadTags(ctx, "a")
			})
			if v != "new" || err != nil {
				t.Errorf("loaded %q, %v", v, err)
			}
		}
		for _, key := range []string{"set", "loaded"} {
			if v, ok := typed.Get(key); v != "new" || !ok {
				t.Errorf("%s is %q, %v", key, v, ok)
			}
		}
		invalidate(t, typed, "a")
		for _, key := range []string{"set", "loaded", "gone"} {
			expectStale(t, "after InvalidateTag", typed, key, "")
		}
	}, withStaleIfError)
}

// Under StaleWhileRevalidate the value is the answer, and a load begins behind it.
func TestExpireTagWhileRevalidate(t *testing.T) {
	onTagTiers(t, func(t *testing.T, typed *firn.Typed[string, string]) {
		setTagged(t, typed, "k", "old", "a")
		setTagged(t, typed, "m", "old", "a")
		expire(t, typed, "a")
		load := func(ctx context.Context, _ string) (string, error) { return "new", firn.SetLoadTags(ctx, "a") }
		many := func(ctx context.Context, _ []string) (map[string]string, error) {
			return map[string]string{"m": "new"}, firn.SetLoadTags(ctx, "a")
		}
		for _, want := range []string{"old", "new"} {
			v, err := typed.GetOrLoad(t.Context(), "k", load)
			var b firn.TypedBatch[string]
			multi := typed.GetOrLoadMulti(t.Context(), &b, []string{"m"}, many)
			if m, _ := b.Value(0); v != want || m != want || err != nil || multi != nil {
				t.Errorf("%q, %v and %q, %v: want %q", v, err, m, multi, want)
			}
			synctest.Wait()
		}
		expire(t, typed, "a")
		time.Sleep(time.Minute)
		if v, err := typed.GetOrLoad(t.Context(), "k", down); err != errSource {
			t.Errorf("%q, %v, after the time is over", v, err)
		}
	}, func(o *firn.Options) { o.Clock, o.Loading.StaleWhileRevalidate = time.Now, time.Minute })
}

// Without an option that has old values be answers, ExpireTag is InvalidateTag.
func TestExpireTagWithoutGrace(t *testing.T) {
	onTagTiers(t, func(t *testing.T, typed *firn.Typed[string, string]) {
		setTagged(t, typed, "k", "old", "a")
		expire(t, typed, "a")
		expectStale(t, "without StaleIfError", typed, "k", "")
	})
}

// What a load that was under way has read is stale: those who waited before have it, and nobody else, but in the
// place of an error.
func TestExpireTagDuringLoad(t *testing.T) {
	for name, loader := range tagLoaders {
		t.Run(name, func(t *testing.T) {
			onTagTiers(t, func(t *testing.T, typed *firn.Typed[string, string]) {
				s := &heldSource{value: "old", held: make(chan struct{})}
				load, got := loader(s), make(chan string, 3)
				get := func() {
					v, err := typed.GetOrLoad(t.Context(), "k", load)
					got <- fmt.Sprint(v, " ", err)
				}
				go get()
				synctest.Wait()
				s.value = "new"
				expire(t, typed, "b")
				go get() // joins the load, which is no answer for it
				synctest.Wait()
				s.held <- struct{}{}
				synctest.Wait()
				if v := <-got; v != "old <nil>" {
					t.Errorf("who waited before has %s", v)
				}
				if v, ok := typed.Get("k"); ok {
					t.Errorf("Get finds %q", v)
				}
				s.held <- struct{}{}
				if v := <-got; v != "new <nil>" || s.loads != 2 {
					t.Errorf("who came later has %s, after %d loads", v, s.loads)
				}
				if v, _ := typed.Get("k"); v != "new" {
					t.Errorf("Get finds %q", v)
				}
			}, withStaleIfError)
		})
	}
}

// One who joins a load that fails, from before the tag expired, has the old value as others do, without another load.
func TestExpireTagAndFailedLoad(t *testing.T) {
	onTagTiers(t, func(t *testing.T, typed *firn.Typed[string, string]) {
		setTagged(t, typed, "k", "old", "a")
		expire(t, typed, "a")
		loads, held, got := 0, make(chan struct{}), make(chan string, 2)
		get := func() {
			v, err := typed.GetOrLoad(t.Context(), "k", func(context.Context, string) (string, error) {
				loads++
				<-held
				return "", errSource
			})
			got <- fmt.Sprint(v, " ", err)
		}
		go get()
		synctest.Wait()
		expire(t, typed, "a")
		go get()
		synctest.Wait()
		close(held)
		for range 2 {
			if v := <-got; v != "old <nil>" || loads != 1 {
				t.Errorf("%s after %d loads", v, loads)
			}
		}
	}, withStaleIfError)
}

// A value is refreshed by a loader that asks whether it has changed, and then it is fresh, with its tags; unless the
// tag has expired again meanwhile.
func TestExpireTagNotModified(t *testing.T) {
	onTagTiers(t, func(t *testing.T, typed *firn.Typed[string, string]) {
		setTagged(t, typed, "k", "v", "a")
		expire(t, typed, "a")
		for _, again := range []bool{true, false} {
			v, err := typed.GetOrLoad(t.Context(), "k", func(ctx context.Context, _ string) (string, error) {
				if v, ok := typed.CachedValue(ctx); v != "v" || !ok {
					return "", errSource
				}
				if again {
					expire(t, typed, "a")
				}
				return "", firn.ErrNotModified
			})
			if v != "v" || err != nil || typed.Has("k") == again {
				t.Errorf("%q, %v, and it is fresh: %v", v, err, typed.Has("k"))
			}
		}
		expire(t, typed, "a")
		if typed.Has("k") {
			t.Error("its tags are gone")
		}
		expectStale(t, "when it has expired again", typed, "k", "v")
	}, withStaleIfError)
}

// What changes a value by what it is takes an expired one for absent, and leaves it where it changes nothing; what
// was remembered of a key without a value is forgotten.
func TestExpireTagAndCompute(t *testing.T) {
	onTagTiers(t, func(t *testing.T, typed *firn.Typed[string, string]) {
		setTagged(t, typed, "k", "old", "a")
		loads := 0
		absent := func(ctx context.Context, _ string) (string, error) {
			loads++
			return "", errors.Join(firn.ErrNotFound, firn.SetLoadTags(ctx, "a"))
		}
		_, _ = typed.GetOrLoad(t.Context(), "absent", absent)
		expire(t, typed, "a")
		_, _ = typed.GetOrLoad(t.Context(), "absent", absent)
		if loads != 2 {
			t.Errorf("%d loads of an absent key, want 2", loads)
		}
		_, ok, err := typed.Compute(t.Context(), "k", func(_ string, ok bool) (string, firn.Op) { return "", firn.OpKeep })
		if ok || err != nil {
			t.Errorf("Compute finds a value: %v, %v", ok, err)
		}
		expectStale(t, "after a Compute that keeps what there is", typed, "k", "old")
		if stored, err := typed.SetIfAbsent(t.Context(), "k", "new"); !stored || err != nil {
			t.Errorf("SetIfAbsent: %v, %v", stored, err)
		}
		if v, _ := typed.Get("k"); v != "new" {
			t.Errorf("Get finds %q", v)
		}
	}, withStaleIfError, func(o *firn.Options) { o.Loading.NegativeTTL = time.Hour })
}

// A stale value on the SSD stays there, and is no answer to reads, nor after a kill, a restart, or with a
// registry of another size.
func TestExpireTagOverRestarts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fs, ram := vfstest.NewMem(), int64(1<<20)
		open := func() (*firn.Cache, *firn.Typed[string, string]) {
			c := harness.OpenOn(t, fs, withStaleIfError, func(o *firn.Options) { o.RAMBytes = ram })
			return c, harness.NewTyped(t, c, "n", firn.TypedOptions[string, string]{})
		}
		c, typed := open()
		setTagged(t, typed, "k", "v", "a")
		setTagged(t, typed, "other", "v", "b")
		harness.Demote(t, c)
		expire(t, typed, "a")
		before := c.Stats().SSD.Promotions
		typed.Get("k")
		if n := c.Stats().SSD.Promotions - before; n != 0 {
			t.Errorf("a stale value was promoted")
		}
		for _, how := range []string{"kill", "restart", "more RAM", "less RAM", "kill"} {
			switch how {
			case "kill":
				next := fs.CrashClone(nil, vfstest.Kill)
				harness.Must(t, c.Close())
				fs = next
			case "more RAM":
				harness.Must(t, c.Close())
				ram *= 2
			case "less RAM":
				harness.Must(t, c.Close())
				ram /= 2
			default:
				harness.Must(t, c.Close())
			}
			c, typed = open()
			if typed.Has("k") || !typed.Has("other") {
				t.Errorf("after a %s there is a value with the tag: %v, and without: %v", how, typed.Has("k"), typed.Has("other"))
			}
			expectStale(t, "after a "+how, typed, "k", "v")
			time.Sleep(10 * time.Minute)
		}
		time.Sleep(10 * time.Minute)
		expectStale(t, "after an hour", typed, "k", "")
		harness.Must(t, c.Close())
	})
}

// What has expired leaves as what was invalidated does, once its time is over, and not before.
func TestExpireTagLeaves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenOn(t, vfstest.NewMem(), withStaleIfError)
		typed := harness.NewTyped(t, c, "n", firn.TypedOptions[int, []byte]{})
		const n = 1000
		for i := range n {
			setTagged(t, typed, i, make([]byte, 100), "a")
		}
		expire(t, typed, "a")
		harness.Demote(t, c)
		if left := c.Stats().RAM.TagEvictions; left != 0 {
			t.Errorf("%d values left for their tag within their time", left)
		}
		typed.Get(1)
		if s := c.Stats(); s.TagMisses != 1 {
			t.Errorf("%d tag misses, want 1", s.TagMisses)
		}
		for i := range n {
			setTagged(t, typed, i, make([]byte, 100), "a")
		}
		expire(t, typed, "a")
		time.Sleep(time.Hour)
		harness.Demote(t, c)
		if left := c.Stats().RAM.TagEvictions; left < n/2 {
			t.Errorf("%d of %d values left for their tag when its time was over", left, n)
		}
	})
}

// With a policy of its own a typed cache has the grace of that.
func TestExpireTagOfPolicy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t, withStaleIfError)
		typed := harness.NewTyped(t, c, "n", firn.TypedOptions[string, string]{Loading: firn.LoadingOptions{StaleIfError: time.Minute, RetryAfter: time.Millisecond}})
		setTagged(t, typed, "k", "v", "a")
		expire(t, typed, "a")
		time.Sleep(59 * time.Second)
		expectStale(t, "within its time", typed, "k", "v")
		time.Sleep(time.Second)
		expire(t, typed, "a") // brings nothing back
		expectStale(t, "afterwards", typed, "k", "")
	})
}

func TestExpireTagErrors(t *testing.T) {
	c := harness.OpenSmall(t)
	typed := harness.NewTyped(t, c, "n", firn.TypedOptions[string, string]{})
	for _, tag := range []string{"", strings.Repeat("x", 256)} {
		if err := typed.ExpireTag(context.Background(), tag); err == nil || !strings.HasPrefix(err.Error(), "firn: ExpireTag: ") {
			t.Errorf("a tag of %d bytes: %v", len(tag), err)
		}
	}
	harness.Must(t, c.Close())
	if err := typed.ExpireTag(context.Background(), "a"); !errors.Is(err, firn.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}
