package curve

import (
	"math/rand/v2"
	"time"

	"github.com/firncache/firn/bench/hitratio"
	"github.com/firncache/firn/bench/keys"
	"github.com/firncache/firn/internal/policy/sim"
	"github.com/firncache/firn/internal/policy/whatif"
)

// hashes is how many caches the truth is the mean of: where the policy is at a tipping point, two
// caches that differ in their hashes alone may be some percent apart. Of a short trace there are more.
func hashes(t *hitratio.Trace) int { return min(max(4_000_000/len(t.Requests), 4), 16) }

// recordCost is the bytes of a record's header, about.
const recordCost = 12

// record is the bytes of a key's record.
func record(t *hitratio.Trace, key int32) int64 { return keys.Size + int64(t.Sizes[key]) + recordCost }

// records is the bytes of a share of all records, in percent.
func records(t *hitratio.Trace, size float64) int64 {
	sum := int64(0)
	for key := range t.Sizes {
		sum += record(t, int32(key))
	}
	return int64(size / 100 * float64(sum))
}

// renamed is a simulated cache of a size, for keys that a hash of their own renames.
type renamed struct {
	cache *sim.Firn
	names []int32
}

func newRenamed(t *hitratio.Trace, capacity int64, hash int) renamed {
	n := len(t.Sizes)
	r := renamed{names: make([]int32, n)}
	sizes := make([]int32, n)
	for key, name := range rand.New(rand.NewPCG(uint64(hash), 3)).Perm(n) {
		r.names[key], sizes[name] = int32(name), t.Sizes[key]
	}
	r.cache = sim.NewFirn(n, capacity, func(name int32) int64 { return keys.Size + int64(sizes[name]) + recordCost })
	return r
}

// access reads a key, and stores it if it is absent.
func (r renamed) access(key int32) bool { return r.cache.Access(r.names[key]) }

// policyMisses is the misses of simulated caches of a size in percent, by block.
func policyMisses(t *hitratio.Trace, size float64) ([]float64, error) {
	all := make([]float64, blocks(t))
	n := hashes(t)
	for hash := range n {
		r := newRenamed(t, records(t, size), hash)
		eachBlock(t, r.access, func(b, _, misses int) { all[b] += float64(misses) / float64(n) })
	}
	return all, nil
}

// predictPolicy predicts from a simulated cache of a size in percent.
func predictPolicy(t *hitratio.Trace, size float64) (cells []Cell, err error) {
	capacity, one := records(t, size), newRenamed(t, records(t, size), 0)
	s := whatif.New(memory, wholeProcessor)
	hits, misses := uint64(0), uint64(0)
	now := time.Duration(0)
	s.Sync(capacity, false, 0, 0)
	access := func(key int32) bool {
		now += tick
		hit := one.access(key)
		if hash := hashOf(key); s.Wants(hash) {
			bytes := uint32(record(t, key))
			s.Read(hash, hit, bytes, 0, now.Milliseconds())
			if !hit {
				s.Store(hash, bytes, 0, now.Milliseconds())
			}
		}
		return hit
	}
	var about window
	var last whatif.Curve
	eachBlock(t, access, func(_, requests, missed int) {
		hits, misses = hits+uint64(requests-missed), misses+uint64(missed)
		s.Choose(one.cache.Setting())
		s.Sync(capacity, one.cache.Evicts(), hits, misses)
		last = s.Curve()
		about.advance(requests, last.Reads)
	})
	for _, p := range last.Points {
		if p.Factor != 1 && p.State == whatif.Valid {
			cells = append(cells, Cell{Size: size, Factor: p.Factor, Predicted: p.MissRatio, Bar: p.Error, Keys: p.Keys, about: about})
		}
	}
	return cells, nil
}

const (
	memory         = 1 << 20 // of a simulation
	wholeProcessor = 1e9     // it may take as long as it likes
)

var sampleSeed uint64

// hashOf is a hash by which the sample is chosen.
func hashOf(key int32) uint64 {
	z := uint64(key)*0x9E3779B97F4A7C15 + 0x123456789*(1+sampleSeed)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}
