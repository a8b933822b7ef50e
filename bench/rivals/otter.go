package rivals

import (
	"time"

	"github.com/maypok86/otter/v2"
	"github.com/maypok86/otter/v2/stats"
)

var otterRival = Rival{
	Name: "otter", Module: "github.com/maypok86/otter/v2", Bound: true, Lends: true,
	Setup: "MaximumSize = 1.25 × entries and InitialCapacity = entries; MaximumWeight = budget where sizes vary",
	Open: func(c Config) (Cache, error) {
		switch c.form() {
		case arrays4:
			return newOtter[key4, value4](c)
		case arrays16:
			return newOtter[key16, value](c)
		case slices16:
			return newOtter[key16, []byte](c)
		}
		return newOtter[string, []byte](c)
	},
}

// OtterOverhead is the cost of one entry to otter beyond the bytes of its string
// key and its []byte value, measured with a million entries: node, hash table
// slot, string and slice headers.
const OtterOverhead = 136

type otterCache[K comparable, V any] struct {
	layout[K, V]
	c     *otter.Cache[K, V]
	count *stats.Counter
}

func newOtter[K comparable, V any](c Config) (Cache, error) {
	l := newLayout[K, V]()
	opts := &otter.Options[K, V]{InitialCapacity: c.Entries}
	o := &otterCache[K, V]{layout: l}
	if c.varies() {
		opts.MaximumWeight = uint64(c.Bytes)
		opts.Weigher = func(k K, v V) uint32 { return uint32(l.keySize(&k) + l.size(&v) + OtterOverhead) }
		o.count = stats.NewCounter()
		opts.StatsRecorder = o.count
	} else {
		opts.MaximumSize = c.room()
	}
	if c.TTL > 0 {
		opts.ExpiryCalculator = otter.ExpiryWriting[K, V](c.TTL)
	} else if c.EntryTTLs {
		opts.ExpiryCalculator = otter.ExpiryWriting[K, V](never)
	}
	var err error
	o.c, err = otter.New(opts)
	return o, err
}

func (o *otterCache[K, V]) Get(dst, key []byte) ([]byte, bool) {
	v, ok := o.c.GetIfPresent(o.key(key))
	if !ok {
		return dst, false
	}
	return o.bytes(dst, &v), true
}

func (o *otterCache[K, V]) Set(key, value []byte) bool {
	o.c.Set(o.ownKey(key), o.ownValue(value))
	return true
}

// SetTTL needs Config.TTL or Config.EntryTTLs: otter keeps deadlines only then.
func (o *otterCache[K, V]) SetTTL(key, value []byte, ttl time.Duration) bool {
	k := o.ownKey(key)
	o.c.Set(k, o.ownValue(value))
	if ttl == 0 {
		ttl = never
	}
	o.c.SetExpiresAfter(k, ttl)
	return true
}

func (o *otterCache[K, V]) Delete(key []byte) { o.c.Invalidate(o.key(key)) }
func (o *otterCache[K, V]) Wait()             { o.c.CleanUp() }
func (o *otterCache[K, V]) Close()            { o.c.InvalidateAll(); o.c.StopAllGoroutines() }

func (o *otterCache[K, V]) Evictions() int64 {
	if o.count == nil {
		return -1
	}
	return int64(o.count.Snapshot().Evictions)
}
