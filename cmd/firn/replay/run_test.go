package replay

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firncache/firn/internal/workload"
)

// keys returns requests of the given keys, 100 bytes each.
func keys(ids ...uint64) []workload.Request {
	var requests []workload.Request
	for _, id := range ids {
		requests = append(requests, workload.Request{Key: id, Size: 100})
	}
	return requests
}

// loops returns n rounds over keys 0 to k-1.
func loops(n, k int) []workload.Request {
	var requests []workload.Request
	for i := range n * k {
		requests = append(requests, workload.Request{Key: uint64(i % k), Size: 100})
	}
	return requests
}

// runAll replays requests through store with the given number of goroutines.
func runAll(t *testing.T, store *lruStore, goroutines int, requests []workload.Request) (Result, error) {
	t.Helper()
	cfg := Config{Store: StoreOptions{RAMBytes: 1 << 20, Goroutines: goroutines}, ValueSize: 50}
	src := &listSource{requests: requests, err: io.EOF}
	result, err := Run(context.Background(), cfg, src, store.open)
	if store.closed != 1 || src.closed != 1 {
		t.Errorf("store closed %d times, source %d times", store.closed, src.closed)
	}
	return result, err
}

func TestKnownAnswers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name            string
		capacity        int
		requests        []workload.Request
		hits, evictions int64
	}{
		{"all fit", 10, loops(5, 10), 40, 0},
		{"a loop one too long for LRU", 10, loops(5, 11), 0, 45},
		{"order matters", 2, keys(1, 2, 1, 3, 1, 2, 3), 2, 3},
		{"several windows", 10, loops(windowRequests/4, 10), windowRequests/4*10 - 10, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			result, err := runAll(t, newLRU(test.capacity), 1, test.requests)
			if err != nil {
				t.Fatal(err)
			}
			n := int64(len(test.requests))
			if result.Requests != n || result.Hits != test.hits || result.Misses != n-test.hits || *result.Evictions != test.evictions {
				t.Errorf("requests %d hits %d misses %d evictions %d, want %d, %d, %d, %d", result.Requests, result.Hits,
					result.Misses, *result.Evictions, n, test.hits, n-test.hits, test.evictions)
			}
			if want := float64(test.hits) / float64(n); result.HitRatio != want || *result.ByteHitRatio != want {
				t.Errorf("hit ratio %v, by bytes %v, want %v", result.HitRatio, *result.ByteHitRatio, want)
			}
			if result.Expired != nil || result.Interrupted {
				t.Errorf("expired %v, interrupted %v", result.Expired, result.Interrupted)
			}
		})
	}
}

// One goroutine sees the requests in exactly the order of the source.
func TestOneGoroutineKeepsOrder(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	var requests []workload.Request
	for range 300_000 {
		requests = append(requests, workload.Request{Key: rng.Uint64N(50_000), Size: 1})
	}
	run := func(goroutines int) (seen []string) {
		store := newLRU(0)
		store.onSet = func(key, _ []byte, _ time.Duration) error {
			seen = append(seen, string(key))
			return nil
		}
		if _, err := runAll(t, store, goroutines, requests); err != nil {
			t.Fatal(err)
		}
		return seen
	}
	var want []string
	for _, r := range requests {
		want = append(want, string(workload.AppendKey(nil, r.Key)))
	}
	if !slices.Equal(run(1), want) {
		t.Error("another order with one goroutine")
	}
	many := run(8)
	slices.Sort(want)
	if slices.Sort(many); !slices.Equal(many, want) {
		t.Errorf("%d requests with 8 goroutines, want each of %d once", len(many), len(want))
	}
}

func TestWrongValues(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(key, value []byte) []byte{
		"first byte":  func(_, v []byte) []byte { v[0]++; return v },
		"last byte":   func(_, v []byte) []byte { v[len(v)-1]++; return v },
		"too short":   func(_, v []byte) []byte { return v[:len(v)-1] },
		"too long":    func(_, v []byte) []byte { return append(v, 0) },
		"empty":       func(_, v []byte) []byte { return v[:0] },
		"another key": func(_, v []byte) []byte { stampValue(v, 77); return v },
	} {
		t.Run(name, func(t *testing.T) {
			store := newLRU(10)
			gets := 0
			store.onGet = func(key, value []byte) []byte {
				if gets++; gets == 5 {
					return damage(key, value)
				}
				return value
			}
			result, err := runAll(t, store, 1, loops(3, 10))
			if result.WrongValues != 1 || !errors.Is(err, ErrWrongValue) {
				t.Errorf("%d wrong values, %v", result.WrongValues, err)
			}
		})
	}
}

