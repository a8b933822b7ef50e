package users

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"time"

	theine "github.com/Yiling-J/theine-go"
	"github.com/maypok86/otter/v2"

	"github.com/firncache/firn"
	"github.com/firncache/firn/bench/samples"
)

// BenchmarkDefaults is what a new user sees: structs as people write them, in Typed with nothing
// set but the budget, beside otter and theine. In turns, with a file for each run:
//
//	go test -run '^$' -bench Defaults -benchtime 1s -count 8 ./users
//
// firn+readonly says that no caller changes a value, as must be so with the others.
func BenchmarkDefaults(b *testing.B) {
	defaults(b, "metadata", defaultsOf[fileInfo]{entries: 5000, budget: 8 << 20, writeEvery: 200, perProc: 8, create: newFileInfo})
	defaults(b, "rows", defaultsOf[row]{entries: 200_000, budget: 512 << 20, writeEvery: 100, perProc: 1, loads: true, create: newRow})
	defaults(b, "vectors", defaultsOf[[]float32]{entries: 10_000, budget: 256 << 20, perProc: 1, create: newVector})
	defaults(b, "pages", defaultsOf[[]byte]{entries: 50_000, room: 12_500, budget: 256 << 20, perProc: 8, loads: true, create: newPage})
	b.Run("limiter", limiters)
}

type fileInfo struct {
	Name, Owner       string
	Size, Mode, Links int64
	Modified          time.Time
}

func newFileInfo(n int) fileInfo {
	return fileInfo{fmt.Sprintf("/srv/files/%d", n), "www-data", int64(n), 0o644, 1, time.Unix(int64(n), 0)}
}

type row struct {
	ID, Tenant             int64
	Name, Mail, City, Note string
	Age, Logins            int
	Balance                float64
	Active                 bool
	Created                time.Time
}

func newRow(n int) row {
	return row{int64(n), 7, fmt.Sprint("user ", n), fmt.Sprintf("user%d@example.org", n), "Zürich", "a note of some length", 30, n, 1.5, true, time.Unix(int64(n), 0)}
}

func newVector(n int) []float32 {
	v := make([]float32, 1536)
	v[0] = float32(n)
	return v
}

func newPage(n int) []byte {
	for began := time.Now(); time.Since(began) < 50*time.Microsecond; {
	}
	return make([]byte, 20_000)
}

// defaultsOf is a workload, of keys by a Zipf distribution.
type defaultsOf[V any] struct {
	entries, room       int // of these, what fits; 0: all
	budget              int64
	writeEvery, perProc int
	loads               bool // through a loader
	create              func(n int) V
}

// plainCache is a cache of a workload, by its best calls.
type plainCache[V any] struct {
	get  func(key string) (V, bool)
	set  func(key string, v V)
	load func(ctx context.Context, key string, n int) V
	end  func()
}

func defaults[V any](b *testing.B, name string, w defaultsOf[V]) {
	keys := make([]string, w.entries)
	for i := range keys {
		keys[i] = fmt.Sprintf("%s/%08d", name, i)
	}
	if w.room == 0 {
		w.room = w.entries
	}
	for _, c := range []struct {
		name string
		open func(b *testing.B) plainCache[V]
	}{
		{"firn", func(b *testing.B) plainCache[V] { return plainFirn(b, w, false) }},
		{"firn+readonly", func(b *testing.B) plainCache[V] { return plainFirn(b, w, true) }},
		{"otter", func(b *testing.B) plainCache[V] { return plainOtter(b, w) }},
		{"theine", func(b *testing.B) plainCache[V] { return plainTheine(b, w) }},
	} {
		b.Run(name+"/cache="+c.name, func(b *testing.B) { w.run(b, c.open(b), keys) })
	}
}

func (w *defaultsOf[V]) run(b *testing.B, c plainCache[V], keys []string) {
	defer c.end()
	order := zipf(1<<18, w.entries)
	if !w.loads {
		for i, key := range keys {
			c.set(key, w.create(i))
		}
	}
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	work := func(at *uint32) {
		*at++
		n := order[*at%uint32(len(order))]
		switch v, ok := *new(V), false; {
		case w.writeEvery > 0 && *at%uint32(w.writeEvery) == 0:
			c.set(keys[n], w.create(n))
		case w.loads:
			c.load(ctx, keys[n], n)
		default:
			if v, ok = c.get(keys[n]); !ok {
				c.set(keys[n], w.create(n))
			}
			_ = v
		}
	}
	var at uint32
	for range len(order) { // warm
		work(&at)
	}
	b.SetParallelism(w.perProc)
	var seed atomic.Uint32
	measured(b, func(pb *testing.PB) {
		at := seed.Add(1) * 7919
		for pb.Next() {
			work(&at)
		}
	})
}

