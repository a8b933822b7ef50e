package typed

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// rawKey is the key of the cache under which a typed one stores a string.
func rawKey(t *testing.T, c *firn.Cache, key string) []byte {
	t.Helper()
	for k := range c.All() {
		if len(k) == 8+len(key) && strings.HasSuffix(string(k), key) {
			return append([]byte(nil), k...)
		}
	}
	t.Fatalf("no entry of %q", key)
	return nil
}

// After any write, by whatever way, the front does not answer with what was
// there before.
func TestFrontFollowsWrites(t *testing.T) {
	opts := firn.TypedOptions[string, string]{}
	const absent = "\x00absent"
	for name, write := range map[string]struct {
		do   func(c *firn.Cache, front, other *firn.Typed[string, string], raw []byte, clock *cachetest.Clock) error
		want string
	}{
		"Set": {func(_ *firn.Cache, front, _ *firn.Typed[string, string], _ []byte, _ *cachetest.Clock) error {
			return front.Set("k", "new")
		}, "new"},
		"Touch": {func(_ *firn.Cache, front, _ *firn.Typed[string, string], _ []byte, clock *cachetest.Clock) error {
			_, err := front.Touch(context.Background(), "k", time.Second)
			clock.Advance(time.Second)
			return err
		}, absent},
		"Cache.Touch": {func(c *firn.Cache, _, _ *firn.Typed[string, string], raw []byte, clock *cachetest.Clock) error {
			_, err := c.Touch(context.Background(), raw, time.Second)
			clock.Advance(time.Second)
			return err
		}, absent},
		"SetWithTTL": {func(_ *firn.Cache, front, _ *firn.Typed[string, string], _ []byte, _ *cachetest.Clock) error {
			return front.SetWithTTL("k", "new", time.Hour)
		}, "new"},
		"Delete": {func(_ *firn.Cache, front, _ *firn.Typed[string, string], _ []byte, _ *cachetest.Clock) error {
			return front.Delete("k")
		}, absent},
		"Clear": {func(_ *firn.Cache, front, _ *firn.Typed[string, string], _ []byte, _ *cachetest.Clock) error {
			return front.Clear(ctx)
		}, absent},
		"expiry": {func(_ *firn.Cache, _, _ *firn.Typed[string, string], _ []byte, clock *cachetest.Clock) error {
			clock.Advance(time.Minute)
			return nil
		}, absent},
		"Set of another": {func(_ *firn.Cache, _, other *firn.Typed[string, string], _ []byte, _ *cachetest.Clock) error {
			return other.Set("k", "new")
		}, "new"},
		"Delete of another": {func(_ *firn.Cache, _, other *firn.Typed[string, string], _ []byte, _ *cachetest.Clock) error {
			return other.Delete("k")
		}, absent},
		"Clear of another": {func(_ *firn.Cache, _, other *firn.Typed[string, string], _ []byte, _ *cachetest.Clock) error {
			return other.Clear(ctx)
		}, absent},
		"Cache.Set": {func(c *firn.Cache, _, _ *firn.Typed[string, string], raw []byte, _ *cachetest.Clock) error {
			v, _ := c.Get(nil, raw)
			return c.Set(raw, append(v[:4], "raw"...))
		}, "raw"},
		"Cache.SetMulti": {func(c *firn.Cache, _, _ *firn.Typed[string, string], raw []byte, _ *cachetest.Clock) error {
			v, _ := c.Get(nil, raw)
			return c.SetMulti(ctx, [][]byte{raw}, [][]byte{append(v[:4], "raw"...)})
		}, "raw"},
		"Cache.Delete": {func(c *firn.Cache, _, _ *firn.Typed[string, string], raw []byte, _ *cachetest.Clock) error {
			return c.Delete(raw)
		}, absent},
		"Cache.Clear": {func(c *firn.Cache, _, _ *firn.Typed[string, string], _ []byte, _ *cachetest.Clock) error {
			return c.Clear(ctx)
		}, absent},
		"Close": {func(c *firn.Cache, _, _ *firn.Typed[string, string], _ []byte, _ *cachetest.Clock) error {
			return c.Close()
		}, absent},
	} {
		clock := &cachetest.Clock{}
		c := harness.OpenSmall(t, func(o *firn.Options) { o.Clock, o.TTL = clock.Now, time.Minute })
		front := harness.NewTyped(t, c, "n", harness.WithFront(opts))
		second := harness.NewTyped(t, c, "n", harness.WithFront(opts))
		plain := harness.NewTyped(t, c, "n", opts)
		for _, other := range []*firn.Typed[string, string]{second, plain} {
			if name == "Close" && other == plain {
				continue // it is closed already
			}
			front.Set("k", "old")
			for range 3 {
				front.Get("k")
				second.Get("k")
			}
			if hits := c.Stats().FrontHits; hits < 4 {
				t.Fatalf("%s: %d front hits, want at least 4: the test shows nothing", name, hits)
			}
			for _, typed := range []*firn.Typed[string, string]{front, plain} {
				if ttl, ok := typed.TTL("k"); !ok || ttl != time.Minute {
					t.Errorf("%s: TTL %v, %v, want a minute, with a front and without", name, ttl, ok)
				}
			}
			var raw []byte
			if strings.HasPrefix(name, "Cache.") {
				raw = rawKey(t, c, "k")
			}
			if err := write.do(c, front, other, raw, clock); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for i, typed := range []*firn.Typed[string, string]{front, second, plain} {
				for range 2 {
					v, ok := typed.Get("k")
					if !ok {
						v = absent
					}
					if v != write.want || typed.Has("k") != (write.want != absent) {
						t.Errorf("%s: typed cache %d finds %q, has %v, want %q", name, i, v, typed.Has("k"), write.want)
					}
					if _, ok := typed.TTL("k"); ok != (write.want != absent) {
						t.Errorf("%s: typed cache %d: TTL says %v, want %q", name, i, ok, write.want)
					}
				}
			}
			front.Delete("k")
		}
	}
}

