package against

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/firncache/firn/cmd/firn/replay"
)

func open(t *testing.T, name string, bytes int64) replay.Store {
	t.Helper()
	s, err := stores()[name](replay.StoreOptions{RAMBytes: bytes, Goroutines: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// TestStores: a store neither keeps the caller's slices nor lends its own.
func TestStores(t *testing.T) {
	if len(stores()) < 10 {
		t.Errorf("%d rivals; expected at least 10", len(stores()))
	}
	for name := range stores() {
		t.Run(name, func(t *testing.T) {
			s := open(t, name, 64<<20)
			key, value := []byte("key of 16 bytes."), bytes.Repeat([]byte("v"), 100)
			if err := s.Set(key, value, time.Hour); err != nil {
				t.Fatal(err)
			}
			if c, ok := s.(*store); ok {
				c.cache.Wait()
			}
			clear(value)
			buf := make([]byte, 0, 200)
			for range 2 {
				got, ok := s.Get(buf, key)
				if !ok || !bytes.Equal(got, bytes.Repeat([]byte("v"), 100)) {
					t.Fatalf("got %q, %v; expected the value stored", got, ok)
				}
				clear(got)
			}
			stats := s.Stats()
			if stats.Evictions > 0 || stats.Expired > 0 {
				t.Errorf("%+v; expected nothing to have gone", stats)
			}
		})
	}
}

func TestTooLarge(t *testing.T) {
	s := open(t, "freecache", 64<<20)
	if err := s.Set([]byte("key"), make([]byte, 1<<20), 0); !errors.Is(err, replay.ErrTooLarge) {
		t.Errorf("1 MiB in freecache of 64 MiB: %v; expected ErrTooLarge", err)
	}
}
