package whatif

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/policy/policytest"
)

const (
	syncEvery  = 5000 // requests
	enoughKeys = 100  // of the sample, so that a workload tells something
)

// cell is a point of a curve beside the truth.
type cell struct {
	name     string
	fraction float64 // of the keys that the cache holds
	after    int     // requests
	reads    float64 // that it is about, the latest of these
	Point
	real, control, truth float64
}

func (c cell) off() float64 { return math.Abs(c.MissRatio - c.truth) }

func (c cell) String() string {
	return fmt.Sprintf("%-18s %4g %% ×%-3g at %7d over %7.0f real %.3f control %.3f: %.3f ± %.3f, is %.3f, off by %.3f, %d keys",
		c.name, 100*c.fraction, c.Factor, c.after, c.reads, c.real, c.control, c.MissRatio, c.Error, c.truth, c.MissRatio-c.truth, c.Keys)
}

// truth is what caches do with a workload: the misses, by size, in each stretch of syncEvery requests,
// the mean of caches that differ in the hashes of the keys. Some workloads have two outcomes, and
// which of them comes is a matter of the hashes.
type truth struct {
	workloadOf
	hashes int
	mu     sync.Mutex
	misses map[int64][]float64 // by bytes
	total  int64               // bytes of all records
}

func newTruth(w workloadOf, hashes int) *truth {
	t := &truth{workloadOf: w, hashes: hashes, misses: map[int64][]float64{}}
	for key := range t.keys {
		t.total += t.size(int32(key))
	}
	return t
}

// of are the misses of a cache of a size in bytes.
func (t *truth) of(bytes int64) []float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.misses[bytes] == nil {
		misses := make([]float64, len(t.requests)/syncEvery+1)
		for n := range t.hashes {
			real, _ := t.real(bytes, n)
			for i, key := range t.requests {
				if !real(key) {
					misses[i/syncEvery] += 1 / float64(t.hashes)
				}
			}
		}
		t.misses[bytes] = misses
	}
	return t.misses[bytes]
}

// real is a cache of a size in bytes, with hash number n.
func (t *truth) real(bytes int64, n int) (access func(key int32) bool, c *policytest.Tier) {
	const more = 97
	keys := int32(t.keys + more)
	by := int32(n) * 7919 % keys
	c = policytest.NewTier(t.keys+more, bytes, func(key int32) int64 { return t.size((key - by + keys) % keys) })
	return func(key int32) bool { return c.Access((key + by) % keys) }, c
}

// cells are those points, with enough keys, that a cache of a fraction of the keys has at some moments,
// beside the truth over the same requests. valid is the share of all points that are valid then.
func (t *truth) cells(fraction float64, seed uint64, memory func(cache int64) int) (all []cell, valid float64) {
	bytes := int64(fraction * float64(t.total))
	if 4*fraction*float64(t.keys) < 500 {
		return nil, 0 // there will not be enough keys
	}
	s := NewTimed(memory(bytes), 1, noTime)
	real, cache := t.real(bytes, int(seed))
	var hits, misses uint64
	points := 0
	s.Sync(bytes, false, 0, 0)
	for i, key := range t.requests {
		if tellOf(s, hashOf(key, seed), uint32(t.size(key)), real(key)) {
			hits++
		} else {
			misses++
		}
		if (i+1)%syncEvery != 0 {
			continue
		}
		s.Choose(cache.Setting())
		s.Sync(bytes, cache.Evicts(), hits, misses)
		if step := max(len(t.requests)/moments/syncEvery, 1) * syncEvery; (i+1)%step != 0 || i+1 < 2*step {
			continue
		}
		c := s.Curve()
		for _, p := range c.Points {
			if !measures(p) {
				continue
			}
			points++
			if p.State != Valid {
				continue
			}
			valid++
			{
				misses := sumOf(t.of(int64(p.Factor * float64(bytes)))[i/syncEvery+1-int(c.Reads)/syncEvery : i/syncEvery+1])
				all = append(all, cell{t.name, fraction, i + 1, c.Reads, p, c.Real, c.Control, misses / c.Reads})
			}
		}
	}
	return all, valid / float64(max(points, 1))
}

