package policytest

import (
	"math/rand/v2"
	"testing"
)

// Whatever the sizes, the records and the bookkeeping stay within the capacity.
func TestTierKeepsToItsCapacity(t *testing.T) {
	t.Parallel()
	const keys, capacity = 150_000, 1 << 20
	tier := NewTier(keys, capacity, func(key int32) int64 { return int64(hashOf(key) % 20_000) })
	rng := rand.New(rand.NewPCG(11, 17))
	for range 200_000 {
		key := int32(float64(keys) * rng.Float64() * rng.Float64() * rng.Float64())
		tier.Access(key)
		if tier.bytes > tier.capacity || tier.capacity > capacity {
			t.Fatalf("%d bytes in a capacity of %d", tier.bytes, tier.capacity)
		}
		if hashOf(key)%512 != 0 {
			continue
		}
		bytes, entries := int64(0), int64(0)
		for _, q := range tier.lanes {
			for _, s := range q.segments {
				bytes += s.bytes
				entries += int64(len(s.keys))
			}
		}
		if bytes != tier.bytes || entries != tier.entries {
			t.Fatalf("lanes hold %d bytes and %d records, counted %d and %d", bytes, entries, tier.bytes, tier.entries)
		}
	}
}
