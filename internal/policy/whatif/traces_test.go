package whatif

import (
	"cmp"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firncache/firn/internal/workload"
)

// traceRequests is how many requests of each trace are made: the comparison at full length is in the
// bench module.
const traceRequests = 1_200_000

// TestTraces compares curves with the truth on the traces in the directory FIRN_TRACES.
func TestTraces(t *testing.T) {
	dir := os.Getenv("FIRN_TRACES")
	if dir == "" {
		t.Skip("FIRN_TRACES names no directory of traces")
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.trc.zst"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no traces in %s: %v", dir, err)
	}
	var all []*truth
	for _, path := range paths {
		all = append(all, newTruth(loadTrace(t, path), 3))
	}
	changed := changing(all)
	t.Run("as they are", func(t *testing.T) { checkAccuracy(t, all, ample, 0.01) })
	t.Run("changing", func(t *testing.T) { checkAccuracy(t, changed, ample, 0.01) })
	t.Run("as they are, a hundredth", func(t *testing.T) { checkAccuracy(t, all, share, 0.012) })
	t.Run("changing, a hundredth", func(t *testing.T) { checkAccuracy(t, changed, share, 0.012) })
}

// checkAccuracy is about caches of 5 and 10 % of the keys.
func checkAccuracy(t *testing.T, all []*truth, memory func(cache int64) int, most float64) {
	t.Parallel()
	mean, _, _, within := summary(t, measured(t, all, []float64{0.05, 0.1}, 1, memory))
	if mean > most || within < 0.95 {
		t.Errorf("want a mean error of %v at most, and 95 %% within theirs", most)
	}
}

// changing are loads that become others: one trace and then the next one, a scan after a trace, and two
// traces of which the one comes as the other goes, and back.
func changing(all []*truth) (some []*truth) {
	for i, a := range all {
		b := all[(i+1)%len(all)]
		half := min(len(a.requests), len(b.requests), traceRequests/2)
		some = append(some,
			newTruth(mixed(a, b, 2*half, "then", func(at int) bool { return at >= half }), 3),
			newTruth(mixed(a, b, 2*half, "and back", func(at int) bool {
				return math.Cos(2*math.Pi*float64(at)/float64(half)) < 2*rand.New(rand.NewPCG(7, uint64(at))).Float64()-1
			}), 3),
			newTruth(number(a.name+" then a scan", 2*half, func(at int) uint64 {
				if at >= half && at%2 == 0 {
					return uint64(a.keys + at)
				}
				return uint64(a.requests[at%len(a.requests)])
			}, func(key uint64) int64 { return a.size(int32(min(key, uint64(a.keys-1)))) }), 3))
	}
	return some
}

// mixed are n requests of two traces, of b where second says so.
func mixed(a, b *truth, n int, how string, second func(at int) bool) workloadOf {
	of, next := [...]*truth{a, b}, [2]int{}
	return number(a.name+" "+how+" "+b.name, n, func(at int) uint64 {
		which := 0
		if second(at) {
			which = 1
		}
		next[which]++
		return uint64(which)<<32 | uint64(of[which].requests[(next[which]-1)%len(of[which].requests)])
	}, func(key uint64) int64 { return of[key>>32].size(int32(uint32(key))) })
}

func loadTrace(t *testing.T, path string) workloadOf {
	source, err := workload.Open(path, "")
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	var keys []uint64
	sizes := map[uint64]int64{} // of the first request
	for batch := make([]workload.Request, 4096); len(keys) < traceRequests; {
		n, err := source.Read(batch)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range batch[:n] {
			keys = append(keys, r.Key)
			if _, ok := sizes[r.Key]; !ok {
				sizes[r.Key] = int64(cmp.Or(r.Size, 1024))
			}
		}
	}
	name := strings.TrimSuffix(filepath.Base(path), ".trc.zst")
	return number(name, len(keys), func(i int) uint64 { return keys[i] }, func(key uint64) int64 { return sizes[key] })
}