// measured runs the body in parallel, and reports beside the time the processor's, and how much
// memory is resident, that of the keys and their order included.
func measured(b *testing.B, body func(pb *testing.PB)) {
	debug.FreeOSMemory()
	b.ReportAllocs()
	b.ResetTimer()
	before := samples.OwnSeconds()
	b.RunParallel(body)
	b.StopTimer()
	b.ReportMetric((samples.OwnSeconds()-before)*1e9/float64(b.N), "cpu-ns/op")
	b.ReportMetric(float64(samples.RSS())/(1<<20), "MiB")
}

func zipf(n, entries int) []int {
	z := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.01, 1, uint64(entries-1))
	order := make([]int, n)
	for i := range order {
		order[i] = int(z.Uint64())
	}
	return order
}

func plainFirn[V any](b *testing.B, w defaultsOf[V], readOnly bool) plainCache[V] {
	c, err := firn.Open(firn.Options{RAMBytes: w.budget})
	if err != nil {
		b.Fatal(err)
	}
	t, err := firn.NewTyped(c, "n", firn.TypedOptions[string, V]{ReadOnly: readOnly})
	if err != nil {
		b.Fatal(err)
	}
	return plainCache[V]{t.Get, func(key string, v V) { _ = t.Set(key, v) }, func(ctx context.Context, key string, n int) V {
		v, _ := t.GetOrLoad(ctx, key, func(context.Context, string) (V, error) { return w.create(n), nil })
		return v
	}, func() { _ = c.Close() }}
}

func plainOtter[V any](b *testing.B, w defaultsOf[V]) plainCache[V] {
	c, err := otter.New(&otter.Options[string, V]{MaximumSize: w.room})
	if err != nil {
		b.Fatal(err)
	}
	return plainCache[V]{c.GetIfPresent, func(key string, v V) { c.Set(key, v) }, func(ctx context.Context, key string, n int) V {
		v, _ := c.Get(ctx, key, otter.LoaderFunc[string, V](func(context.Context, string) (V, error) { return w.create(n), nil }))
		return v
	}, func() { c.StopAllGoroutines() }}
}

func plainTheine[V any](b *testing.B, w defaultsOf[V]) plainCache[V] {
	builder := theine.NewBuilder[string, V](int64(w.room))
	if !w.loads {
		c, err := builder.Build()
		if err != nil {
			b.Fatal(err)
		}
		return plainCache[V]{get: c.Get, set: func(key string, v V) { c.Set(key, v, 1) }, end: c.Close}
	}
	c, err := builder.BuildWithLoader(func(_ context.Context, key string) (theine.Loaded[V], error) {
		var n int
		_, err := fmt.Sscanf(key[len(key)-8:], "%d", &n)
		return theine.Loaded[V]{Value: w.create(n), Cost: 1}, err
	})
	if err != nil {
		b.Fatal(err)
	}
	return plainCache[V]{set: func(key string, v V) { c.Set(key, v, 1) }, load: func(ctx context.Context, key string, _ int) V {
		v, _ := c.Get(ctx, key)
		return v
	}, end: c.Close}
}

// limiters count the requests of 200,000 clients, which end after ten minutes.
func limiters(b *testing.B) {
	const clients = 200_000
	keys, order := make([]string, clients), zipf(1<<18, clients)
	for i := range keys {
		keys[i] = fmt.Sprintf("client/%08d", i)
	}
	run := func(b *testing.B, count func(key string)) {
		for _, n := range order { // warm
			count(keys[n])
		}
		var seed atomic.Uint32
		measured(b, func(pb *testing.PB) {
			for at := seed.Add(1) * 7919; pb.Next(); at++ {
				count(keys[order[at%uint32(len(order))]])
			}
		})
	}
	b.Run("cache=firn", func(b *testing.B) {
		c, err := firn.Open(firn.Options{RAMBytes: 96 << 20, TTL: 10 * time.Minute})
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		t, err := firn.NewTyped(c, "n", firn.TypedOptions[string, int64]{})
		if err != nil {
			b.Fatal(err)
		}
		run(b, func(key string) { _, _ = firn.Increment(b.Context(), t, key, 1) })
	})
	b.Run("cache=otter", func(b *testing.B) {
		c, err := otter.New(&otter.Options[string, *atomic.Int64]{MaximumSize: clients, ExpiryCalculator: otter.ExpiryWriting[string, *atomic.Int64](10 * time.Minute)})
		if err != nil {
			b.Fatal(err)
		}
		defer c.StopAllGoroutines()
		run(b, func(key string) {
			n, ok := c.GetIfPresent(key)
			if !ok {
				n, _ = c.SetIfAbsent(key, new(atomic.Int64))
			}
			n.Add(1)
		})
	})
}
