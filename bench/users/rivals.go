package users

import (
	"context"
	"time"

	theine "github.com/Yiling-J/theine-go"
	"github.com/dgraph-io/ristretto/v2"
	"github.com/maypok86/otter/v2"
	gocache "github.com/patrickmn/go-cache"
	"github.com/puzpuzpuz/xsync/v4"

	"github.com/firncache/firn/bench/rivals"
)

// otterObjects: MaximumSize by the budget, ExpiryWriting, and a coarse clock, as a
// read takes the time.
type otterObjects[K key, V any] struct {
	c      *otter.Cache[K, V]
	loader otter.Loader[K, V]
}

func openOtter[K key, V any](s *spec[K, V]) (objects[K, V], error) {
	opts := &otter.Options[K, V]{MaximumSize: s.room(rivals.OtterOverhead), InitialCapacity: min(s.w.Entries, s.room(rivals.OtterOverhead))}
	if s.w.TTL > 0 {
		opts.ExpiryCalculator, opts.Clock = otter.ExpiryWriting[K, V](s.w.TTL), s.clock
	}
	c, err := otter.New(opts)
	return &otterObjects[K, V]{c, otter.LoaderFunc[K, V](func(_ context.Context, key K) (V, error) { return s.load(key), nil })}, err
}

func (o *otterObjects[K, V]) get(key K) (V, bool)     { return o.c.GetIfPresent(key) }
func (o *otterObjects[K, V]) set(key K, value V) bool { o.c.Set(key, value); return true }
func (o *otterObjects[K, V]) wait()                   { o.c.CleanUp() }
func (o *otterObjects[K, V]) close()                  { o.c.InvalidateAll(); o.c.StopAllGoroutines() }

func (o *otterObjects[K, V]) getOrLoad(key K) V {
	v, _ := o.c.Get(context.Background(), key, o.loader) // neither loader nor context fail
	return v
}

// openTheine: the maximum by the budget, cost 1 each, and its kind with a loader
// where the workload loads. Its own clock is coarse.
func openTheine[K key, V any](s *spec[K, V]) (objects[K, V], error) {
	b := theine.NewBuilder[K, V](int64(s.room(rivals.TheineOverhead)))
	if s.w.Fits() {
		c, err := b.Build()
		return &theineObjects[K, V]{c, s.w.TTL}, err
	}
	c, err := b.BuildWithLoader(func(_ context.Context, key K) (theine.Loaded[V], error) {
		return theine.Loaded[V]{Value: s.load(key), Cost: 1}, nil
	})
	return &theineLoading[K, V]{c}, err
}

type theineObjects[K key, V any] struct {
	c   *theine.Cache[K, V]
	ttl time.Duration
}

func (t *theineObjects[K, V]) get(key K) (V, bool)     { return t.c.Get(key) }
func (t *theineObjects[K, V]) set(key K, value V) bool { return t.c.SetWithTTL(key, value, 1, t.ttl) }
func (t *theineObjects[K, V]) wait()                   { t.c.Wait() }
func (t *theineObjects[K, V]) close()                  { t.c.Close() }

type theineLoading[K key, V any] struct {
	c *theine.LoadingCache[K, V]
}

func (t *theineLoading[K, V]) get(key K) (V, bool)     { return t.getOrLoad(key), true }
func (t *theineLoading[K, V]) set(key K, value V) bool { return t.c.Set(key, value, 1) }
func (t *theineLoading[K, V]) wait()                   { t.c.Wait() }
func (t *theineLoading[K, V]) close()                  { t.c.Close() }

func (t *theineLoading[K, V]) getOrLoad(key K) V {
	v, _ := t.c.Get(context.Background(), key) // neither loader nor context fail
	return v
}

// openRistretto: MaxCost by the budget, cost 1 each, ten counters an entry, buffers
// of 64, no metrics. It applies new entries later, and refuses some when it cannot
// keep up.
func openRistretto[K key, V any](s *spec[K, V]) (objects[K, V], error) {
	room := int64(s.room(rivals.RistrettoOverhead))
	c, err := ristretto.NewCache(&ristretto.Config[K, V]{NumCounters: 10 * room, MaxCost: room, BufferItems: 64, IgnoreInternalCost: true})
	return &ristrettoObjects[K, V]{c, s.w.TTL}, err
}

type ristrettoObjects[K key, V any] struct {
	c   *ristretto.Cache[K, V]
	ttl time.Duration
}

func (r *ristrettoObjects[K, V]) get(key K) (V, bool) { return r.c.Get(key) }
func (r *ristrettoObjects[K, V]) set(key K, value V) bool {
	return r.c.SetWithTTL(key, value, 1, r.ttl)
}
func (r *ristrettoObjects[K, V]) wait()   { r.c.Wait() }
func (r *ristrettoObjects[K, V]) settle() { r.c.Wait() }
func (r *ristrettoObjects[K, V]) close()  { r.c.Close() }

// openXsync: presized. It knows neither limit nor expiry: the program keeps a
// deadline beside each value, and reads its own coarse clock.
func openXsync[K key, V any](s *spec[K, V]) objects[K, V] {
	if s.w.TTL == 0 {
		return xsyncObjects[K, V]{xsync.NewMap[K, V](xsync.WithPresize(s.w.Entries))}
	}
	return &xsyncExpiring[K, V]{xsync.NewMap[K, expiring[V]](xsync.WithPresize(s.w.Entries)), s.env}
}

type xsyncObjects[K key, V any] struct{ m *xsync.Map[K, V] }

func (x xsyncObjects[K, V]) get(key K) (V, bool)     { return x.m.Load(key) }
func (x xsyncObjects[K, V]) set(key K, value V) bool { x.m.Store(key, value); return true }
func (x xsyncObjects[K, V]) wait()                   {}
func (x xsyncObjects[K, V]) close()                  { x.m.Clear() }

type expiring[V any] struct {
	value    V
	deadline int64
}

type xsyncExpiring[K key, V any] struct {
	m *xsync.Map[K, expiring[V]]
	*env
}

func (x *xsyncExpiring[K, V]) get(key K) (v V, ok bool) {
	e, ok := x.m.Load(key)
	if !ok || e.deadline <= x.clock.NowNano() {
		return v, false
	}
	return e.value, true
}

func (x *xsyncExpiring[K, V]) set(key K, value V) bool {
	x.m.Store(key, expiring[V]{value, x.clock.NowNano() + int64(x.w.TTL)})
	return true
}

func (x *xsyncExpiring[K, V]) wait()  {}
func (x *xsyncExpiring[K, V]) close() { x.m.Clear() }

// openGoCache: a janitor every minute where values expire; no limit. Its keys are
// strings.
func openGoCache[V any](e *env) objects[string, V] {
	ttl, janitor := time.Duration(gocache.NoExpiration), time.Duration(0)
	if e.w.TTL > 0 {
		ttl, janitor = e.w.TTL, time.Minute
	}
	return goCacheObjects[V]{gocache.NewFrom(ttl, janitor, make(map[string]gocache.Item, e.w.Entries))}
}

type goCacheObjects[V any] struct{ c *gocache.Cache }

func (g goCacheObjects[V]) get(key string) (v V, ok bool) {
	boxed, ok := g.c.Get(key)
	if ok {
		v = boxed.(V)
	}
	return v, ok
}

func (g goCacheObjects[V]) set(key string, value V) bool { g.c.SetDefault(key, value); return true }
func (g goCacheObjects[V]) wait()                        {}
func (g goCacheObjects[V]) close()                       { g.c.Flush() }
