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
	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// overTiers runs a test over RAM, and over RAM and an SSD. Demote takes what RAM has down there.
func overTiers(t *testing.T, test func(t *testing.T, c *firn.Cache, clock *cachetest.Clock, demote func()), change ...func(*firn.Options)) {
	for _, tiers := range []string{"RAM", "SSD"} {
		t.Run(tiers, func(t *testing.T) {
			clock := &cachetest.Clock{}
			change := append([]func(*firn.Options){func(o *firn.Options) { o.Clock = clock.Now }}, change...)
			if tiers == "RAM" {
				test(t, harness.OpenSmall(t, change...), clock, func() {})
				return
			}
			c := harness.OpenOn(t, vfstest.NewMem(), change...)
			test(t, c, clock, func() { harness.Demote(t, c) })
		})
	}
}

// Sessions, pages and rows share a cache, each with its own policy; a namespace without one has
// that of the cache.
func TestLoadingOfANamespace(t *testing.T) {
	overTiers(t, func(t *testing.T, c *firn.Cache, clock *cachetest.Clock, demote func()) {
		type options = firn.TypedOptions[string, string]
		plain := harness.NewTyped(t, c, "plain", options{TTL: time.Minute})
		harness.Must(t, plain.Set("old", "v")) // noted under no grace
		pages := harness.NewTyped(t, c, "pages", options{TTL: time.Minute, Loading: firn.LoadingOptions{StaleIfError: time.Hour}})
		if err := harness.CheckInvariants(c); err != nil {
			t.Error("after a longer grace:", err)
		}
		rows := harness.NewTyped(t, c, "rows", options{Loading: firn.LoadingOptions{NegativeTTL: time.Minute}})
		down := errors.New("the source is down")
		load := func(cache *firn.Typed[string, string], err error) (string, error) {
			return cache.GetOrLoad(t.Context(), "k", func(context.Context, string) (string, error) { return "v", err })
		}
		expect := func(when string, cache *firn.Typed[string, string], err error, value string, want error) {
			t.Helper()
			if got, failed := load(cache, err); got != value || !errors.Is(failed, want) {
				t.Errorf("%s: %q, %v, want %q, %v", when, got, failed, value, want)
			}
		}
		expect("pages", pages, nil, "v", nil)
		expect("plain", plain, nil, "v", nil)
		expect("rows: no such row", rows, firn.ErrNotFound, "", firn.ErrNotFound)
		expect("rows: remembered", rows, nil, "", firn.ErrNotFound)
		demote()
		clock.Advance(2 * time.Minute)
		expect("pages expired", pages, down, "v", nil)
		expect("plain expired", plain, down, "", down)
		expect("plain: not remembered", plain, firn.ErrNotFound, "", firn.ErrNotFound)
		expect("plain", plain, nil, "v", nil)
		expect("rows again", rows, nil, "v", nil)
		if _, ok := pages.Get("k"); ok {
			t.Error("Get finds an expired page")
		}
		if err := harness.CheckInvariants(c); err != nil {
			t.Error(err)
		}
		clock.Advance(2 * time.Hour)
		expect("pages long expired", pages, down, "", down)
		if ttl, ok := rows.TTL("k"); !ok || ttl != firn.Forever {
			t.Errorf("a row's TTL is %v, %v, want that of the cache", ttl, ok)
		}
	})
}

// A namespace's time limit, and its limit of loads, are its own.
func TestLimitsOfANamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t, func(o *firn.Options) { o.Loading.MaxLoads = 1 })
		type options = firn.TypedOptions[string, string]
		one := harness.NewTyped(t, c, "one", options{})
		two := harness.NewTyped(t, c, "two", options{Loading: firn.LoadingOptions{MaxLoads: 1, HardTimeout: 2 * time.Second}})
		start, left := time.Now(), make(chan error, 4)
		for i, cache := range []*firn.Typed[string, string]{one, one, two, two} {
			go func() {
				_, err := cache.GetOrLoad(t.Context(), fmt.Sprint(i), func(ctx context.Context, _ string) (string, error) {
					<-ctx.Done()
					return "", context.Cause(ctx)
				})
				left <- err
			}()
		}
		for i, want := range []time.Duration{2, 4, 30, 60} { // one beside two, each one at a time
			if err := <-left; !errors.Is(err, firn.ErrLoadTimeout) || time.Since(start) != want*time.Second {
				t.Errorf("end %d: %v after %v, want a timeout after %ds", i, err, time.Since(start), want)
			}
		}
	})
}

