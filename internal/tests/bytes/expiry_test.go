package bytes

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
)

// In a bubble of testing/synctest values expire by the bubble's time.
func TestExpiryInBubble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := harness.Open(t, firn.Options{RAMBytes: 1 << 20})
		key := []byte("key")
		if err := c.SetWithTTL(key, []byte("value"), time.Hour); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour - time.Millisecond)
		if ttl, ok := c.TTL(key); !ok || ttl != time.Millisecond || !c.Has(key) {
			t.Errorf("a millisecond before the deadline: %v are left, %v", ttl, ok)
		}
		time.Sleep(time.Millisecond)
		if v, ok := c.Get(nil, key); ok {
			t.Errorf("at the deadline: %q", v)
		}
		time.Sleep(5 * time.Second)
		if n := c.Len(); n != 0 {
			t.Errorf("%d entries are left", n)
		}
	})
}

// By the process's clock, too, a value is there until its deadline and not after.
func TestExpiryInProcess(t *testing.T) {
	t.Parallel()
	c := harness.Open(t, firn.Options{RAMBytes: 1 << 20})
	key, ttl := []byte("key"), 20*time.Millisecond
	set := time.Now()
	if err := c.SetWithTTL(key, []byte("value"), ttl); err != nil {
		t.Fatal(err)
	}
	for {
		_, ok := c.Get(nil, key)
		switch lived := time.Since(set); {
		case !ok && lived < ttl-time.Millisecond: // what the cache counts in
			t.Fatalf("gone after %v, of %v", lived, ttl)
		case !ok:
			return
		case lived > time.Minute:
			t.Fatal("there after a minute")
		}
	}
}
