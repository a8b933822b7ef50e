package typed

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// Typed values come back with the SSD tier, and cleared ones do not.
func TestTypedSurvivesClose(t *testing.T) {
	opts := firn.Options{RAMBytes: 1 << 20, SSD: harness.With(firn.SSDOptions{Dir: t.TempDir(), Bytes: 64 << 20}, harness.Patiently)}
	typedOpts := firn.TypedOptions[int, user]{}
	const n = 100
	run := func(use func(c *firn.Cache, users *firn.Typed[int, user])) {
		t.Helper()
		c, err := firn.Open(opts)
		if err != nil {
			t.Fatal(err)
		}
		use(c, harness.NewTyped(t, c, "n", typedOpts))
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	count := func(users *firn.Typed[int, user]) (found int) {
		for i := range n {
			if u, ok := users.Get(i); ok {
				if u.ID != userID(i) {
					t.Errorf("user %d is %+v", i, u)
				}
				found++
			}
		}
		return found
	}
	run(func(_ *firn.Cache, users *firn.Typed[int, user]) {
		for i := range n {
			users.Set(i, user{ID: userID(i)})
		}
		if got := count(users); got != n {
			t.Errorf("%d of %d users before Close", got, n)
		}
	})
	run(func(c *firn.Cache, users *firn.Typed[int, user]) {
		if got := count(users); got != n {
			t.Errorf("%d of %d users after Close and Open: %+v", got, n, c.Stats())
		}
		users.Clear(ctx)
		users.Set(0, user{ID: 0})
		users.Get(0)
	})
	run(func(_ *firn.Cache, users *firn.Typed[int, user]) {
		if got := count(users); got != 1 {
			t.Errorf("%d users after Clear, Close and Open, want the one set since", got)
		}
	})
}

// renamed is a codec under another name.
type renamed[V any] struct {
	firn.Codec[V]
	name string
}

func (r renamed[V]) Name() string { return r.name }

// What another codec wrote is a miss and a counter, also if it was written by a
// process before this one and lies on the SSD.
func TestTypedMismatchOnSSD(t *testing.T) {
	const n = 100
	fs := vfstest.NewMem()
	for life, name := range []string{"a/1", "a/2", "b/1"} {
		c := harness.OpenOn(t, fs)
		typed := harness.NewTyped(t, c, "users", firn.TypedOptions[int, user]{Codec: renamed[user]{firn.JSONCodec[user](), name}})
		for i := range n {
			if !typed.Has(i) && life > 0 {
				t.Errorf("%s: entry %d has not survived: the test shows nothing", name, i)
			}
			if u, ok := typed.Get(i); ok {
				t.Errorf("%s: Get reads %+v, which another codec wrote", name, u)
			}
			if typed.Has(i) {
				t.Errorf("%s: entry %d is there still", name, i)
			}
		}
		if got := c.Stats().Mismatches; life > 0 && got != n {
			t.Errorf("%s: %d mismatches, want %d", name, got, n)
		}
		for i := range n {
			if err := typed.Set(i, user{ID: userID(i), Name: name}); err != nil {
				t.Fatal(err)
			}
			if u, ok := typed.Get(i); !ok || u.Name != name {
				t.Errorf("%s: got %+v, %v", name, u, ok)
			}
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A value that a load has replaced does not come back from the SSD after a
// crash, and one whose source has none any more neither.
func TestLoadsEndWhatIsOnSSD(t *testing.T) {
	ctx := context.Background()
	for name, load := range map[string]firn.TypedLoadFunc[string, string]{
		"value":      func(context.Context, string) (string, error) { return "new", nil },
		"not found":  func(context.Context, string) (string, error) { return "", firn.ErrNotFound },
		"kept not":   func(ctx context.Context, _ string) (string, error) { return "new", firn.SetLoadTTL(ctx, 0) },
		"remembered": func(context.Context, string) (string, error) { return "", firn.ErrNotFound },
	} {
		fs := vfstest.NewMem()
		change := func(o *firn.Options) {
			if name == "remembered" {
				o.Loading.NegativeTTL = time.Hour
			}
		}
		c := harness.OpenOn(t, fs, change)
		typed := harness.NewTyped(t, c, "n", firn.TypedOptions[string, string]{})
		typed.Set("k", "old")
		harness.Demote(t, c)
		before := fs.CrashClone(nil, vfstest.Kill)
		if _, err := typed.Refresh(ctx, "k", load); err != nil && !errors.Is(err, firn.ErrNotFound) {
			t.Fatal(err)
		}
		after := fs.CrashClone(nil, vfstest.Kill)

		c = harness.OpenOn(t, before, change)
		if v, ok := harness.NewTyped(t, c, "n", firn.TypedOptions[string, string]{}).Get("k"); !ok || v != "old" {
			t.Errorf("%s: a crash before the load leaves %q, %v: the test shows nothing", name, v, ok)
		}
		c = harness.OpenOn(t, after, change)
		if v, ok := harness.NewTyped(t, c, "n", firn.TypedOptions[string, string]{}).Get("k"); ok && v != "new" {
			t.Errorf("%s: a crash after the load brings %q back", name, v)
		}
	}
}

// Expired typed values are answers also if they lie on the SSD, before a restart
// and after it; those of a namespace that was cleared are not.
func TestTypedStaleOnSSD(t *testing.T) {
	clock := &cachetest.Clock{}
	fs := vfstest.NewMem()
	change := func(o *firn.Options) {
		o.Clock, o.TTL, o.Loading = clock.Now, time.Minute, firn.LoadingOptions{StaleWhileRevalidate: 10 * time.Minute, StaleIfError: time.Hour}
	}
	boom := errors.New("boom")
	failing := func(context.Context, int) (user, error) { return user{}, boom }
	expect := func(typed *firn.Typed[int, user], i int, want error) {
		t.Helper()
		u, err := typed.GetOrLoad(t.Context(), i, failing)
		if !errors.Is(err, want) || err == nil && u.ID != userID(i) {
			t.Errorf("user %d is %+v, %v: want %v", i, u, err, want)
		}
	}
	typedOpts := firn.TypedOptions[int, user]{}
	c := harness.OpenOn(t, fs, change)
	users := harness.NewTyped(t, c, "n", typedOpts)
	const n = 10
	for i := range n {
		users.Set(i, user{ID: userID(i)})
	}
	harness.Demote(t, c)
	clock.Advance(5 * time.Minute)
	expect(users, 0, nil) // under StaleWhileRevalidate, refreshed in vain
	if s := c.Stats(); s.Loads.StaleServed == 0 || users.Has(0) {
		t.Errorf("%d stale values, Has says %v", s.Loads.StaleServed, users.Has(0))
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	c = harness.OpenOn(t, fs, change)
	users = harness.NewTyped(t, c, "n", typedOpts)
	clock.Advance(20 * time.Minute)
	expect(users, 1, nil) // under StaleIfError
	var b firn.TypedBatch[user]
	err := users.GetOrLoadMulti(t.Context(), &b, []int{2, 3}, func(context.Context, []int) (map[int]user, error) { return nil, boom })
	for i := range 2 {
		if u, ok := b.Value(i); err != nil || !ok || u.ID != userID(i+2) {
			t.Errorf("GetOrLoadMulti: %+v, %v, %v", u, ok, err)
		}
	}
	if got := c.Stats().Loads.StaleOnError; got != 3 {
		t.Errorf("%d times fail-safe, want 3", got)
	}
	if err := users.Clear(ctx); err != nil {
		t.Fatal(err)
	}
	expect(users, 4, boom)
	clock.Advance(2 * time.Hour)
	expect(users, 5, boom)
}

// A front keeps the deadline of what has come from the SSD.
func TestFrontOverSSD(t *testing.T) {
	clock := &cachetest.Clock{}
	c := harness.OpenOn(t, vfstest.NewMem(), func(o *firn.Options) { o.Clock, o.TTL = clock.Now, time.Minute })
	typed := harness.NewTyped(t, c, "n", harness.WithFront(firn.TypedOptions[string, string]{}))
	typed.Set("k", "v")
	harness.Demote(t, c)
	for range 3 {
		if v, ok := typed.Get("k"); !ok || v != "v" {
			t.Fatalf("got %q, %v", v, ok)
		}
	}
	if s := c.Stats(); s.SSD.Hits == 0 || s.FrontHits == 0 {
		t.Errorf("%d hits of the SSD and %d of the front: the test shows nothing", s.SSD.Hits, s.FrontHits)
	}
	if ttl, ok := typed.TTL("k"); !ok || ttl != time.Minute {
		t.Errorf("TTL %v, %v", ttl, ok)
	}
	clock.Advance(time.Minute)
	if v, ok := typed.Get("k"); ok {
		t.Errorf("the front has %q after its time", v)
	}
}