// Hard timeouts outlive the typed cache that had the first load.
func TestTimeoutsOfAForgottenTyped(t *testing.T) {
	c := harness.OpenSmall(t, func(o *firn.Options) { o.Loading.HardTimeout = 10 * time.Millisecond })
	func() {
		one := harness.NewTyped(t, c, "one", firn.TypedOptions[string, string]{TTL: time.Hour})
		if _, err := one.GetOrLoad(t.Context(), "k", func(context.Context, string) (string, error) { return "v", nil }); err != nil {
			t.Log(err) // it may have been late
		}
	}()
	harness.AwaitNamespaces(c, 0)
	harness.Returns(t, "GetOrLoad", func() {
		_, err := c.GetOrLoad(t.Context(), nil, []byte("k"), func(ctx context.Context, _ []byte) ([]byte, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		if !errors.Is(err, firn.ErrLoadTimeout) {
			t.Errorf("%v, want a timeout", err)
		}
	})
}

// An ErrNotFound that a Typed remembers is no answer of another one, which remembers none.
func TestNegativeOfAnother(t *testing.T) {
	c := harness.OpenSmall(t)
	of := func(loading firn.LoadingOptions) *firn.Typed[string, string] {
		return harness.NewTyped(t, c, "n", firn.TypedOptions[string, string]{TTL: time.Hour, Loading: loading})
	}
	remembers := of(firn.LoadingOptions{NegativeTTL: time.Hour})
	none := func(context.Context, string) (string, error) { return "", firn.ErrNotFound }
	one := func(context.Context, string) (string, error) { return "v", nil }
	for i, loading := range []firn.LoadingOptions{{}, {StaleIfError: time.Hour}, {ErrorTTL: time.Minute}} {
		other, key := of(loading), fmt.Sprint(i)
		for range 2 {
			if _, err := remembers.GetOrLoad(t.Context(), key, none); err != firn.ErrNotFound {
				t.Error(err)
			}
		}
		if _, err := remembers.GetOrLoad(t.Context(), key, one); err != firn.ErrNotFound {
			t.Error("nothing was remembered:", err)
		}
		var b firn.TypedBatch[string]
		bulk := key + " in bulk"
		remembers.GetOrLoad(t.Context(), bulk, none)
		harness.Must(t, other.GetOrLoadMulti(t.Context(), &b, []string{bulk}, func(context.Context, []string) (map[string]string, error) {
			return map[string]string{bulk: "v"}, nil
		}))
		v, err := other.GetOrLoad(t.Context(), key, one)
		if in, _ := b.Value(0); v != "v" || err != nil || in != "v" {
			t.Errorf("%+v: %q, %v, and in bulk %q", loading, v, err, in)
		}
	}
}

// reads are what counts as a read of "k", and whether each finds it.
var reads = map[string]func(t *testing.T, s *firn.Typed[string, string]) bool{
	"Get": func(_ *testing.T, s *firn.Typed[string, string]) bool { _, ok := s.Get("k"); return ok },
	"Lookup": func(t *testing.T, s *firn.Typed[string, string]) bool {
		_, err := s.Lookup(t.Context(), "k")
		return err == nil
	},
	"LookupEntry": func(t *testing.T, s *firn.Typed[string, string]) bool {
		_, err := s.LookupEntry(t.Context(), "k")
		return err == nil
	},
	"GetOrLoad": func(t *testing.T, s *firn.Typed[string, string]) bool {
		_, err := s.GetOrLoad(t.Context(), "k", func(context.Context, string) (string, error) { return "", errors.New("gone") })
		return err == nil
	},
	"GetMulti": func(_ *testing.T, s *firn.Typed[string, string]) bool {
		var b firn.TypedBatch[string]
		s.GetMulti(ctx, &b, []string{"k"})
		_, ok := b.Value(0)
		return ok
	},
	"Compute with OpKeep": func(t *testing.T, s *firn.Typed[string, string]) bool {
		_, ok, err := s.Compute(t.Context(), "k", func(old string, _ bool) (string, firn.Op) { return old, firn.OpKeep })
		return ok && err == nil
	},
	"Compute with OpUpdate": func(t *testing.T, s *firn.Typed[string, string]) (found bool) {
		_, _, err := s.Compute(t.Context(), "k", func(old string, ok bool) (string, firn.Op) {
			if found = ok; ok {
				return old, firn.OpUpdate
			}
			return "", firn.OpDelete
		})
		return found && err == nil
	},
	"CompareAndSwap": func(t *testing.T, s *firn.Typed[string, string]) bool {
		for _, v := range []string{"v", "x"} {
			if ok, err := s.CompareAndSwap(t.Context(), "k", v, v); ok && err == nil {
				return true
			}
		}
		return false
	},
	"SetIfAbsent": func(t *testing.T, s *firn.Typed[string, string]) bool {
		stored, err := s.SetIfAbsent(t.Context(), "k", "v")
		return !stored && err == nil
	},
}

// A session lives for 20 minutes after its last use, and for 8 hours at most: hot or not, read
// one by one or many at once, whatever slides elsewhere in the cache.
func TestSlidingUpToATTL(t *testing.T) {
	type options = firn.TypedOptions[string, string]
	for name, read := range reads {
		for _, elsewhere := range []time.Duration{0, time.Hour} {
			for _, hot := range []int{-1, 1000} {
				t.Run(fmt.Sprintf("%s, hot %d, elsewhere %v", name, hot, elsewhere), func(t *testing.T) {
					overTiers(t, func(t *testing.T, c *firn.Cache, clock *cachetest.Clock, demote func()) {
						s := harness.NewTyped(t, c, "sessions", options{TTL: 8 * time.Hour, ExpireAfterAccess: 20 * time.Minute, HotValues: hot})
						harness.Must(t, s.Set("k", "v"))
						harness.Must(t, s.Set("idle", "v"))
						demote()
						for at := time.Duration(0); at < 8*time.Hour-15*time.Minute; at += 15 * time.Minute {
							if clock.Advance(15 * time.Minute); !read(t, s) {
								t.Fatalf("gone after %v", at+15*time.Minute)
							}
							if at == 4*time.Hour { // it keeps its end
								if _, _, err := s.Compute(t.Context(), "k", func(string, bool) (string, firn.Op) { return "w", firn.OpUpdate }); err != nil {
									t.Fatal(err)
								}
								if ok, err := s.CompareAndSwap(t.Context(), "k", "w", "x"); !ok || err != nil {
									t.Fatal("CompareAndSwap", ok, err)
								}
							}
						}
						if s.Has("idle") {
							t.Error("an idle one is there")
						}
						if ttl, _ := s.TTL("k"); ttl < 14*time.Minute || ttl > 15*time.Minute+time.Second {
							t.Errorf("%v left a quarter of an hour before the end", ttl)
						}
						if clock.Advance(15*time.Minute + time.Second); read(t, s) {
							t.Error("there after 8 hours")
						}
					}, func(o *firn.Options) { o.ExpireAfterAccess = elsewhere })
				})
			}
		}
	}
}

// A value that its source says is unchanged has another life, with its tags: it slides until the
// end of that.
func TestSlidingNotModified(t *testing.T) {
	for _, tags := range [][]string{nil, {"t"}} {
		overTiers(t, func(t *testing.T, c *firn.Cache, clock *cachetest.Clock, demote func()) {
			s := harness.NewTyped(t, c, "n", firn.TypedOptions[string, string]{TTL: time.Hour, ExpireAfterAccess: 10 * time.Minute})
			load := func(ctx context.Context, _ string) (string, error) {
				if _, ok := s.CachedValue(ctx); ok {
					return "", firn.ErrNotModified
				}
				return "v", firn.SetLoadTags(ctx, tags...)
			}
			slides := func(span time.Duration) {
				t.Helper()
				for at := time.Duration(0); at < span; at += 5 * time.Minute {
					clock.Advance(5 * time.Minute)
					if _, ok := s.Get("k"); !ok {
						t.Fatalf("tags %v: gone after %v", tags, at+5*time.Minute)
					}
				}
			}
			harness.Must(t, harness.Err(s.Refresh(t.Context(), "k", load)))
			demote()
			slides(50 * time.Minute)
			harness.Must(t, harness.Err(s.Refresh(t.Context(), "k", load)))
			slides(55 * time.Minute)
			if ttl, _ := s.TTL("k"); ttl > 5*time.Minute+time.Second {
				t.Errorf("tags %v: %v left five minutes before the end", tags, ttl)
			}
			harness.Must(t, s.InvalidateTag(t.Context(), "t"))
			if s.Has("k") != (tags == nil) {
				t.Errorf("tags %v: it does not keep them", tags)
			}
			if n := c.Stats().Loads.NotModified; n != 1 {
				t.Errorf("%d loads found nothing changed", n)
			}
		})
	}
}

// A number that is added to in time slides, too.
func TestSlidingIncrement(t *testing.T) {
	overTiers(t, func(t *testing.T, c *firn.Cache, clock *cachetest.Clock, demote func()) {
		hits := harness.NewTyped(t, c, "hits", firn.TypedOptions[string, int64]{ExpireAfterAccess: time.Minute})
		for want := int64(1); want < 10; want++ {
			if sum, err := firn.Increment(t.Context(), hits, "k", 1); sum != want || err != nil {
				t.Fatalf("%d, %v, want %d", sum, err, want)
			}
			if want == 5 {
				demote()
			}
			clock.Advance(45 * time.Second)
		}
	})
}

// A value that is given a time to live has that, read or not.
func TestSlidingLeavesOthersInANamespace(t *testing.T) {
	overTiers(t, func(t *testing.T, c *firn.Cache, clock *cachetest.Clock, demote func()) {
		s := harness.NewTyped(t, c, "n", firn.TypedOptions[string, int]{ExpireAfterAccess: time.Hour})
		for i := range 4 { // at any time
			harness.Must(t, s.SetWithTTL(fmt.Sprint(i), i, time.Hour))
			clock.Advance(time.Millisecond)
		}
		harness.Must(t, s.Set("slides", 1))
		demote()
		for range 3 {
			clock.Advance(50 * time.Minute)
			if _, ok := s.Get("slides"); !ok {
				t.Error("gone while it was read")
			}
			for i := range 4 {
				s.Get(fmt.Sprint(i))
			}
		}
		for i := range 4 {
			if s.Has(fmt.Sprint(i)) {
				t.Errorf("%d is there after its time", i)
			}
		}
	})
}

// What makes no sense is an error that names field, value and what was expected.
func TestPolicyErrors(t *testing.T) {
	c := harness.OpenSmall(t)
	jitters := harness.OpenSmall(t, func(o *firn.Options) { o.TTL, o.Loading.TTLJitter = time.Hour, .1 })
	if _, err := firn.NewTyped(jitters, "n", firn.TypedOptions[string, string]{ExpireAfterAccess: time.Minute}); err == nil || !strings.Contains(err.Error(), "with Options.Loading.TTLJitter is 0.1, and ExpireAfterAccess 1m0s: want 0") {
		t.Error(err)
	}
	harness.NewTyped(t, jitters, "n", firn.TypedOptions[string, string]{ExpireAfterAccess: time.Minute, Loading: firn.LoadingOptions{HardTimeout: 30 * time.Second}})
	for _, x := range []struct {
		opts firn.TypedOptions[string, string]
		want string
	}{
		{firn.TypedOptions[string, string]{ExpireAfterAccess: 60}, "TypedOptions.ExpireAfterAccess is 60ns: want 0, or 1ms to"},
		{firn.TypedOptions[string, string]{ExpireAfterAccess: time.Hour, TTL: time.Hour}, "TypedOptions.ExpireAfterAccess is 1h0m0s: want less than TTL, 1h0m0s"},
		{firn.TypedOptions[string, string]{ExpireAfterAccess: time.Hour, Loading: firn.LoadingOptions{TTLJitter: .1}}, "TypedOptions.Loading.TTLJitter is 0.1, and ExpireAfterAccess 1h0m0s: want 0"},
		{firn.TypedOptions[string, string]{Loading: firn.LoadingOptions{NegativeTTL: 60}}, "TypedOptions.Loading.NegativeTTL is 60ns: want 0, or 1ms to"},
		{firn.TypedOptions[string, string]{TTL: time.Minute, Loading: firn.LoadingOptions{RefreshAfter: time.Hour}}, "TypedOptions.Loading.RefreshAfter is 1h0m0s: want less than TTL, 1m0s"},
	} {
		if _, err := firn.NewTyped(c, "n", x.opts); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%+v: %v, want %q", x.opts, err, x.want)
		}
	}
}