func TestSizesAndTTLs(t *testing.T) {
	t.Parallel()
	requests := []workload.Request{
		{Key: 1, Size: 0}, {Key: 2, Size: 7, TTL: 3}, {Key: 3, Size: 1 << 17}, {Key: 4, Size: 1<<20 + 1},
		{Key: 5, Size: 10, Write: true}, {Key: 5, Size: 10}, {Key: 6, Size: 1 << 19},
	}
	type set struct {
		size int
		ttl  time.Duration
	}
	var sets []set
	store := newLRU(100)
	store.onSet = func(_, value []byte, ttl time.Duration) error {
		if len(value) == 1<<19 {
			return ErrTooLarge
		}
		sets = append(sets, set{len(value), ttl})
		return nil
	}
	cfg := Config{Store: StoreOptions{RAMBytes: 1 << 20, TTL: time.Minute, Goroutines: 1}, ValueSize: 50}
	result, err := Run(context.Background(), cfg, &listSource{requests: requests, err: io.EOF}, store.open)
	if err != nil {
		t.Fatal(err)
	}
	want := []set{{50, time.Minute}, {7, 3 * time.Second}, {1 << 17, time.Minute}, {10, time.Minute}}
	if !slices.Equal(sets, want) {
		t.Errorf("got %v, want %v", sets, want)
	}
	if result.Requests != 7 || result.Writes != 1 || result.Hits != 1 || result.Misses != 5 || result.Rejected != 2 {
		t.Errorf("%+v", result)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	t.Run("set", func(t *testing.T) {
		store := newLRU(10)
		sets := 0
		store.onSet = func(_, _ []byte, _ time.Duration) error {
			if sets++; sets > 4 {
				return broken
			}
			return nil
		}
		if _, err := runAll(t, store, 4, loops(1000, 100)); !errors.Is(err, broken) || !strings.Contains(err.Error(), "set of 100 bytes") {
			t.Error(err)
		}
	})
	t.Run("source", func(t *testing.T) {
		store := newLRU(10)
		src := &listSource{requests: loops(2, 10), err: broken}
		result, err := Run(context.Background(), Config{Store: StoreOptions{RAMBytes: 1 << 20}}, src, store.open)
		if !errors.Is(err, broken) || result.Requests != 20 || result.Hits != 10 || store.closed != 1 {
			t.Errorf("%+v, %v", result, err)
		}
	})
	t.Run("open", func(t *testing.T) {
		open := func(StoreOptions) (Store, error) { return nil, broken }
		src := &listSource{err: io.EOF}
		_, err := Run(context.Background(), Config{}, src, open)
		if !errors.Is(err, ErrOpen) || !errors.Is(err, broken) || src.closed != 1 {
			t.Error(err, src.closed)
		}
	})
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	store := newLRU(10)
	sets := 0
	store.onSet = func(_, _ []byte, _ time.Duration) error {
		if sets++; sets == 1000 {
			cancel()
		}
		return nil
	}
	cfg := Config{Store: StoreOptions{RAMBytes: 1 << 20, Goroutines: 1}}
	result, err := Run(ctx, cfg, &listSource{requests: loops(1000, 100), err: io.EOF}, store.open)
	if err != nil || !result.Interrupted {
		t.Errorf("interrupted %v, %v", result.Interrupted, err)
	}
	if result.Requests < 1000 || result.Requests > 1000+chunkRequests || result.Misses != result.Requests || store.closed != 1 {
		t.Errorf("%+v", result)
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	progress := new(Progress)
	store := newLRU(10)
	last, total := 0.0, windowRequests*5/2
	store.onSet = func(_, _ []byte, _ time.Duration) error {
		share := progress.Share()
		exact := float64(progress.Requests()) / float64(total)
		if share < last || share > 1 || share < exact-0.001 || share > exact+0.001 {
			t.Fatalf("share %v after %v, exactly %v", share, last, exact)
		}
		last = share
		return nil
	}
	requests := loops(1, total)
	cfg := Config{Store: StoreOptions{RAMBytes: 1 << 20, Goroutines: 1}, Progress: progress}
	if _, err := Run(context.Background(), cfg, &listSource{requests: requests, err: io.EOF}, store.open); err != nil {
		t.Fatal(err)
	}
	if progress.Share() != 1 || progress.Requests() != int64(total) {
		t.Errorf("share %v, %d requests", progress.Share(), progress.Requests())
	}
}

func TestFigures(t *testing.T) {
	store := newLRU(10_000)
	store.onGet = func(_, value []byte) []byte { return append(make([]byte, 0, 4096), value...) } // garbage
	result, err := runAll(t, store, 2, loops(10, 5_000))
	if err != nil {
		t.Fatal(err)
	}
	if !(0 < result.P50 && result.P50 <= result.P99 && result.P99 <= result.P999) {
		t.Errorf("latencies %d, %d, %d", result.P50, result.P99, result.P999)
	}
	if result.GCCycles < 1 || !(result.GCCPUFraction > 0 && result.GCCPUFraction < 1) {
		t.Errorf("%d GC cycles, %v of the CPU", result.GCCycles, result.GCCPUFraction)
	}
	if rate := float64(result.Requests) / result.DurationSeconds; result.OpsPerSecond != rate || rate <= 0 {
		t.Errorf("%v a second, %d in %v s", result.OpsPerSecond, result.Requests, result.DurationSeconds)
	}
	if residentBytes() != Unknown && (result.RSSBytes == nil || *result.RSSBytes < *result.RSSBefore || *result.RSSPeak < *result.RSSBytes) {
		t.Errorf("resident memory %v, before %v", result.RSSBytes, result.RSSBefore)
	}
}
