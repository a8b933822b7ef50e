package ram

import (
	"reflect"
	"sync/atomic"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/offheap"
)

// Counters count the operations on a tier's records since it was made. A record comes by
// being inserted or promoted, and leaves in one of the other ways but to be kept: without
// a Set under way, and until Close, the records that are there are those that came less
// those that left.
type Counters struct {
	Inserted        uint64 // records that were set, of keys that were absent
	Replaced        uint64 // records that gave way to a Set of their key, one past its grace included
	Deletes         uint64 // of keys that were there
	Cleared         uint64 // records that Clear took out
	Evicted         uint64 // records that were evicted for room, other than to the lower tier
	Demoted         uint64 // records that were demoted for room
	Promoted        uint64 // records that came back from the lower tier
	OverQuota       uint64 // records that left for their namespace's quota, other than to the lower tier
	Expired         uint64 // records past their grace that were taken out
	Obsolete        uint64 // obsolete records that were taken out: see SetObsolete
	Invalidated     uint64 // records that may not have been what the shared tier has: see Drop
	Reinserted      uint64 // records that the policy kept when they were about to be evicted
	ReinsertedBytes uint64
}

func (c *Counters) add(o *Counters) {
	c.Inserted += o.Inserted
	c.Replaced += o.Replaced
	c.Deletes += o.Deletes
	c.Cleared += o.Cleared
	c.Evicted += o.Evicted
	c.Demoted += o.Demoted
	c.Promoted += o.Promoted
	c.OverQuota += o.OverQuota
	c.Expired += o.Expired
	c.Obsolete += o.Obsolete
	c.Invalidated += o.Invalidated
	c.Reinserted += o.Reinserted
	c.ReinsertedBytes += o.ReinsertedBytes
}

// left counts a record that a Delete, or a Drop for this cause, has taken out.
func (c *Counters) left(cause evicted.Cause) {
	if cause == evicted.Deleted {
		c.Deletes++
	} else {
		c.Invalidated++
	}
}

// Sets is how many records were set.
func (c Counters) Sets() uint64 { return c.Inserted + c.Replaced }

// readCounters count hits and misses without an atomic operation: a plain
// increment of a counter chosen by the goroutine's stack address, so that
// goroutines that run at once seldom share one. Where two do, an increment may
// be lost: the sums are exact for one goroutine and a little low for many.
type readCounters struct {
	stripes  []stripe
	mask     uintptr
	byteMask uintptr // mask, in bytes of stripes
}

type stripe struct {
	hits, misses atomic.Uint64
	length       uint64 //nolint:unused // of the value that getFast, in assembly, copied last
	_            [40]byte
}

// init makes stripes in proportion to the shards: 8 to 256.
func (c *readCounters) init(shards int) {
	n := min(max(8, 4*shards), 256)
	c.stripes = make([]stripe, n)
	c.mask = uintptr(n - 1)
	c.byteMask = c.mask * uintptr(sizeOf[stripe]())
}

func (c *readCounters) bytes() int64 {
	return int64(len(c.stripes)) * sizeOf[stripe]()
}

func (c *readCounters) count(hit bool) {
	s := &c.stripes[offheap.Stripe()&c.mask]
	if hit {
		offheap.StoreRelease64(&s.hits, s.hits.Load()+1)
	} else {
		offheap.StoreRelease64(&s.misses, s.misses.Load()+1)
	}
}

// add counts the reads of a batch.
func (c *readCounters) add(hits, misses int) {
	s := &c.stripes[offheap.Stripe()&c.mask]
	offheap.StoreRelease64(&s.hits, s.hits.Load()+uint64(hits))
	offheap.StoreRelease64(&s.misses, s.misses.Load()+uint64(misses))
}

func (c *readCounters) sum() (hits, misses uint64) {
	for i := range c.stripes {
		hits += c.stripes[i].hits.Load()
		misses += c.stripes[i].misses.Load()
	}
	return hits, misses
}

// sizeOf is the size of a T in bytes.
func sizeOf[T any]() int64 { return int64(reflect.TypeFor[T]().Size()) }
