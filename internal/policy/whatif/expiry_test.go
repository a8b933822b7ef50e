package whatif

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/firncache/firn/internal/workload"
)

// ttlCache is a cache of all keys that loads what it misses, with a TTL.
type ttlCache struct {
	*group
	ttl    int64 // milliseconds
	reads  int
	misses int
	until  []int64 // deadlines of the records, by key
}

func newTTLCache(bytes, ttl int64, keys int) *ttlCache {
	c := &ttlCache{group: newGroupOf([]float64{1}, 1<<16-2, mostTunerKeys, true), ttl: ttl, until: make([]int64, keys)}
	c.stored = firstRecords
	c.setBytes(bytes)
	return c
}

// read reads a key, and returns whether it was there and the deadline of its record.
func (c *ttlCache) read(key uint64, now int64) (found bool, deadline int64) {
	c.now = now
	hash := workload.Scramble(key + 1)
	e := newEvent(hash, 1000, c.until[key])
	found = c.control.pieces[e.piece].has(c.table.find(hash), now)
	c.group.read(e, found)
	c.reads++
	if !found {
		c.misses++
		c.until[key] = now + c.ttl
		e.deadline = c.until[key]
		c.store(e)
	}
	return found, c.until[key]
}

// A larger cache would not have loaded anew what the real one had evicted: there the old deadline holds.
func TestExpiry(t *testing.T) {
	t.Parallel()
	skipUnderRace(t)
	const keys, ttl, bytes = 20_000, 2000, 2_000_000
	s, zipf := NewTimed(1<<20, 1, noTime), workload.NewZipf(rand.NewPCG(4, 4), 0.8, keys)
	var caches []*ttlCache
	for _, f := range Factors {
		caches = append(caches, newTTLCache(int64(f*bytes), ttl, keys))
	}
	real := caches[2]
	s.Sync(bytes, false, 0, 0)
	for i := range 200_000 {
		key, now := zipf.Next(), int64(i/20)
		for _, c := range caches {
			found, deadline := c.read(key, now)
			if hash := workload.Scramble(key + 1); c == real && s.Wants(hash) {
				s.Read(hash, found, 1000, deadline, now)
				if !found {
					s.Store(hash, 1000, deadline, now)
				}
			}
		}
		if i%1000 == 0 {
			for _, c := range caches {
				c.sweep()
			}
			s.Sync(bytes, false, uint64(real.reads-real.misses), uint64(real.misses))
		}
	}
	for i, p := range s.Curve().Points {
		is := ratio(float64(caches[i].misses), float64(caches[i].reads))
		t.Logf("×%-4g misses %.4f ± %.4f, is %.4f", p.Factor, p.MissRatio, p.Error, is)
		if math.Abs(p.MissRatio-is) > 0.02 {
			t.Error("want at most 0.02 between them")
		}
	}
}
