package bytes

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/shared/sharedtest"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// Every call of a loader is counted with the time that it took, one that fails or panics too.
func TestLoadDurations(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := harness.Open(t, firn.Options{RAMBytes: 1 << 20, Clock: time.Now})
		for i, end := range []func() error{
			func() error { return nil },
			func() error { return errors.New("failed") },
			func() error { panic("in a loader") },
		} {
			func() {
				defer func() { _ = recover() }()
				_, _ = c.GetOrLoad(context.Background(), nil, []byte{byte(i)}, func(context.Context, []byte) ([]byte, error) {
					time.Sleep(time.Second)
					return []byte("v"), end()
				})
			}()
		}
		synctest.Wait()
		if h := c.Stats().Loads.Durations; h.Count() != 3 || h.Sum() != 3*time.Second || h.Quantile(1) < time.Second {
			t.Errorf("%v, want 3 of 1 s", h)
		}
	})
}

// Every read of the disk is counted with its time.
func TestReadDurations(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := harness.HybridOn(t, vfstest.NewMem())
		for i := range 6000 {
			key, value := harness.Numbered(i)
			harness.Set(t, c, key, value)
		}
		harness.CountMissing(t, c, 6000)
		if s := c.Stats().SSD; s.Reads == 0 || s.ReadDurations.Count() != s.Reads {
			t.Errorf("%v, want one for each of %d reads", &s.ReadDurations, s.Reads)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// Every request for values that the shared tier answers is counted with its time, those of a
// load and of many keys too, and those that fail are not.
func TestSharedReadDurations(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tier := sharedtest.NewServer().Tier()
		slow := time.Duration(0)
		tier.OnRequest = func(string, string) { time.Sleep(slow) }
		c := harness.Open(t, firn.Options{RAMBytes: 1 << 20, Shared: tier})
		defer c.Close()
		want := func(what string, n uint64, sum time.Duration) {
			t.Helper()
			if h := c.Stats().Shared.ReadDurations; h.Count() != n || h.Sum() != sum {
				t.Errorf("%s: %v, %v together; want %d, %v", what, &h, h.Sum(), n, sum)
			}
		}
		harness.Set(t, c, []byte("a"), []byte("1"))
		want("a write", 0, 0)
		c.Get(nil, []byte("a"))
		want("a read of a copy", 0, 0)
		slow = time.Second
		c.Get(nil, []byte("b"))
		want("a miss", 1, time.Second)
		_, err := c.GetOrLoad(t.Context(), nil, []byte("c"), func(context.Context, []byte) ([]byte, error) {
			slow = 0
			return []byte("v"), nil
		})
		harness.Must(t, err)
		n := c.Stats().Shared.ReadDurations
		if n.Count() < 2 || n.Sum() < 2*time.Second {
			t.Errorf("a load: %v", &n)
		}
		slow = time.Second
		var b firn.Batch
		harness.Must(t, c.GetMulti(t.Context(), &b, [][]byte{[]byte("d"), []byte("e"), []byte("f")}))
		want("many", n.Count()+1, n.Sum()+3*time.Second)
		tier.SetOnline(false)
		c.Get(nil, []byte("g"))
		want("no server", n.Count()+1, n.Sum()+3*time.Second)
	})
}

// The ages of what is evicted are those of the cache's clock, also of one that is given.
func TestEvictionAges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		now, start := atomic.Int64{}, time.Now()
		given := func() time.Time { return start.Add(time.Duration(now.Load())) }
		for name, clock := range map[string]func() time.Time{"the bubble's": nil, "one that is given": given} {
			c := harness.Open(t, firn.Options{RAMBytes: 1 << 20, Clock: clock})
			fill := func(n int) {
				for i := range n {
					harness.Must(t, c.Set(fmt.Appendf(nil, "%d-%d", now.Load(), i), make([]byte, 100)))
				}
			}
			fill(10_000)
			if clock != nil {
				now.Add(int64(48 * time.Hour))
			} else {
				time.Sleep(48 * time.Hour)
			}
			before := c.Stats()
			fill(200)
			s := c.Stats()
			h := s.RAM.EvictionAges.Sub(&before.RAM.EvictionAges)
			if h.Count() != s.Evictions-before.Evictions || h.Count() == 0 || h.Quantile(0) < 48*time.Hour || h.Quantile(1) > 54*time.Hour {
				t.Errorf("%s: %v; want %d of 48 h", name, &h, s.Evictions-before.Evictions)
			}
			harness.Must(t, c.Close())
		}
	})
}
