package shared

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/internal/shared/sharedtest"
	"github.com/firncache/firn/internal/tests/harness"
)

// sharing opens caches of several processes over one server.
func sharing(t *testing.T, processes int) (server *sharedtest.Server, tiers []*sharedtest.Tier, caches []*firn.Cache) {
	t.Helper()
	server = sharedtest.NewServer()
	for range processes {
		tier := server.Tier()
		tiers = append(tiers, tier)
		caches = append(caches, harness.Open(t, firn.Options{RAMBytes: 1 << 20, Shared: tier}))
	}
	return server, tiers, caches
}

// Writes with a context, and without one, are found by all processes.
func TestSharedWrites(t *testing.T) {
	t.Parallel()
	_, _, c := sharing(t, 2)
	ctx := t.Context()
	key, other := []byte("k"), []byte("o")
	two := [][]byte{key, other}
	for name, w := range map[string]struct {
		write func() error
		want  string // of both keys, in every process
	}{
		"SetWith":        {func() error { return c[0].SetWith(ctx, key, []byte("1"), firn.SetOptions{}) }, "1 true, old true"},
		"SetWith, TTL":   {func() error { return c[0].SetWith(ctx, key, []byte("2"), firn.SetOptions{TTL: time.Hour}) }, "2 true, old true"},
		"DeleteMulti, 1": {func() error { return c[0].DeleteMulti(ctx, key) }, " false, old true"},
		"SetMulti":       {func() error { return c[0].SetMulti(ctx, two, [][]byte{{'3'}, {'4'}}) }, "3 true, 4 true"},
		"DeleteMulti":    {func() error { return c[0].DeleteMulti(ctx, two...) }, " false,  false"},
		"Set":            {func() error { return c[0].Set(key, []byte("5")) }, "5 true, old true"},
		"Clear":          {func() error { return c[0].Clear(ctx) }, " false,  false"},
	} {
		if err := errors.Join(c[1].Set(key, []byte("old")), c[1].Set(other, []byte("old"))); err != nil {
			t.Fatal(err)
		}
		if err := w.write(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for i := range c {
			v, ok := c[i].Get(nil, key)
			v2, ok2 := c[i].Get(nil, other)
			if got := fmt.Sprintf("%s %v, %s %v", v, ok, v2, ok2); got != w.want {
				t.Errorf("%s: process %d finds %s, want %s", name, i, got, w.want)
			}
		}
	}
	if err := c[0].SetMulti(ctx, two, nil); err == nil || !strings.Contains(err.Error(), "0 values for 2 keys") {
		t.Errorf("slices of different lengths: %v", err)
	}
	if err := c[0].SetWith(ctx, key, nil, firn.SetOptions{TTL: -1}); err == nil {
		t.Error("a time to live below 0: no error")
	}
}

// A write whose context ends while the server is silent says so, and a server that cannot
// be asked is ErrSharedUnavailable.
func TestSharedWriteErrors(t *testing.T) {
	t.Parallel()
	_, tiers, c := sharing(t, 1)
	writes := map[string]func(ctx context.Context) error{
		"SetWith":        func(ctx context.Context) error { return c[0].SetWith(ctx, []byte("k"), nil, firn.SetOptions{}) },
		"DeleteMulti, 1": func(ctx context.Context) error { return c[0].DeleteMulti(ctx, []byte("k")) },
		"SetMulti":       func(ctx context.Context) error { return c[0].SetMulti(ctx, [][]byte{{1}}, [][]byte{{1}}) },
		"DeleteMulti":    func(ctx context.Context) error { return c[0].DeleteMulti(ctx, []byte{1}) },
		"Clear":          func(ctx context.Context) error { return c[0].Clear(ctx) },
	}
	tiers[0].SetSilent(true)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, write := range writes {
		if err := write(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want that of the context", name, err)
		}
	}
	tiers[0].SetSilent(false)
	tiers[0].SetOnline(false)
	for name, write := range writes {
		if err := write(t.Context()); !errors.Is(err, firn.ErrSharedUnavailable) {
			t.Errorf("%s: %v, want ErrSharedUnavailable", name, err)
		}
	}
}

// An entry tells that it is from the shared tier, and from RAM the next time; Stats tell so, too.
func TestSharedEntryAndStats(t *testing.T) {
	t.Parallel()
	_, _, c := sharing(t, 2)
	if err := c[0].SetWithTTL([]byte("k"), []byte("v"), time.Hour); err != nil {
		t.Fatal(err)
	}
	for _, want := range []firn.Tier{firn.TierShared, firn.TierRAM} {
		e, err := c[1].LookupEntry(t.Context(), nil, []byte("k"))
		if err != nil || string(e.Value) != "v" || e.Tier != want || e.TTL < 59*time.Minute || e.TTL > time.Hour {
			t.Errorf("%+v, %v: want it from %v", e, err, want)
		}
	}
	if _, ok := c[1].Get(nil, []byte("absent")); ok {
		t.Error("found what nobody has set")
	}
	s := c[1].Stats()
	if s.Hits != 2 || s.Misses != 1 || s.Shared.Hits != 1 || s.Shared.Misses != 1 || s.Shared.Copies != 1 || !s.Shared.Online || !s.Shared.Tracking {
		t.Errorf("%d hits, %d misses, %+v", s.Hits, s.Misses, s.Shared)
	}
}

// A copy that another process has made worthless leaves for a cause of its own.
func TestSharedOnEvict(t *testing.T) {
	t.Parallel()
	server := sharedtest.NewServer()
	told := make(chan string, 10)
	listening := harness.Open(t, firn.Options{RAMBytes: 1 << 20, Shared: server.Tier(), OnEvict: func(key, value []byte, cause firn.Cause) {
		told <- fmt.Sprintf("%s=%s %v", key, value, cause)
	}})
	other := harness.Open(t, firn.Options{RAMBytes: 1 << 20, Shared: server.Tier()})
	for _, value := range []string{"one", "two"} {
		if err := other.Set([]byte("k"), []byte(value)); err != nil {
			t.Fatal(err)
		}
		if v, ok := listening.Get(nil, []byte("k")); !ok || string(v) != value {
			t.Fatalf("%s, %v: want %s", v, ok, value)
		}
	}
	if got := <-told; got != "k=one invalidated" {
		t.Errorf("OnEvict was told %q", got)
	}
}

// A tier serves one cache; options that a shared tier excludes are refused.
func TestSharedOptions(t *testing.T) {
	t.Parallel()
	tier := sharedtest.NewServer().Tier()
	harness.Open(t, firn.Options{RAMBytes: 1 << 20, Shared: tier})
	for field, opts := range map[string]firn.Options{
		"Shared":            {RAMBytes: 1 << 20, Shared: tier},
		"ExpireAfterAccess": {RAMBytes: 1 << 20, Shared: sharedtest.NewServer().Tier(), ExpireAfterAccess: time.Hour},
	} {
		c, err := firn.Open(opts)
		if err == nil {
			c.Close()
		}
		var option *firn.OptionError
		if !errors.As(err, &option) || option.Field != field {
			t.Errorf("%v: want an OptionError of %s", err, field)
		}
	}
	var none *sharedtest.Tier
	if err := (firn.Options{RAMBytes: 1 << 20, Shared: none}).Validate(); err == nil || err.Error() != "firn: Options.Shared is a nil *sharedtest.Tier: want one that remote.Open returned without an error, or none" {
		t.Errorf("a nil pointer: %v", err)
	}
}

// An Open that fails has not begun to use the tier, and Close closes it.
func TestSharedTierLives(t *testing.T) {
	t.Parallel()
	server := sharedtest.NewServer()
	tier := server.Tier()
	if _, err := firn.Open(firn.Options{RAMBytes: 1, Shared: tier}); err == nil {
		t.Fatal("no error")
	}
	dir := t.TempDir() + "/absent/of/course\x00"
	if _, err := firn.Open(firn.Options{RAMBytes: 4 << 20, SSD: firn.SSDOptions{Dir: dir, Bytes: 4 << 20}, Shared: tier}); err == nil {
		t.Fatal("no error")
	}
	c, err := firn.Open(firn.Options{RAMBytes: 1 << 20, Shared: tier})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Set([]byte("k"), nil), c.Close()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := tier.Lease(t.Context(), nil, query("k")); err == nil {
		t.Error("the tier of a closed cache answers")
	}
	if v, ok := c.Get(nil, []byte("k")); ok || slices.Contains(v, 0) {
		t.Errorf("the closed cache finds %q", v)
	}
}

func query(key string) shared.Query { return shared.Query{Key: []byte(key)} }
