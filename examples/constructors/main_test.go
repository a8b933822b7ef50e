package main

import (
	"errors"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/config"
)

func Example() {
	main()
	// Output:
	// good morning, ann
	// please log in
}

// Each cache has the options of its name, and both are closed.
func TestOpenCaches(t *testing.T) {
	options, err := config.Load("firn.yaml")
	if err != nil {
		t.Fatal(err)
	}
	caches, err := OpenCaches(options)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		cache *firn.Cache
		ram   int64
		ttl   time.Duration
	}{{caches.Sessions, 8 << 20, 30 * time.Minute}, {caches.Pages, 32 << 20, 5 * time.Minute}} {
		if got := c.cache.Stats().RAM.Bytes; got != c.ram {
			t.Errorf("%d bytes of RAM, want %d", got, c.ram)
		}
		if err := c.cache.Set([]byte("k"), nil); err != nil {
			t.Fatal(err)
		}
		if ttl, _ := c.cache.TTL([]byte("k")); ttl > c.ttl || ttl < c.ttl/2 {
			t.Errorf("a time to live of %v, want %v", ttl, c.ttl)
		}
	}
	if err := caches.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []*firn.Cache{caches.Sessions, caches.Pages} {
		if err := c.Set([]byte("k"), nil); !errors.Is(err, firn.ErrClosed) {
			t.Errorf("Set after the stop: %v, want ErrClosed", err)
		}
	}
	if _, err := OpenCaches(config.Caches{"sessions": options["sessions"]}); err == nil {
		t.Error("without the options of one cache: no error")
	}
}
