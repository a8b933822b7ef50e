package remote_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/remote"
	"github.com/firncache/firn/remote/internal/servertest"
)

// cache is one of several on the same server.
func cache(t *testing.T, addr string, o remote.Options) *firn.Cache {
	t.Helper()
	o.Addrs, o.Namespace, o.Timeout = []string{addr}, "caches", servertest.Patience
	o.Log = slog.New(slog.NewTextHandler(t.Output(), nil))
	shared, err := remote.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	c, err := firn.Open(firn.Options{RAMBytes: 1 << 20, Shared: shared})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// What one cache writes, another finds: at first what it has, then the new value, and no older one
// after it.
func TestTwoCaches(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	a, b := cache(t, s.Addr, remote.Options{}), cache(t, s.Addr, remote.Options{})
	key := []byte("k")
	if value, ok := b.Get(nil, key); ok {
		t.Fatalf("%q before it was written", value)
	}
	before, began := "", time.Now()
	for i := range 100 {
		now := fmt.Sprint(i)
		write := func() error { return a.SetWith(t.Context(), key, []byte(now), firn.SetOptions{}) }
		if i%10 == 9 {
			now, write = "", func() error { return a.DeleteMulti(t.Context(), key) }
		}
		if err := write(); err != nil {
			t.Fatal(err)
		}
		if value, _ := a.Get(nil, key); string(value) != now {
			t.Fatalf("%q to him who wrote %q", value, now)
		}
		for {
			value, _ := b.Get(nil, key)
			if string(value) == now {
				break
			}
			if string(value) != before {
				t.Fatalf("%q: want %q or %q", value, before, now)
			}
			if time.Since(began) > servertest.Patience {
				t.Fatalf("%q is not seen", now)
			}
		}
		before = now
	}
}
