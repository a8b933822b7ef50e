package bytes

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// The reads that move a deadline, and the calls that do not.
func TestExpireAfterAccess(t *testing.T) {
	ctx, key := context.Background(), []byte("k")
	never := func(context.Context, []byte) ([]byte, error) { return nil, errors.New("nothing is to be loaded") }
	raw := func(f func(c *firn.Cache)) func(*firn.Cache, *firn.Typed[string, string]) {
		return func(c *firn.Cache, _ *firn.Typed[string, string]) { f(c) }
	}
	for name, x := range map[string]struct {
		use   func(c *firn.Cache, typed *firn.Typed[string, string])
		moves bool
	}{
		"Get":       {raw(func(c *firn.Cache) { c.Get(nil, key) }), true},
		"Get large": {raw(func(c *firn.Cache) { c.Get(nil, []byte("large")) }), true},
		"Lookup":    {raw(func(c *firn.Cache) { c.Lookup(ctx, nil, key) }), true},
		"LookupEntry": {raw(func(c *firn.Cache) {
			if e, err := c.LookupEntry(ctx, nil, key); e.TTL < time.Hour || err != nil {
				t.Errorf("LookupEntry tells %v, %v", e.TTL, err)
			}
		}), true},
		"GetMulti":  {raw(func(c *firn.Cache) { var b firn.Batch; c.GetMulti(ctx, &b, [][]byte{key}) }), true},
		"GetOrLoad": {raw(func(c *firn.Cache) { c.GetOrLoad(ctx, nil, key, never) }), true},
		"GetOrLoadMulti": {raw(func(c *firn.Cache) {
			var b firn.Batch
			c.GetOrLoadMulti(ctx, &b, [][]byte{key}, func(context.Context, [][]byte) ([][]byte, error) { return nil, errors.New("nothing is to be loaded") })
		}), true},
		"Set again": {raw(func(c *firn.Cache) { c.Set(key, []byte("w")) }), true},
		"Has":       {raw(func(c *firn.Cache) { c.Has(key) }), false},
		"TTL":       {raw(func(c *firn.Cache) { c.TTL(key) }), false},
		"All": {raw(func(c *firn.Cache) {
			for range c.All() {
			}
		}), false},
		"Typed.Get": {func(_ *firn.Cache, typed *firn.Typed[string, string]) { typed.Get("k") }, true},
		"Typed.Has": {func(_ *firn.Cache, typed *firn.Typed[string, string]) { typed.Has("k") }, false},
		"Typed.TTL": {func(_ *firn.Cache, typed *firn.Typed[string, string]) { typed.TTL("k") }, false},
		"nothing":   {func(*firn.Cache, *firn.Typed[string, string]) {}, false},
	} {
		for _, front := range []bool{false, true} {
			clock := &cachetest.Clock{}
			c := harness.OpenSmall(t, func(o *firn.Options) { o.Clock, o.ExpireAfterAccess = clock.Now, time.Hour })
			opts := firn.TypedOptions[string, string]{}
			if front {
				opts = harness.WithFront(opts)
			}
			typed := harness.NewTyped(t, c, "n", opts)
			harness.Set(t, c, key, []byte("v"))
			harness.Set(t, c, []byte("large"), make([]byte, 200_000))
			typed.Set("k", "v")
			typed.Get("k") // fills the front
			for range 3 {
				clock.Advance(50 * time.Minute)
				x.use(c, typed)
			}
			has := c.Has(key) || c.Has([]byte("large")) || typed.Has("k")
			if has != x.moves {
				t.Errorf("%s, with a front %v: there after three times 50 minutes: %v", name, front, has)
			}
			clock.Advance(time.Hour + 2*time.Millisecond)
			if c.Has(key) || c.Has([]byte("large")) || typed.Has("k") {
				t.Errorf("%s, with a front %v: there an hour after the last read", name, front)
			}
		}
	}
}

