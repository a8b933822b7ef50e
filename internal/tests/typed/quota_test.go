package typed

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

type blobs = firn.TypedOptions[uint64, []byte]

// floodOf stores so many values that nobody reads.
func floodOf(t *testing.T, cache *firn.Typed[uint64, []byte], from, n uint64, size int) {
	t.Helper()
	for i := range n {
		harness.Must(t, cache.Set(from+i, make([]byte, size)))
	}
}

// hitsOf is the share of keys below n that are found: each read once.
func hitsOf(cache *firn.Typed[uint64, []byte], n uint64) float64 {
	hits := 0
	for i := range n {
		if _, ok := cache.Get(i); ok {
			hits++
		}
	}
	return float64(hits) / float64(n)
}

// A flood in a namespace with MaxBytes takes nothing from another one, which without it loses what
// it has not read again meanwhile.
func TestMaxBytes(t *testing.T) {
	t.Parallel()
	harness.SkipUnderRace(t)
	const most, hot = 1 << 20, 4000
	for _, limit := range []int64{0, most} {
		causes := map[firn.Cause]int{}
		c := harness.Open(t, firn.Options{RAMBytes: 8 << 20, OnEvict: func(_, _ []byte, cause firn.Cause) { causes[cause]++ }})
		rows := harness.NewTyped(t, c, "rows", blobs{HotValues: -1})
		pages := harness.NewTyped(t, c, "pages", blobs{HotValues: -1, MaxBytes: limit})
		floodOf(t, pages, 0, 10_000, 1000)
		floodOf(t, rows, 0, hot, 1000)
		floodOf(t, pages, 10_000, 20_000, 1000)
		found, s, all := hitsOf(rows, hot), pages.Stats(), c.Stats()
		if limit == 0 {
			if found > .5 || causes[firn.CauseCapacity] == 0 || s.MaxBytes != 0 || s.Bytes != 0 || all.RAM.QuotaEvictions != 0 {
				t.Errorf("without MaxBytes %.0f %% are left of what the flood drove out; OnEvict %v; %+v", 100*found, causes, s)
			}
			continue
		}
		if found != 1 || causes[firn.CauseCapacity] > 0 || all.Evictions > 0 {
			t.Errorf("%.0f %% are left after a flood of another namespace; OnEvict %v; %d evictions", 100*found, causes, all.Evictions)
		}
		if s.Bytes > most || s.Bytes < most-most/20 || s.MaxBytes != most {
			t.Errorf("the other namespace has %d bytes of %d: want %d, or a little less", s.Bytes, s.MaxBytes, most)
		}
		if n := causes[firn.CauseQuota]; n == 0 || s.QuotaEvictions != uint64(n) || all.RAM.QuotaEvictions != uint64(n) {
			t.Errorf("OnEvict heard of %d entries that left for the quota; the namespace counts %d, the cache %d", n, s.QuotaEvictions, all.RAM.QuotaEvictions)
		}
		if sum := uint64(all.Entries) + all.RAM.QuotaEvictions; all.Sets != sum {
			t.Errorf("%d values were set, and %d are there or have left", all.Sets, sum)
		}
		harness.Must(t, harness.CheckInvariants(c))
	}
}

