package firntest

import (
	"bytes"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/store"
	"github.com/firncache/firn/internal/testseam"
)

// Cache is a cache, and what a test can do to it. Its methods other than firn.Cache's
// are for one goroutine at a time; the cache may be in use meanwhile.
type Cache struct {
	*firn.Cache

	// Clock is the time by which values expire; nil if Options set another.
	Clock *Clock

	// Disk is the SSD; nil without one.
	Disk *Disk
}

// TB is what New needs of a testing.TB.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// Option changes the cache that New makes.
type Option func(*config)

type config struct {
	options firn.Options
	disk    *Disk
}

// Options changes the options of the cache, which are at first RAMBytes of 1 MiB, and a
// Clock that stands still. SSD is for the option of that name: Dir counts for nothing.
func Options(change func(o *firn.Options)) Option {
	return func(cfg *config) { change(&cfg.options) }
}

// SSD gives the cache an SSD tier of 16 MiB, in memory, that takes all that leaves RAM.
func SSD() Option { return OnDisk(NewDisk()) }

// OnDisk is SSD on a disk that the test has, which may hold what another cache left
// that was closed: a warm start.
func OnDisk(d *Disk) Option {
	return func(cfg *config) {
		cfg.disk = d
		cfg.options.SSD = firn.SSDOptions{Dir: "firntest", Bytes: 16 << 20, Admission: firn.AdmitAll}
	}
}

// New makes a cache, with the options in their order, that is closed when the test ends:
// its disk is healed before. An option that makes no sense ends the test.
func New(tb TB, options ...Option) *Cache {
	tb.Helper()
	c := &Cache{Clock: NewClock()}
	cfg := config{options: firn.Options{RAMBytes: firn.MinRAMBytesWithSSD}}
	for _, o := range options {
		o(&cfg)
	}
	if cfg.options.Clock == nil {
		cfg.options.Clock = c.Clock.Now
	} else {
		c.Clock = nil
	}
	c.Disk = cfg.disk
	opened, err := testseam.Open(cfg.options, func(t *store.Config) {
		if c.Disk != nil {
			t.FS = c.Disk.faulty
			t.SSD.MaxWriteStall = time.Minute // all that leaves RAM gets there, on a busy machine too
		}
	})
	if err != nil {
		tb.Fatalf("firntest: %v", err)
	}
	c.Cache = opened.(*firn.Cache)
	tb.Cleanup(func() {
		if c.Disk != nil {
			c.Disk.Heal()
		}
		_ = c.Close() // that a disk was sick is an error
	})
	return c
}

// Evict takes the value of a key out of the cache, and from its SSD, as if its room were
// needed. It reports whether there was one. It reads nothing from the disk.
func (c *Cache) Evict(key []byte) bool { return c.force().Evict(key) }

// EvictAll is Evict of all keys, those of typed caches too. It reads the keys on the SSD:
// not from a disk that stalls or fails.
func (c *Cache) EvictAll() { c.force().EvictAll() }

// Demote takes the value of a key out of RAM. With an SSD it lies there when Demote
// returns, so that the next read of it reads the disk; without one it is evicted. The disk
// is waited for: let it stall afterwards. It reports whether RAM had a value.
func (c *Cache) Demote(key []byte) bool { return c.force().Demote(is(key)) > 0 }

// DemoteAll is Demote of all keys, those of typed caches too.
func (c *Cache) DemoteAll() { c.force().Demote(all) }

// Sweep takes what has expired out of RAM, and calls OnEvict, as the cache does by
// itself once a second.
func (c *Cache) Sweep() { c.force().Sweep() }

// force is the tiers' way to move entries. What typed caches keep decoded of them goes first.
func (c *Cache) force() local.Force {
	testseam.DropHot(c.Cache)
	return testseam.Store(c.Cache).Force()
}

func is(key []byte) func([]byte) bool {
	return func(k []byte) bool { return bytes.Equal(k, key) }
}

func all([]byte) bool { return true }