// What RAM has evicted is found in the front as long as it lives: by every call
// that tells of a value.
func TestFrontOutlivesEviction(t *testing.T) {
	clock := &cachetest.Clock{}
	c := harness.OpenSmall(t, func(o *firn.Options) { o.Clock, o.TTL = clock.Now, time.Minute })
	opts := firn.TypedOptions[string, string]{}
	plain := harness.NewTyped(t, c, "n", opts)
	front := harness.NewTyped(t, c, "n", harness.WithFront(opts))
	front.Set("k", "v")
	front.Get("k")
	for i := 0; plain.Has("k"); i++ {
		key := fmt.Append(nil, i)
		if err := c.SetWithTTL(key, make([]byte, 1000), firn.Forever); err != nil {
			t.Fatal(err)
		}
		c.Get(nil, key) // otherwise it would not push out what has been read, as k has
		if i > 20_000 {
			t.Fatal("k stays in RAM")
		}
	}
	clock.Advance(time.Second)
	v, ok := front.Get("k")
	ttl, alive := front.TTL("k")
	if !ok || v != "v" || !alive || ttl != time.Minute-time.Second || !front.Has("k") {
		t.Errorf("Get %q, %v, TTL %v, %v, Has %v", v, ok, ttl, alive, front.Has("k"))
	}
	clock.Advance(time.Minute)
	_, ok = front.Get("k")
	_, alive = front.TTL("k")
	if ok || alive || front.Has("k") {
		t.Errorf("after its time: Get %v, TTL %v, Has %v", ok, alive, front.Has("k"))
	}
}

// GetOrLoad fills the front with what it finds, with every option and tier; writes
// are seen there as elsewhere.
func TestFrontIsFilledByGetOrLoad(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct{ ssd, ahead bool }{
		"RAM": {}, "refresh ahead": {ahead: true}, "SSD": {ssd: true}, "SSD, refresh ahead": {true, true},
	} {
		clock := &cachetest.Clock{}
		change := func(o *firn.Options) {
			o.Clock, o.TTL = clock.Now, time.Minute
			if x.ahead {
				o.Loading.RefreshAfter = 30 * time.Second
			}
		}
		var c *firn.Cache
		if x.ssd {
			c = harness.OpenOn(t, vfstest.NewMem(), change)
		} else {
			c = harness.OpenSmall(t, change)
		}
		typed := harness.NewTyped(t, c, "n", harness.WithFront(firn.TypedOptions[string, string]{}))
		get := func(want string, inFront uint64) {
			t.Helper()
			before := c.Stats().FrontHits
			v, err := typed.GetOrLoad(t.Context(), "k", func(context.Context, string) (string, error) { return "loaded", nil })
			if n := c.Stats().FrontHits - before; err != nil || v != want || n != inFront {
				t.Errorf("%s: %q, %v, %d front hits; want %q, %d", name, v, err, n, want, inFront)
			}
		}
		get("loaded", 0)
		get("loaded", 0)
		get("loaded", 1)
		typed.Set("k", "set")
		get("set", 1)
		if x.ssd {
			typed.Set("k", "moved")
			harness.Demote(t, c)
			get("moved", 1)
			typed.Delete("k")
			typed.Set("k", "again")
			harness.Demote(t, c)
			get("again", 0)
			get("again", 1)
			typed.Delete("k")
			typed.Set("k", "again")
			harness.Demote(t, c)
			get("again", 0)
			get("again", 1)
		}
		if ttl, ok := typed.TTL("k"); !ok || ttl != time.Minute {
			t.Errorf("%s: TTL %v, %v", name, ttl, ok)
		}
		clock.Advance(time.Minute)
		get("loaded", 0)
	}
}

