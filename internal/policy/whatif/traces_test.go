package whatif

import (
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firncache/firn/internal/workload"
)

// traceRequests is how many requests of each trace are made: the comparison at full length is in the
// bench module.
const traceRequests = 400_000

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
	mean, p95, worst, within := summary(t, measured(all, []float64{0.01, 0.05, 0.1, 0.2}, 1))
	if mean > 0.01 || p95 > 0.02 || worst > 0.04 || within < 0.95 {
		t.Error("want at most 0.01, 0.02 and 0.04, and at least 95 %")
	}
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