// A read moves a deadline only by more than a sixteenth, of which a front tells as the
// bytes do.
func TestExpireAfterAccessSeldomWrites(t *testing.T) {
	for _, front := range []bool{false, true} {
		clock := &cachetest.Clock{}
		c := harness.OpenSmall(t, func(o *firn.Options) { o.Clock, o.ExpireAfterAccess = clock.Now, 16*time.Minute })
		opts := firn.TypedOptions[string, string]{}
		if front {
			opts = harness.WithFront(opts)
		}
		typed := harness.NewTyped(t, c, "n", opts)
		typed.Set("k", "v")
		moved, left := 0, 16*time.Minute
		for range 600 { // of 10 s
			clock.Advance(10 * time.Second)
			if _, ok := typed.Get("k"); !ok {
				t.Fatal("gone while it was read")
			}
			now, ok := typed.TTL("k")
			if !ok || now < 15*time.Minute-5*time.Millisecond || now > 16*time.Minute+2*time.Millisecond {
				t.Fatalf("with a front %v: %v left after a read", front, now)
			}
			if now > left {
				moved++
			}
			left = now
		}
		if moved < 70 || moved > 100 { // in 100 minutes, every 70 s
			t.Errorf("with a front %v: the deadline moved %d times", front, moved)
		}
	}
}

// A value that is given a time to live has that, read or not, as long as the others' or not.
func TestExpireAfterAccessLeavesOthers(t *testing.T) {
	for _, own := range []time.Duration{10 * time.Minute, time.Hour} {
		t.Run(own.String(), func(t *testing.T) { leavesOthers(t, own) })
	}
}

func leavesOthers(t *testing.T, own time.Duration) {
	for name, store := range map[string]func(c *firn.Cache, key []byte) error{
		"SetWithTTL": func(c *firn.Cache, key []byte) error { return c.SetWithTTL(key, nil, own) },
		"SetLoadTTL": func(c *firn.Cache, key []byte) error {
			_, err := c.GetOrLoad(t.Context(), nil, key, func(ctx context.Context, _ []byte) ([]byte, error) {
				return []byte{}, firn.SetLoadTTL(ctx, own)
			})
			return err
		},
		"Touch": func(c *firn.Cache, key []byte) error {
			if err := c.Set(key, nil); err != nil {
				return err
			}
			_, err := c.Touch(t.Context(), key, own)
			return err
		},
	} {
		clock := &cachetest.Clock{}
		c := harness.OpenSmall(t, func(o *firn.Options) { o.Clock, o.ExpireAfterAccess = clock.Now, time.Hour })
		for i := range 10 { // at even and odd times
			clock.Advance(time.Millisecond)
			key := fmt.Append(nil, i)
			if err := store(c, key); err != nil {
				t.Fatal(name, err)
			}
			if ttl, ok := c.TTL(key); !ok || ttl < own || ttl > own+time.Millisecond {
				t.Errorf("%s: TTL %v, %v", name, ttl, ok)
			}
		}
		clock.Advance(own / 10 * 9)
		for i := range 10 {
			if _, ok := c.Get(nil, fmt.Append(nil, i)); !ok {
				t.Errorf("%s: %d is gone", name, i)
			}
		}
		clock.Advance(own/10 + time.Millisecond)
		for i := range 10 {
			if c.Has(fmt.Append(nil, i)) {
				t.Errorf("%s: %d is there, because it was read", name, i)
			}
		}
		if err := c.SetWithTTL([]byte("ever"), nil, firn.Forever); err != nil {
			t.Fatal(err)
		}
		c.Get(nil, []byte("ever"))
		if ttl, ok := c.TTL([]byte("ever")); ttl != firn.Forever || !ok {
			t.Errorf("a value for ever has %v, %v", ttl, ok)
		}
	}
}