// A load that stores its value does so in the front's sight.
func TestFrontFollowsLoads(t *testing.T) {
	clock := &cachetest.Clock{}
	c := harness.OpenSmall(t, func(o *firn.Options) { o.Clock = clock.Now })
	typed := harness.NewTyped(t, c, "n", harness.WithFront(firn.TypedOptions[string, string]{}))
	typed.SetWithTTL("k", "old", time.Minute)
	raw := rawKey(t, c, "k")
	stored, _ := c.Get(nil, raw)
	typed.Get("k")
	clock.Advance(time.Minute)
	if _, err := c.GetOrLoad(context.Background(), nil, raw, func(context.Context, []byte) ([]byte, error) {
		clock.Advance(-time.Minute) // the old value would hold again, were it there
		return append(stored[:4:4], "loaded"...), nil
	}); err != nil {
		t.Fatal(err)
	}
	if v, ok := typed.Get("k"); !ok || v != "loaded" {
		t.Errorf("got %q, %v, want what was loaded", v, ok)
	}
}

// So does a load that takes a value away.
func TestFrontFollowsLoadsThatDelete(t *testing.T) {
	ctx := context.Background()
	for name, load := range map[string]firn.TypedLoadFunc[string, string]{
		"not found": func(context.Context, string) (string, error) { return "", firn.ErrNotFound },
		"kept not":  func(ctx context.Context, _ string) (string, error) { return "new", firn.SetLoadTTL(ctx, 0) },
	} {
		c := harness.OpenSmall(t)
		typed := harness.NewTyped(t, c, "n", harness.WithFront(firn.TypedOptions[string, string]{}))
		typed.Set("k", "old")
		for range 2 {
			if v, ok := typed.Get("k"); !ok || v != "old" {
				t.Fatalf("%s: %q, %v", name, v, ok)
			}
		}
		if c.Stats().FrontHits == 0 {
			t.Errorf("%s: no front hits: the test shows nothing", name)
		}
		if _, err := typed.Refresh(ctx, "k", load); err != nil && !errors.Is(err, firn.ErrNotFound) {
			t.Fatal(err)
		}
		if v, ok := typed.Get("k"); ok {
			t.Errorf("%s: the front has %q still", name, v)
		}
	}
}

// hookCodec calls a function between the reading of bytes and the filling of
// the front.
type hookCodec struct {
	firn.Codec[string]
	hook func()
}

func (h *hookCodec) Decode(src []byte) (string, error) {
	v, err := h.Codec.Decode(src)
	if h.hook != nil {
		h.hook()
	}
	return v, err
}

// A value that was replaced while it was decoded does not get into the front.
func TestFrontFillLosesAgainstWrites(t *testing.T) {
	strs, err := firn.DefaultCodec[string]()
	if err != nil {
		t.Fatal(err)
	}
	codec := &hookCodec{Codec: strs}
	c := harness.OpenSmall(t)
	typed := harness.NewTyped(t, c, "n", harness.WithFront(firn.TypedOptions[string, string]{Codec: codec}))
	for name, write := range map[string]func() error{
		"Set": func() error {
			for range 2 { // the second is of a hot value
				if err := typed.Set("k", "new"); err != nil {
					return err
				}
				typed.Get("k")
				typed.Get("k")
			}
			return nil
		},
		"Delete":      func() error { return typed.Delete("k") },
		"Clear":       func() error { return typed.Clear(t.Context()) },
		"Cache.Clear": func() error { return c.Clear(t.Context()) },
	} {
		for _, fill := range []string{"a read", "a Set"} {
			typed.Delete("k")
			typed.Set("k", "old")
			if fill == "a Set" {
				typed.Get("k") // is hot
				typed.Get("k") // and read
			}
			codec.hook = func() {
				codec.hook = nil
				if err := write(); err != nil {
					t.Error(err)
				}
			}
			if fill == "a Set" {
				typed.Set("k", "old")
			} else if v, ok := typed.Get("k"); !ok || v != "old" {
				t.Errorf("%s: the read from before: %q, %v", name, v, ok)
			}
			if codec.hook != nil {
				t.Errorf("%s, %s: nothing was decoded: the test shows nothing", name, fill)
			}
			if v, ok := typed.Get("k"); ok && v == "old" {
				t.Errorf("%s, %s: the old value is hot", name, fill)
			}
		}
	}
}

// versioned is a value that says which key it belongs to, and when it was set.
type versioned struct {
	Key, Version uint64
}

