package firn

import (
	"fmt"
	"time"

	"github.com/firncache/firn/internal/clock"
	"github.com/firncache/firn/internal/ram"
	"github.com/firncache/firn/internal/tiered"
)

// MinRAMBytes is the smallest RAM budget: 64 KiB.
const MinRAMBytes = ram.MinBytes

// Options say what a cache is to be. Only RAMBytes is required.
type Options struct {
	// RAMBytes is the memory that the cache may use, in bytes: records, index
	// and bookkeeping. At least MinRAMBytes.
	RAMBytes int64

	// MaxRAMBytes is the most that SetRAMBytes may ask for later, in bytes.
	// Default, where address space costs nothing (Linux, macOS, BSD): four times
	// RAMBytes, but at least 1 GiB, and at most 32 GiB or RAMBytes, whichever is
	// more; RAMBytes elsewhere, and where the system does not give so much address
	// space (ulimit -v, vm.overcommit_memory=2). Bookkeeping takes about 0.05 % of
	// it. Up to 32 GiB a record's room is rounded up to 8 bytes, up to 64 GiB to 16,
	// and so on.
	MaxRAMBytes int64

	// SSD is the second tier, for what RAM has no room for. Default: none.
	SSD SSDOptions

	// TTL is how long values stored with Set live, to the millisecond.
	// Default 0: they never expire.
	TTL time.Duration

	// Loading says what GetOrLoad, GetOrLoadMulti and Refresh do beyond loading
	// what is missing. Default: nothing.
	Loading LoadingOptions

	// OnEvict is told of every entry that leaves, after it has left, with the
	// reason. It runs in the goroutine whose call made the entry leave, in a
	// load's own for GetOrLoad, perhaps after GetOrLoad has returned, or in the
	// cache's for expired ones, outside every lock, and so perhaps several at
	// once; it may use the cache. Key and value are lent until it returns.
	// While it takes its time, who called it waits: the cache's own goroutine
	// then takes out no more of what has expired, which is not found all the same.
	// Default: nil, and then nothing is spent on it. Close does not call it. With
	// an SSD tier, an entry that goes there has not left; one that is dropped or
	// replaced there is not reported.
	OnEvict func(key, value []byte, cause Cause)

	// Clock is the time by which values expire. Only differences matter, but for
	// an SSD tier, whose entries may outlive the process. It is asked at every read
	// of a value with a deadline. It must not call the cache: some callers hold
	// locks. Default: the system's monotonic clock, which a goroutine of the process
	// reads 20 times a second for all its caches, and a read itself if its value has
	// less than a second to live; in a bubble of testing/synctest, the bubble's.
	Clock func() time.Time
}

// Cause says why an entry left the cache.
type Cause uint8

// The causes.
const (
	Capacity = Cause(ram.Capacity) // its room was needed for others
	Expired  = Cause(ram.Expired)  // its time was over
	Replaced = Cause(ram.Replaced) // its key was set again
	Deleted  = Cause(ram.Deleted)  // its key was deleted, or the cache was cleared
)

func (c Cause) String() string {
	switch c {
	case Capacity:
		return "capacity"
	case Expired:
		return "expired"
	case Replaced:
		return "replaced"
	case Deleted:
		return "deleted"
	}
	return fmt.Sprintf("Cause(%d)", uint8(c))
}

const maxTTL = tiered.MaxTTL

// Validate says what Open would say of the options, without opening anything:
// nil, or an error that is an [OptionError].
func (o Options) Validate() error {
	_, err := o.withDefaults()
	return err
}

// withDefaults checks the options and fills in what was left out.
func (o Options) withDefaults() (Options, error) {
	switch {
	case o.RAMBytes < MinRAMBytes:
		return o, badOption("RAMBytes", "is %d: want at least %d bytes", o.RAMBytes, MinRAMBytes)
	case o.RAMBytes > ram.MostBytes:
		return o, badOption("RAMBytes", "is %d: want at most %d bytes", o.RAMBytes, int64(ram.MostBytes))
	case o.MaxRAMBytes != 0 && (o.MaxRAMBytes < o.RAMBytes || o.MaxRAMBytes > ram.MostBytes):
		return o, badOption("MaxRAMBytes", "is %d: want 0, or RAMBytes (%d) to %d bytes", o.MaxRAMBytes, o.RAMBytes, int64(ram.MostBytes))
	case o.TTL < 0 || o.TTL > maxTTL:
		return o, badOption("TTL", "is %v: want 0, or up to %v", o.TTL, maxTTL)
	}
	if o.Clock == nil && clock.InBubble() {
		o.Clock = time.Now // the process's would be another
	}
	if err := o.Loading.validate(o.TTL); err != nil {
		return o, err
	}
	return o, o.SSD.validate(o.RAMBytes)
}

// ttlMillis is a TTL in milliseconds, rounded up.
func ttlMillis(ttl time.Duration) (int64, error) {
	if ttl <= 0 || ttl > maxTTL {
		return 0, fmt.Errorf("time to live is %v: want more than 0, up to %v", ttl, maxTTL)
	}
	return int64((ttl + time.Millisecond - 1) / time.Millisecond), nil
}

// grace is how long the tiers keep what has expired, in milliseconds.
func (o *Options) grace() int64 {
	l := o.loading()
	return l.grace()
}

// tiers is what the tiers are made of.
func (o *Options) tiers() tiered.Config {
	cfg := tiered.Config{
		RAMBytes: o.RAMBytes, MaxRAMBytes: o.MaxRAMBytes,
		Clock: o.Clock,
		Grace: o.grace(),
		Dir:   o.SSD.Dir, SSD: o.SSD.config(),
	}
	if f := o.OnEvict; f != nil {
		cfg.Evicted = func(key, value []byte, cause ram.Cause) { f(key, value, Cause(cause)) }
	}
	if adjustTiers != nil {
		adjustTiers(&cfg)
	}
	return cfg
}

// adjustTiers is for tests: it changes what the tiers are made of.
var adjustTiers func(*tiered.Config)