// ample is memory for a simulation beside any cache; share is what a service has beside one of so many
// bytes, and at least what a simulation takes.
func ample(int64) int       { return 1 << 20 }
func share(cache int64) int { return int(min(max(cache/100, MinBytes), 1<<20)) }

// moments is how often a curve is looked at in a workload, but for the first of these.
const moments = 10

func sumOf(all []float64) (s float64) {
	for _, v := range all {
		s += v
	}
	return s
}

// measures reports whether the error of a point is measured.
func measures(p Point) bool { return p.Factor >= 0.5 && p.Factor <= 4 && p.Factor != 1 }

// tellOf tells of a read, and of the store that follows a miss.
func tellOf(s *Simulation, hash uint64, size uint32, hit bool) bool {
	if s.Wants(hash) {
		s.Read(hash, hit, size, 0, 0)
		if !hit {
			s.Store(hash, size, 0, 0)
		}
	}
	return hit
}

// noTime is a stopwatch that stands still.
func noTime() time.Duration { return 0 }

// summary is of some cells.
func summary(t *testing.T, all []cell) (mean, p95, worst, within float64) {
	slices.SortFunc(all, func(a, b cell) int { return cmp.Compare(b.off(), a.off()) })
	ratios := make([]float64, len(all))
	for i, c := range all {
		ratios[i] = c.off() / c.Error
		mean += c.off() / float64(len(all))
		if c.off() <= c.Error {
			within += 1 / float64(len(all))
		}
		if i < 5 {
			t.Log(c)
		}
	}
	p95, worst = all[len(all)/20].off(), all[0].off()
	slices.Sort(ratios)
	bars := make([]float64, len(all))
	for i, c := range all {
		bars[i] = c.Error
	}
	slices.Sort(bars)
	t.Logf("median error told %.4f", bars[len(bars)/2])
	t.Logf("%d cells: mean error %.4f, 19 of 20 within %.4f, worst %.4f; %.1f %% within their own error, 19 of 20 within %.2f times that",
		len(all), mean, p95, worst, 100*within, ratios[len(ratios)*19/20])
	return mean, p95, worst, within
}

// measured are the cells of some workloads.
func measured(t *testing.T, all []*truth, fractions []float64, seeds uint64, memory func(cache int64) int) (cells []cell) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	slots := make(chan struct{}, 2)
	for _, one := range all {
		for _, f := range fractions {
			for seed := range seeds {
				slots <- struct{}{}
				wg.Go(func() {
					some, valid := one.cells(f, seed, memory)
					mu.Lock()
					defer mu.Unlock()
					cells = append(cells, some...)
					t.Logf("%-30s %4g %%: %.0f %% of points valid", one.name, 100*f, 100*valid)
					<-slots
				})
			}
		}
	}
	wg.Wait()
	return cells
}

// skipUnderRace skips a test of one goroutine; TestConcurrentUse has several.
func skipUnderRace(t *testing.T) {
	t.Helper()
	if invariants.Race {
		t.Skip("one goroutine, and much to compute for the race detector")
	}
}

// Curves of generated workloads are what caches of these sizes do.
func TestAccuracy(t *testing.T) {
	t.Parallel()
	skipUnderRace(t)
	var all []*truth
	for _, w := range generated() {
		all = append(all, newTruth(w, 2))
	}
	mean, p95, worst, within := summary(t, measured(t, all, []float64{0.05, 0.2}, 1, ample))
	if mean > 0.01 || p95 > 0.025 || worst > 0.055 || within < 0.95 {
		t.Error("want at most 0.01, 0.025 and 0.055, and at least 95 %")
	}
}
