package firntest_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/firntest"
)

func init() { slog.SetDefault(slog.New(slog.DiscardHandler)) }

var errAny = errors.New("any error")

func quietly(o *firn.Options) { o.Log = slog.New(slog.DiscardHandler) }

func fill(t *testing.T, c *firntest.Cache, n int) {
	t.Helper()
	for i := range n {
		if err := c.Set(fmt.Append(nil, i), fmt.Appendf(nil, "value %0500d", i)); err != nil {
			t.Fatal(err)
		}
	}
}

func found(c *firntest.Cache, n int) (found int) {
	for i := range n {
		if v, ok := c.Get(nil, fmt.Append(nil, i)); ok && string(v) == fmt.Sprintf("value %0500d", i) {
			found++
		}
	}
	return found
}

// What is demoted is found on the disk, each by a read of it; what is evicted is gone
// from RAM and disk.
func TestEvictAndDemote(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const n = 200
		c := firntest.New(t, firntest.SSD())
		fill(t, c, n)
		if !c.Demote([]byte("7")) || c.Demote([]byte("7")) {
			t.Error("Demote does not report whether RAM had the value")
		}
		c.DemoteAll()
		before := c.Stats()
		if got := found(c, n); got != n {
			t.Errorf("%d of %d are found", got, n)
		}
		if s := c.Stats(); s.SSD.Reads-before.SSD.Reads < n || s.SSD.Hits-before.SSD.Hits != n {
			t.Errorf("%d reads of the disk and %d hits there: want %d", s.SSD.Reads-before.SSD.Reads, s.SSD.Hits-before.SSD.Hits, n)
		}
		if !c.Evict([]byte("7")) || c.Evict([]byte("7")) || c.Has([]byte("7")) {
			t.Error("Evict does not take out")
		}
		c.Demote([]byte("8"))
		if !c.Evict([]byte("8")) || c.Has([]byte("8")) {
			t.Error("Evict does not take out what lies on the disk alone")
		}
		c.EvictAll()
		if got := found(c, n); got != 0 || c.Len() != 0 {
			t.Errorf("%d are found, Len is %d", got, c.Len())
		}
	})
}

// A long value is demoted in parts, and comes back.
func TestDemoteLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := firntest.New(t, firntest.SSD())
		if err := c.Set([]byte("long"), make([]byte, 200<<10)); err != nil {
			t.Fatal(err)
		}
		c.Demote([]byte("long"))
		if s := c.Stats(); s.SSD.Demotions != 1 {
			t.Errorf("%d demotions", s.SSD.Demotions)
		}
		if v, _ := c.Get(nil, []byte("long")); len(v) != 200<<10 {
			t.Errorf("%d bytes are found", len(v))
		}
	})
}

func TestTyped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := firntest.New(t, firntest.SSD())
		users, err := firn.NewTyped(c.Cache, "users", firn.TypedOptions[int, string]{TTL: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		if err := users.Set(1, "alice"); err != nil {
			t.Fatal(err)
		}
		c.DemoteAll()
		if v, ok := users.Get(1); !ok || v != "alice" {
			t.Errorf("%q, %v", v, ok)
		}
		c.EvictAll()
		if _, ok := users.Get(1); ok {
			t.Error("found after EvictAll")
		}
		_ = users.Set(1, "alice")
		c.Clock.Advance(time.Hour)
		if _, ok := users.Get(1); ok {
			t.Error("found after its time")
		}
		c.Sweep()
		if s := c.Stats(); s.Expirations == 0 {
			t.Error("Sweep takes nothing out")
		}
	})
}

// Every illness is met by a read or a write, until Heal.
func TestDisk(t *testing.T) {
	t.Parallel()
	key := []byte("1")
	for name, test := range map[string]struct {
		sick func(d *firntest.Disk)
		want error // of Lookup; nil: the value
		took time.Duration
	}{
		"fail":    {func(d *firntest.Disk) { d.Fail(firntest.Reads, syscall.EIO) }, syscall.EIO, 0},
		"slow":    {func(d *firntest.Disk) { d.Slow(firntest.Every, 300*time.Millisecond) }, nil, 300 * time.Millisecond},
		"stalled": {func(d *firntest.Disk) { d.Stall(firntest.Reads) }, context.DeadlineExceeded, time.Second},
		"corrupt": {func(d *firntest.Disk) { d.Corrupt() }, errAny, 0},
		"full":    {func(d *firntest.Disk) { d.Full() }, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := firntest.New(t, firntest.SSD(), firntest.Options(quietly))
				fill(t, c, 10)
				c.DemoteAll()
				test.sick(c.Disk)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				began := time.Now()
				v, err := c.Lookup(ctx, nil, key)
				if test.want == errAny && err == nil || test.want != errAny && !errors.Is(err, test.want) || err == nil && len(v) == 0 {
					t.Errorf("%q, %v: want %v", v, err, test.want)
				}
				if took := time.Since(began); took < test.took || took > test.took+time.Second {
					t.Errorf("it took %v, want %v", took, test.took)
				}
				c.Disk.Heal()
				if test.want != errAny {
					if v, err := c.Lookup(t.Context(), nil, key); err != nil {
						t.Errorf("after Heal: %q, %v", v, err)
					}
				}
			})
		})
	}
}

// A disk that takes nothing makes the cache go on without it, and it comes back, empty.
func TestDiskComesBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := firntest.New(t, firntest.SSD(), firntest.Options(quietly))
		c.Disk.Full()
		for i := 0; c.Stats().SSD.Online; i++ {
			fill(t, c, 10)
			c.DemoteAll()
		}
		fill(t, c, 10)
		if got := found(c, 10); got != 10 {
			t.Errorf("%d are found in RAM alone", got)
		}
		c.Disk.Heal()
		time.Sleep(time.Minute)
		if !c.Stats().SSD.Online {
			t.Error("it does not come back")
		}
	})
}

// A user's own clock is left alone, and a wrong option ends the test.
func TestNew(t *testing.T) {
	c := firntest.New(t, firntest.Options(func(o *firn.Options) { o.Clock = time.Now }))
	if c.Clock != nil || c.Disk != nil {
		t.Errorf("clock %v, disk %v: want none", c.Clock, c.Disk)
	}
	defer func() {
		if recover() == nil {
			t.Error("a negative TTL ends nothing")
		}
	}()
	firntest.New(new(example), firntest.Options(func(o *firn.Options) { o.TTL = -1 }))
}

// Evict asks the disk for nothing: it returns while that stalls, and what it evicts from a
// disk that cannot be read does not come back.
func TestEvictAsksNoDisk(t *testing.T) {
	t.Parallel()
	for name, sick := range map[string]func(*firntest.Disk){
		"stalled": func(d *firntest.Disk) { d.Stall(firntest.Reads) },
		"failing": func(d *firntest.Disk) { d.Fail(firntest.Reads, errors.New("sick")) },
	} {
		c := firntest.New(t, firntest.SSD())
		k := []byte("k")
		if err := c.Set(k, []byte("v")); err != nil || !c.Demote(k) {
			t.Fatalf("%s: %v, or it was not demoted", name, err)
		}
		sick(c.Disk)
		if !c.Evict(k) || c.Evict(k) {
			t.Errorf("%s: want it evicted once", name)
		}
		c.Disk.Heal()
		if c.Has(k) {
			t.Errorf("%s: it is back", name)
		}
	}
}
