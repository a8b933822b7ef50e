package turn

import (
	"sync"
	"testing"
	"time"

	"github.com/firncache/firn/bench/keys"
	"github.com/firncache/firn/bench/rivals"
)

// recorder is a cache that writes down what it is asked.
type recorder struct {
	mu     sync.Mutex
	gets   []string
	sets   []string
	refuse bool // Set takes nothing
	miss   bool // Get finds nothing
}

func (r *recorder) Get(dst, key []byte) ([]byte, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gets = append(r.gets, string(key))
	return append(dst, "xyza"...), !r.miss
}

func (r *recorder) Set(key, _ []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sets = append(r.sets, string(key))
	return !r.refuse
}

func (r *recorder) Delete([]byte) {}
func (r *recorder) Wait()         {}
func (r *recorder) Close()        {}

// batchRecorder is a recorder with batch calls.
type batchRecorder struct{ recorder }

type batch struct{ r *batchRecorder }

func (r *batchRecorder) NewBatch() rivals.Batch { return batch{r} }

func (b batch) Get(list [][]byte) {
	for _, k := range list {
		b.r.Get(nil, k)
	}
}
func (b batch) Value(int) ([]byte, bool) { return []byte{1}, !b.r.miss }
func (b batch) Set(list, values [][]byte) bool {
	for i, k := range list {
		b.r.Set(k, values[i])
	}
	return !b.r.refuse
}

func stream(t *testing.T, count int) keys.Stream {
	t.Helper()
	s, err := keys.New(keys.Uniform, 1000, count, 1)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func equal(t *testing.T, what string, got []string, want keys.Stream, step func(int) bool) {
	t.Helper()
	n := 0
	for i := range want.Len() {
		if !step(i) {
			continue
		}
		if n >= len(got) || got[n] != string(want.Slice(i, 1)) {
			t.Fatalf("%s: operation %d has another key than the stream", what, i)
		}
		n++
	}
	if n != len(got) {
		t.Fatalf("%s: %d operations; expected %d", what, len(got), n)
	}
}

// TestEveryCacheGetsTheStream: with one goroutine each operation asks for the
// next key of the stream, single or in batches.
func TestEveryCacheGetsTheStream(t *testing.T) {
	const count = 1000 // not a multiple of BatchSize
	s := stream(t, count)
	all := func(int) bool { return true }
	none := func(int) bool { return false }
	isSet := func(i int) bool { return i%mixPeriod == mixPeriod-1 }
	isGet := func(i int) bool { return !isSet(i) }
	for _, c := range []struct {
		op         Op
		gets, sets func(int) bool
	}{{Get, all, none}, {Set, none, all}, {Mix, isGet, isSet}, {GetBatch, all, none}, {SetBatch, none, all}} {
		single, batched := &recorder{}, &batchRecorder{}
		work := Work{Op: c.op, Keys: s, Value: []byte("abcd"), Goroutines: 1}
		for _, r := range []Result{Run(single, work), Run(batched, work)} {
			if r.Ops != count || r.Gets != r.Hits || r.Refused != 0 {
				t.Errorf("%s: %+v; expected %d operations, all hits", c.op, r, count)
			}
		}
		equal(t, string(c.op), single.gets, s, c.gets)
		equal(t, string(c.op), single.sets, s, c.sets)
		equal(t, string(c.op)+" batched", batched.gets, s, c.gets)
		equal(t, string(c.op)+" batched", batched.sets, s, c.sets)
	}
}

func TestCounts(t *testing.T) {
	const count = 960
	s := stream(t, count)
	for _, goroutines := range []int{1, 3, 64} {
		for _, op := range []Op{Get, Set, Mix, GetBatch, SetBatch} {
			r := Run(&batchRecorder{recorder{refuse: true, miss: true}}, Work{Op: op, Keys: s, Value: []byte("abcd"), Goroutines: goroutines})
			sets := map[Op]int64{Get: 0, GetBatch: 0, Set: count, SetBatch: count, Mix: int64(goroutines * (count / goroutines / mixPeriod))}[op]
			if r.Ops != count || r.Gets != count-sets || r.Refused != sets || r.Hits != 0 {
				t.Errorf("%s with %d goroutines: %+v; expected %d Sets refused and the rest misses", op, goroutines, r, sets)
			}
		}
	}
}

func TestResult(t *testing.T) {
	r := Result{Ops: 4, Elapsed: 10 * time.Nanosecond, Gets: 4, Hits: 3}
	if got := r.NsPerOp(); got != 2.5 {
		t.Errorf("NsPerOp %v; expected 2.5", got)
	}
	if got, ok := r.HitRatio(); got != 0.75 || !ok {
		t.Errorf("HitRatio %v, %v; expected 0.75", got, ok)
	}
	if _, ok := (Result{Ops: 4}).HitRatio(); ok {
		t.Error("a turn without Gets has a hit ratio")
	}
}

func TestClassic(t *testing.T) {
	for _, c := range []struct {
		op         ClassicOp
		gets, sets int
	}{{ClassicGet, 2 * ClassicItems, 0}, {ClassicSet, 0, 2 * ClassicItems}, {ClassicSetGet, 2 * ClassicItems, 2 * ClassicItems}} {
		cache := &recorder{}
		r, err := Classic(cache, c.op, 2, 1)
		if err != nil {
			t.Fatal(err)
		}
		if len(cache.gets) != c.gets || len(cache.sets) != c.sets || r.Ops != int64(c.gets+c.sets) || r.Hits != int64(c.gets) {
			t.Errorf("%s: %d Gets, %d Sets, %+v; expected %d and %d", c.op, len(cache.gets), len(cache.sets), r, c.gets, c.sets)
		}
		distinct := make(map[string]bool)
		for _, k := range append(cache.gets, cache.sets...) {
			distinct[k] = true
		}
		if len(distinct) != ClassicItems {
			t.Errorf("%s: %d different keys; expected %d", c.op, len(distinct), ClassicItems)
		}
	}
}

// wrongValue is a cache that mixes values up.
type wrongValue struct{ recorder }

func (w *wrongValue) Get(dst, _ []byte) ([]byte, bool) { return append(dst, "wxyz"...), true }

func TestClassicFindsWrongValues(t *testing.T) {
	if _, err := Classic(&wrongValue{}, ClassicGet, 2, 1); err == nil {
		t.Error("a cache that returns another value passed")
	}
}

// TestLatency: every operation is done, one in seven is timed.
func TestLatency(t *testing.T) {
	const count = 1400
	s := stream(t, count)
	for _, op := range []Op{Get, Mix} {
		r, h := Latency(&recorder{refuse: true}, Work{Op: op, Keys: s, Value: []byte("abcd"), Goroutines: 2})
		sets := map[Op]int64{Get: 0, Mix: count / mixPeriod}[op]
		if r.Ops != count || r.Gets != count-sets || r.Refused != sets || h.TotalCount() != 200 {
			t.Errorf("%s: %+v, %d timed; expected %d Sets refused and %d timed", op, r, h.TotalCount(), sets, 200)
		}
	}
}