// What a typed cache may have as MaxBytes.
func TestMaxBytesOptions(t *testing.T) {
	t.Parallel()
	c := harness.Open(t, firn.Options{RAMBytes: 1 << 20})
	const most = 1 << 20
	for _, n := range []int64{-1, 1, 64, 4095, most + 1} {
		_, err := firn.NewTyped(c, "n", blobs{MaxBytes: n})
		if want := fmt.Sprintf(`firn: NewTyped "n": TypedOptions.MaxBytes is %d: want 4096 to RAMBytes, %d, or 0 for no quota`, n, most); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	first := harness.NewTyped(t, c, "n", blobs{MaxBytes: 10_000})
	for _, n := range []int64{0, 20_000} {
		_, err := firn.NewTyped(c, "n", blobs{MaxBytes: n})
		if want := fmt.Sprintf(`firn: NewTyped "n": TypedOptions.MaxBytes is %d, and that of another typed cache of the namespace, not closed yet, 10000: want the same`, n); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	same := harness.NewTyped(t, c, "n", blobs{MaxBytes: 10_000})
	if err := same.Set(1, make([]byte, 10_000)); !errors.Is(err, firn.ErrTooLarge) {
		t.Errorf("a value larger than MaxBytes: %v, want %v", err, firn.ErrTooLarge)
	}
	large := harness.NewTyped(t, c, "large", blobs{MaxBytes: most})
	harness.Must(t, c.SetRAMBytes(most/2))
	if again, err := firn.NewTyped(c, "large", blobs{MaxBytes: most}); err != nil {
		t.Errorf("a second typed cache of a namespace, with RAMBytes below its MaxBytes: %v", err)
	} else {
		harness.Must(t, again.Close())
	}
	harness.Must(t, large.Close())
	if _, err := firn.NewTyped(c, "large", blobs{MaxBytes: most}); err == nil {
		t.Error("a new namespace has MaxBytes above RAMBytes")
	}
	harness.Must(t, first.Close())
	harness.Must(t, same.Close())
	if all := harness.NewTyped(t, c, "n", blobs{}); all.Set(1, make([]byte, 10_000)) != nil {
		t.Error("a namespace that was opened again without MaxBytes has that of before")
	}
}

// A namespace that is opened again, in the process or the next, has the quota that it is opened
// with, from then on; what is cleared counts, and leaves first.
func TestMaxBytesAgain(t *testing.T) {
	overTiers(t, func(t *testing.T, c *firn.Cache, _ *cachetest.Clock, _ func()) {
		open := func(n int64) *firn.Typed[uint64, []byte] {
			return harness.NewTyped(t, c, "n", blobs{MaxBytes: n, HotValues: -1})
		}
		holds := func(cache *firn.Typed[uint64, []byte], most int64) {
			t.Helper()
			if s := cache.Stats(); s.Bytes > most || s.MaxBytes != most {
				t.Errorf("%d bytes of %d: want at most %d", s.Bytes, s.MaxBytes, most)
			}
			harness.Must(t, harness.CheckInvariants(c))
		}
		cache := open(100_000)
		floodOf(t, cache, 0, 300, 1000)
		holds(cache, 100_000)
		harness.Must(t, cache.Close())
		cache = open(20_000)
		holds(cache, 20_000)
		if s := cache.Stats(); s.QuotaEvictions != 0 && c.Stats().SSD.Online {
			t.Log(s.QuotaEvictions, "have left before it was opened again")
		}
		harness.Must(t, cache.Close())
		cache = open(50_000)
		floodOf(t, cache, 0, 40, 1000)
		harness.Must(t, cache.Clear(t.Context()))
		if s := cache.Stats(); s.Bytes == 0 {
			t.Error("what was cleared, and is in RAM, does not count")
		}
		floodOf(t, cache, 1000, 40, 1000)
		holds(cache, 50_000)
		for i := range uint64(40) {
			if _, ok := cache.Get(1000 + i); !ok {
				t.Errorf("value %d has left, and not what was cleared", i)
			}
		}
		harness.Must(t, c.Clear(t.Context()))
		if s := cache.Stats(); s.Bytes != 0 {
			t.Errorf("%d bytes are counted in an empty cache", s.Bytes)
		}
	})
}

// Sizes change, values expire, are deleted and loaded, the budget changes: the account has the
// bytes of what is there.
func TestMaxBytesCounts(t *testing.T) {
	overTiers(t, func(t *testing.T, c *firn.Cache, clock *cachetest.Clock, demote func()) {
		caches := map[int64]*firn.Typed[uint64, []byte]{}
		for _, n := range []int64{0, 20_000, 60_000} {
			caches[n] = harness.NewTyped(t, c, fmt.Sprint(n), blobs{MaxBytes: n, HotValues: -1})
		}
		budget := c.Stats().RAM.Bytes
		rng := rand.New(rand.NewPCG(1, 1))
		for i := range 3000 {
			for n, cache := range caches {
				key := rng.Uint64N(100)
				switch rng.IntN(12) {
				default:
					harness.Must(t, cache.SetWithTTL(key, make([]byte, rng.IntN(3000)), time.Duration(1+rng.IntN(100))*time.Second))
				case 0:
					harness.Must(t, cache.Delete(key))
				case 1, 2, 3:
					cache.Get(key)
				case 4:
					clock.Advance(10 * time.Second)
				}
				if s := cache.Stats(); s.Bytes > n+n/32 {
					t.Fatalf("step %d: %d bytes of %d", i, s.Bytes, n)
				}
			}
			switch i % 500 {
			case 100:
				demote()
			case 200:
				harness.Must(t, c.SetRAMBytes(budget/2+budget/4))
			case 300:
				harness.Must(t, c.SetRAMBytes(budget))
			case 400:
				harness.Must(t, harness.CheckInvariants(c))
			}
		}
		harness.Must(t, harness.CheckInvariants(c))
	})
}

// What leaves RAM for MaxBytes goes to the SSD if it was read: a flood that nobody reads does not.
func TestMaxBytesOverSSD(t *testing.T) {
	t.Parallel()
	c := harness.OpenOn(t, vfstest.NewMem())
	pages := harness.NewTyped(t, c, "pages", blobs{HotValues: -1, MaxBytes: 50_000})
	floodOf(t, pages, 0, 1000, 1000)
	if s := c.Stats(); s.SSD.Demotions > 0 || s.RAM.QuotaEvictions == 0 {
		t.Errorf("of a flood %d entries went to the SSD, and %d left", s.SSD.Demotions, s.RAM.QuotaEvictions)
	}
	for i := range uint64(200) {
		harness.Must(t, pages.Set(10_000+i, make([]byte, 1000)))
		pages.Get(10_000 + i)
	}
	floodOf(t, pages, 20_000, 100, 1000)
	read := 0
	for i := range uint64(200) {
		if _, ok := pages.Get(10_000 + i); ok {
			read++
		}
	}
	if s := pages.Stats(); read < 150 || s.Bytes > 50_000+50_000/32 {
		t.Errorf("%d of 200 entries that were read are there; %d bytes in RAM", read, s.Bytes)
	}
	harness.Must(t, harness.CheckInvariants(c))
}

// Typed caches of one namespace have one ExpireAfterAccess: half of the deadlines that one of them
// sets would slide for another.
func TestExpireAfterAccessOptions(t *testing.T) {
	t.Parallel()
	c := harness.Open(t, firn.Options{RAMBytes: 1 << 20})
	first := harness.NewTyped(t, c, "n", blobs{ExpireAfterAccess: time.Minute})
	harness.NewTyped(t, c, "n", blobs{ExpireAfterAccess: time.Minute, TTL: time.Hour})
	for _, after := range []time.Duration{0, time.Hour} {
		_, err := firn.NewTyped(c, "n", blobs{ExpireAfterAccess: after, TTL: 2 * time.Hour})
		if want := fmt.Sprintf(`firn: NewTyped "n": TypedOptions.ExpireAfterAccess is %v, and that of another typed cache of the namespace, not closed yet, 1m0s: want the same`, after); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := first.Set(1, []byte("still")); err != nil {
		t.Error(err)
	}
}