// A time to live that is too long is an error also where deadlines slide, to the nanosecond.
func TestTooLongBesideExpireAfterAccess(t *testing.T) {
	ctx, key := t.Context(), []byte("k")
	c := harness.OpenSmall(t, func(o *firn.Options) { o.ExpireAfterAccess = time.Minute })
	typed := harness.NewTyped(t, c, "n", firn.TypedOptions[string, string]{ExpireAfterAccess: time.Hour})
	harness.Set(t, c, key, nil)
	harness.Must(t, typed.Set("k", "v"))
	for ttl := firn.Forever - 3; ttl < firn.Forever; ttl++ {
		for name, err := range map[string]error{
			"SetWithTTL":       c.SetWithTTL([]byte("other"), nil, ttl),
			"SetWith":          c.SetWith(ctx, []byte("other"), nil, firn.SetOptions{TTL: ttl}),
			"Touch":            harness.Err(c.Touch(ctx, key, ttl)),
			"Compute":          c.Compute(ctx, key, func([]byte, bool) ([]byte, firn.Op) { return nil, firn.OpSetTTL(ttl) }),
			"SetWithTTL typed": typed.SetWithTTL("other", "v", ttl),
			"SetWith typed":    typed.SetWith(ctx, "other", "v", firn.SetOptions{TTL: ttl}),
			"Touch typed":      harness.Err(typed.Touch(ctx, "k", ttl)),
		} {
			if err == nil {
				t.Errorf("%s of Forever less %d ns: no error", name, firn.Forever-ttl)
			}
		}
	}
	for _, err := range []error{c.SetWithTTL(key, nil, firn.Forever), typed.SetWithTTL("k", "v", firn.Forever), c.Set(key, nil)} {
		harness.Must(t, err)
	}
}

// A value that goes down and comes up again keeps sliding; what is read from the SSD is
// read, too.
func TestExpireAfterAccessOverSSD(t *testing.T) {
	clock := &cachetest.Clock{}
	fs := vfstest.NewMem()
	open := func() *firn.Cache {
		return harness.OpenOn(t, fs, func(o *firn.Options) { o.Clock, o.ExpireAfterAccess = clock.Now, time.Hour })
	}
	c := open()
	for range 7 {
		harness.Set(t, c, fmt.Append(nil, clock.Millis()), []byte("v"))
		clock.Advance(time.Millisecond)
	}
	var b firn.Batch
	for round := range 4 {
		if round == 0 {
			harness.Demote(t, c)
		} else if err := c.Close(); err != nil {
			t.Fatal(err)
		} else {
			c = open()
		}
		clock.Advance(50 * time.Minute)
		keys := [][]byte{}
		for i := range 7 {
			key := fmt.Append(nil, 1000+i)
			if keys = append(keys, key); round%2 == 1 {
				continue
			}
			e, err := c.LookupEntry(t.Context(), nil, key)
			if err != nil || e.Tier != firn.TierSSD || e.TTL < time.Hour {
				t.Fatalf("round %d, %s: %+v, %v", round, key, e, err)
			}
		}
		if round%2 == 1 {
			c.GetMulti(t.Context(), &b, keys)
			for i, key := range keys {
				if _, ok := b.Value(i); !ok {
					t.Fatalf("round %d, %s: gone", round, key)
				}
				if ttl, _ := c.TTL(key); ttl < time.Hour {
					t.Errorf("round %d, %s: %v", round, key, ttl)
				}
			}
		}
	}
}

// What it excludes is an error that names the field.
func TestExpireAfterAccessExcludes(t *testing.T) {
	for field, change := range map[string]func(o *firn.Options){
		"ExpireAfterAccess":    func(o *firn.Options) { o.TTL = time.Hour },
		"Loading.RefreshAfter": func(o *firn.Options) { o.Loading.RefreshAfter = time.Minute },
		"Loading.TTLJitter":    func(o *firn.Options) { o.Loading.TTLJitter = 0.1 },
	} {
		o := firn.Options{RAMBytes: 1 << 20, ExpireAfterAccess: 30 * time.Minute}
		if err := o.Validate(); err != nil {
			t.Fatal(err)
		}
		change(&o)
		var bad *firn.OptionError
		if err := o.Validate(); !errors.As(err, &bad) || bad.Field != field {
			t.Errorf("%v: want an error of %s", err, field)
		}
	}
	for _, after := range []time.Duration{-1, firn.Forever} {
		var bad *firn.OptionError
		if err := (firn.Options{RAMBytes: 1 << 20, ExpireAfterAccess: after}).Validate(); !errors.As(err, &bad) || bad.Field != "ExpireAfterAccess" {
			t.Errorf("%v: %v", after, err)
		}
	}
}
