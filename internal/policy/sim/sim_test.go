package sim

import (
	"testing"

	"github.com/firncache/firn/internal/policy/policytest"
)

// recordBytes is the size of a record where records are all alike: large
// enough for bookkeeping to weigh little, small enough for it to count.
const recordBytes = 1024

// firnMisses runs requests through a tier as large as capacity records.
func firnMisses(requests []int32, keys, capacity int) (misses int, copies float64) {
	f := policytest.NewTier(keys, int64(capacity)*recordBytes, func(int32) int64 { return recordBytes })
	misses = Misses(f, requests)
	return misses, float64(f.Copied) / float64(f.Inserted)
}

// The policy must not lose to S3-FIFO or LRU by more than a little on any kind
// of workload, and must beat the mean of every reference.
func TestFirnOnGeneratedWorkloads(t *testing.T) {
	t.Parallel()
	const slack = 9_000.0 / patternLength // of all requests: learning takes some number of them
	mean, firnMean := make([]float64, len(References)), 0.0
	ps := patterns()
	for _, p := range ps {
		const capacity = 2000
		misses, copies := firnMisses(p.requests, p.keys, capacity)
		firn := float64(misses) / float64(len(p.requests))
		firnMean += firn / float64(len(ps))
		t.Logf("%-16s firn %.3f, %.2f copies", p.name, firn, copies)
		if copies > 1 {
			t.Errorf("%s: %.2f copies for each insertion, want at most 1", p.name, copies)
		}
		for i, r := range References {
			ratio := float64(Misses(r.New(p.keys, capacity), p.requests)) / float64(len(p.requests))
			mean[i] += ratio / float64(len(ps))
			t.Logf("%-16s %s %.3f", p.name, r.Name, ratio)
			if (r.Name == "S3-FIFO" || r.Name == "LRU") && firn > ratio+slack {
				t.Errorf("%s: firn misses %.3f, %s %.3f", p.name, firn, r.Name, ratio)
			}
		}
	}
	for i, r := range References {
		if firnMean >= mean[i] {
			t.Errorf("mean: firn misses %.4f, %s %.4f", firnMean, r.Name, mean[i])
		}
	}
}

func TestFirnIsDeterministic(t *testing.T) {
	t.Parallel()
	p := patterns()[0]
	first, _ := firnMisses(p.requests, p.keys, 1000)
	if again, _ := firnMisses(p.requests, p.keys, 1000); again != first {
		t.Errorf("%d misses, then %d", first, again)
	}
}