func TestFrontCounts(t *testing.T) {
	c := harness.OpenSmall(t)
	typed := harness.NewTyped(t, c, "n", harness.WithFront(firn.TypedOptions[string, string]{}))
	typed.Set("k", "v")
	before := c.Stats()
	for range 1000 {
		if v, ok := typed.Get("k"); !ok || v != "v" {
			t.Fatalf("got %q, %v", v, ok)
		}
	}
	after := c.Stats()
	hits, fromFront := after.Hits-before.Hits, after.FrontHits-before.FrontHits
	if fromFront != 999 || hits < 2 || hits > 20 || after.Misses != before.Misses {
		t.Errorf("1000 reads: %d front hits, %d hits, %d misses, want 999, a few, and none", fromFront, hits, after.Misses-before.Misses)
	}
	if r := after.HitRatio(); r < 0.99 {
		t.Errorf("hit ratio %v: front hits are hits", r)
	}
	var b firn.TypedBatch[string]
	typed.GetMulti(ctx, &b, []string{"absent", "k"})
	if v, ok := b.Value(1); !ok || v != "v" || c.Stats().FrontHits != after.FrontHits+1 {
		t.Errorf("GetMulti: %q, %v, %d front hits more, want 1", v, ok, c.Stats().FrontHits-after.FrontHits)
	}
	if _, ok := b.Value(0); ok {
		t.Error("GetMulti finds what is not there")
	}
	if v, err := typed.Lookup(context.Background(), "k"); err != nil || v != "v" || c.Stats().FrontHits != after.FrontHits+2 {
		t.Errorf("Lookup: %q, %v", v, err)
	}
}

// A front is only for keys of which the bytes are the key.
func (v *versioned) AppendBinary(dst []byte) ([]byte, error) {
	return fmt.Appendf(dst, "%d %d", v.Key, v.Version), nil
}

func (v *versioned) UnmarshalBinary(b []byte) error {
	_, err := fmt.Sscanf(string(b), "%d %d", &v.Key, &v.Version)
	return err
}

// frontStress has each key written by one goroutine, which tells which version
// is acknowledged, and read by many. It returns what was wrong, and how many
// front hits there were.
func frontStress(t *testing.T) (wrong string, hits uint64) {
	c := harness.OpenSmall(t)
	opts := firn.TypedOptions[uint64, versioned]{HotValues: -1}
	fronted := opts
	fronted.HotValues = 1000
	front := harness.NewTyped(t, c, "n", fronted)
	plain := harness.NewTyped(t, c, "n", opts)
	rounds := 20_000
	if testing.Short() {
		rounds = 3_000
	}
	const keys = 4
	var (
		acked, gone [keys]atomic.Uint64 // the version that is there at least; below which none may be found
		report      atomic.Pointer[string]
		done        atomic.Int32
		wg          sync.WaitGroup
	)
	fail := func(format string, args ...any) {
		s := fmt.Sprintf(format, args...)
		report.CompareAndSwap(nil, &s)
	}
	goOn := func(version uint64) bool { // until readers have come, too
		return report.Load() == nil && (version <= uint64(rounds) || version <= 1000*uint64(rounds) && c.Stats().FrontHits == 0)
	}
	for key := range uint64(keys) {
		wg.Go(func() {
			defer done.Add(1)
			rng := rand.New(rand.NewPCG(1, key))
			for version := uint64(1); goOn(version); version++ {
				typed := []*firn.Typed[uint64, versioned]{front, plain}[rng.IntN(2)]
				switch {
				case rng.IntN(8) == 0:
					typed.Delete(key)
					gone[key].Store(version)
				case rng.IntN(1000) == 0:
					typed.Clear(ctx)
					gone[key].Store(version)
				case rng.IntN(2000) == 0:
					c.Clear(ctx)
					gone[key].Store(version)
				default:
					if err := typed.Set(key, versioned{key, version}); err != nil {
						fail("Set: %v", err)
					}
					acked[key].Store(version)
				}
			}
		})
	}
	for r := range 4 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(2, uint64(r)))
			mine := front
			for i := 0; done.Load() < keys && report.Load() == nil; i++ {
				if r == 0 && i%5000 == 4999 { // a front that is attached meanwhile
					again := opts
					again.HotValues = 1000
					mine = harness.NewTyped(t, c, "n", again)
				}
				key := rng.Uint64N(keys)
				least := max(acked[key].Load(), gone[key].Load())
				v, ok := mine.Get(key)
				switch {
				case ok && v.Key != key:
					fail("key %d has the value of %d", key, v.Key)
				case ok && v.Version < least:
					fail("stale: key %d has version %d, after %d was acknowledged", key, v.Version, least)
				}
			}
		})
	}
	wg.Wait()
	if s := report.Load(); s != nil {
		wrong = *s
	}
	return wrong, c.Stats().FrontHits
}

func TestFrontStress(t *testing.T) {
	wrong, hits := frontStress(t)
	if wrong != "" {
		t.Error(wrong)
	}
	if hits == 0 {
		t.Error("no front hits: the test shows nothing")
	}
}
