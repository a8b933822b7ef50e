package typed

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/registry"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// A model of one goroutine with tags, deadlines, loads, some of which fail, Clear and, over an SSD,
// restarts, also with other sizes, and kills. What is found is the last value of its key, and none of its
// tags was invalidated or expired since; but where a load fails the last value is an answer for a while
// after it has expired, or a tag of it. The model is exact but for misses.
func TestTagsModel(t *testing.T) {
	steps := 20_000
	if invariants.Race { // where bytes move by atomic words
		steps = 4000
	}
	for _, place := range []string{"RAM", "front", "SSD", "SSD, compressed"} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := &tagModel{t: t, place: place, rng: rand.New(rand.NewPCG(3, uint64(len(place)))), fs: vfstest.NewMem(), held: map[int]tagged{}, failed: map[int]time.Duration{}}
				m.run(steps)
			})
		})
	}
}

// tagged is a value as the model has it.
type tagged struct {
	seq     int
	tags    []string
	expires time.Duration // 0: never
	stale   bool          // a tag has expired,
	since   time.Duration // at this moment
}

const (
	tagModelGrace = 40 * time.Millisecond
	tagModelRetry = 5 * time.Millisecond
)

type tagModel struct {
	t     *testing.T
	place string
	rng   *rand.Rand
	fs    *vfstest.Mem
	clock cachetest.Clock
	now   time.Duration // of the clock
	c     *firn.Cache
	typed *firn.Typed[int, string]
	batch firn.TypedBatch[string]
	held  map[int]tagged
	seq   int

	places uint64                // of the registry
	failed map[int]time.Duration // when a load of the key did last

	hits, below, misses, stale uint64
}

const tagModelKeys = 1500

func (m *tagModel) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *tagModel) open() {
	opts := firn.Options{RAMBytes: 256 << 10, Clock: m.clock.Now}
	opts.Loading.StaleIfError, opts.Loading.RetryAfter = tagModelGrace, tagModelRetry
	var typedOpts firn.TypedOptions[int, string]
	switch m.place {
	case "front":
		typedOpts.HotValues = 1000
	case "RAM":
	default:
		opts.RAMBytes = 1 << (20 + m.rng.IntN(4)/3) // a registry of two sizes
		opts.SSD = harness.On(firn.SSDOptions{Bytes: 4 << 20, SegmentBytes: 64 << 10, Admission: firn.AdmitAll, Compress: m.place != "SSD"}, m.fs)
	}
	var err error
	m.places = uint64(registry.PlacesFor(opts.RAMBytes / registry.Share))
	m.c, err = firn.Open(opts)
	m.must(err)
	m.typed = harness.NewTyped(m.t, m.c, "n", typedOpts)
}

func (m *tagModel) run(steps int) {
	m.open()
	for step := range steps {
		m.step()
		if step%(steps/4) == steps/8 {
			m.must(m.typed.Clear(ctx))
			m.held = map[int]tagged{}
		}
		if m.place[0] == 'S' && step%(steps/8) == steps/8-1 {
			m.restart()
		}
	}
	m.count()
	m.must(m.c.Close())
	if m.hits < uint64(steps)/50 || m.stale == 0 || m.place[0] == 'S' && m.below == 0 || m.misses == 0 {
		m.t.Fatalf("%d hits, %d of stale values, %d of the SSD, %d misses for tags", m.hits, m.stale, m.below, m.misses)
	}
}

func (m *tagModel) count() {
	s := m.c.Stats()
	m.below += s.SSD.Hits
	m.misses += s.TagMisses
}

// value is about as long as others, and says of which write of which key it is.
func (m *tagModel) value(key, seq int) string {
	return fmt.Sprintf("%d %d %0*d", key, seq, key%7*150, 0)
}

// next is a new value of a key.
func (m *tagModel) next(key int) (e tagged, value string) {
	m.seq++
	e.seq = m.seq
	n := m.rng.IntN(5)
	if m.rng.IntN(50) == 0 {
		n = firn.MaxTags
	}
	for range n {
		e.tags = append(e.tags, fmt.Sprint("tag ", m.rng.IntN(40)))
	}
	return e, m.value(key, m.seq)
}

func (m *tagModel) step() {
	key := m.rng.IntN(tagModelKeys)
	switch n := m.rng.IntN(100); {
	case n < 30:
		m.set(key)
	case n < 33:
		m.must(m.typed.Delete(key))
		delete(m.held, key)
	case n < 36:
		m.invalidate(fmt.Sprint("tag ", m.rng.IntN(40)))
	case n < 38:
		m.expire(fmt.Sprint("tag ", m.rng.IntN(40)))
	case n < 40:
		m.now += time.Millisecond
		m.clock.Advance(time.Millisecond)
	case n < 45:
		if m.typed.Has(key) {
			m.judge("Has", key, m.value(key, m.held[key].seq))
		}
	case n < 50:
		if ttl, ok := m.typed.TTL(key); ok {
			m.judge("TTL", key, m.value(key, m.held[key].seq))
			want := m.held[key].expires - m.now // to the millisecond: a restart may round it
			if never := ttl == firn.Forever; never != (m.held[key].expires == 0) || !never && (ttl-want).Abs() > time.Millisecond {
				m.t.Fatalf("TTL of %d: %v, want %v", key, ttl, want)
			}
		}
	case n < 60:
		m.getMulti()
	case n < 70:
		m.load(key)
	default:
		if v, ok := m.typed.Get(key); ok {
			m.judge("Get", key, v)
		}
	}
}

func (m *tagModel) set(key int) {
	e, v := m.next(key)
	o := firn.SetOptions{TTL: firn.Forever, Tags: e.tags}
	if m.rng.IntN(4) == 0 {
		o.TTL = time.Duration(1+m.rng.IntN(500)) * time.Millisecond
		e.expires = m.now + o.TTL
	}
	m.must(m.typed.SetWith(ctx, key, v, o))
	m.held[key] = e
}

func (m *tagModel) invalidate(tag string) {
	m.must(m.typed.InvalidateTag(ctx, tag))
	for key, e := range m.held {
		if slices.Contains(e.tags, tag) {
			delete(m.held, key)
		}
	}
}

// expire makes values stale, of tags that share the place, too. It brings back none.
func (m *tagModel) expire(tag string) {
	m.must(m.typed.ExpireTag(m.t.Context(), tag))
	place := func(tag string) uint64 {
		id := registry.TagOf("n", tag)
		return id.Hash() % m.places
	}
	for key, e := range m.held {
		switch {
		case !slices.ContainsFunc(e.tags, func(own string) bool { return place(own) == place(tag) }):
		case e.stale && e.since+tagModelGrace <= m.now:
			delete(m.held, key)
		default:
			e.stale, e.since = true, m.now
			m.held[key] = e
		}
	}
}

var errSource = errors.New("the source is down")

// load loads a value, of which a tag may be invalidated, or expire, meanwhile, or fails to, or learns that the
// last one is that of the source still.
func (m *tagModel) load(key int) {
	e, v := m.next(key)
	loaded, fails, unchanged, lost := false, m.rng.IntN(3) == 0, false, ""
	got, err := m.typed.GetOrLoad(m.t.Context(), key, func(ctx context.Context, _ int) (string, error) {
		loaded = true
		late := m.rng.IntN(2) == 0
		if !late {
			m.must(firn.SetLoadTags(ctx, e.tags...))
		}
		if old, ok := m.typed.CachedValue(ctx); ok && m.rng.IntN(2) == 0 {
			m.judgeStale("CachedValue", key, old)
			e, v, unchanged, fails = m.held[key], old, true, false
			e.stale, e.expires = false, 0
		}
		if len(e.tags) > 0 && m.rng.IntN(3) == 0 {
			lost = e.tags[m.rng.IntN(len(e.tags))]
			if m.rng.IntN(2) == 0 {
				m.invalidate(lost)
			} else {
				m.expire(lost)
				e.stale, e.since, lost = true, m.now, ""
			}
		}
		if late {
			m.must(firn.SetLoadTags(ctx, e.tags...))
		}
		switch {
		case fails:
			return "", errSource
		case unchanged:
			return "", firn.ErrNotModified
		}
		return v, nil
	})
	switch {
	case err != nil:
		if !fails || err != errSource || !loaded {
			m.t.Fatalf("GetOrLoad of %d: %v", key, err)
		}
		m.failed[key] = m.now
	case loaded && fails:
		m.failed[key] = m.now
		m.judgeStale("GetOrLoad, which failed,", key, got)
	case !loaded:
		if at, ok := m.failed[key]; ok && m.now <= at+tagModelRetry {
			m.judgeStale("GetOrLoad", key, got)
		} else {
			m.judge("GetOrLoad", key, got)
		}
	case got != v:
		m.t.Fatalf("GetOrLoad of %d: %.40q, want %.40q", key, got, v)
	case lost != "":
		delete(m.held, key)
		delete(m.failed, key)
	default:
		m.held[key] = e
		delete(m.failed, key)
	}
}

// judgeStale is judge of what may be an answer though it is stale.
func (m *tagModel) judgeStale(call string, key int, v string) {
	m.t.Helper()
	e, ok := m.held[key]
	since, stale := e.since, e.stale
	if e.expires != 0 && e.expires <= m.now && (!stale || e.expires < since) {
		since, stale = e.expires, true
	}
	if !ok || v != m.value(key, e.seq) || stale && since+tagModelGrace+time.Millisecond <= m.now {
		m.t.Fatalf("%s of %d: %.40q; want %+v, %v, and it is %v", call, key, v, e, ok, m.now)
	}
	if e.stale {
		m.stale++
	}
}

func (m *tagModel) getMulti() {
	keys := make([]int, 10)
	for i := range keys {
		keys[i] = m.rng.IntN(tagModelKeys)
	}
	m.typed.GetMulti(ctx, &m.batch, keys)
	for i, key := range keys {
		if v, ok := m.batch.Value(i); ok {
			m.judge("GetMulti", key, v)
		}
	}
}

func (m *tagModel) judge(call string, key int, v string) {
	m.t.Helper()
	e, ok := m.held[key]
	if !ok || v != m.value(key, e.seq) || e.expires != 0 && e.expires < m.now || e.stale {
		m.t.Fatalf("%s of %d: %.40q; want %+v, %v, and it is %v", call, key, v, e, ok, m.now)
	}
	m.hits++
}

// restart closes the cache, or lets it die, and opens it again.
func (m *tagModel) restart() {
	if m.rng.IntN(2) == 0 {
		harness.Demote(m.t, m.c)
	}
	m.count()
	fs := m.fs
	if m.rng.IntN(2) == 0 { // it dies
		fs = m.fs.CrashClone(nil, vfstest.Kill)
	}
	m.must(m.c.Close())
	m.fs = fs
	m.open()
	for key, v := range m.typed.All() {
		m.judge("All", key, v)
	}
}

// Many read, load and set values that are made of one source, while others change it and
// invalidate the tag: once InvalidateTag has returned, nobody finds a value from before.
func TestTagsStress(t *testing.T) {
	t.Parallel()
	rounds := 2000
	if testing.Short() || invariants.Race {
		rounds = 400
	}
	const keys = 4
	for place, open := range map[string]func(t *testing.T) *firn.Typed[int, uint64]{
		"RAM": func(t *testing.T) *firn.Typed[int, uint64] {
			return harness.NewTyped(t, harness.OpenSmall(t), "n", firn.TypedOptions[int, uint64]{})
		},
		"front": func(t *testing.T) *firn.Typed[int, uint64] {
			return harness.NewTyped(t, harness.OpenSmall(t), "n", firn.TypedOptions[int, uint64]{HotValues: 1000})
		},
		"SSD": func(t *testing.T) *firn.Typed[int, uint64] {
			return harness.NewTyped(t, harness.OpenOn(t, vfstest.NewMem()), "n", firn.TypedOptions[int, uint64]{})
		},
	} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			typed := open(t)
			var source, acked atomic.Uint64
			ask := func(ctx context.Context, late bool) (v uint64) {
				if !late {
					_ = firn.SetLoadTags(ctx, "other", "source")
				}
				v = source.Load()
				if late {
					_ = firn.SetLoadTags(ctx, "other", "source")
				}
				return v
			}
			var all sync.WaitGroup
			var over atomic.Bool
			for who := range 4 {
				all.Go(func() {
					rng := rand.New(rand.NewPCG(9, uint64(who)))
					var b firn.TypedBatch[uint64]
					for !over.Load() {
						key, late := rng.IntN(keys), rng.IntN(2) == 0
						since := acked.Load()
						v, ok := since, true
						switch rng.IntN(4) {
						case 0:
							v, ok = typed.Get(key)
						case 1:
							if err := typed.GetOrLoadMulti(context.Background(), &b, []int{key}, func(ctx context.Context, keys []int) (map[int]uint64, error) {
								return map[int]uint64{keys[0]: ask(ctx, late)}, nil
							}); err != nil {
								t.Error(err)
							}
							v, ok = b.Value(0)
						case 2:
							if typed.Has(key) && rng.IntN(8) == 0 {
								_ = typed.Delete(key)
							}
						default:
							var err error
							if v, err = typed.GetOrLoad(context.Background(), key, func(ctx context.Context, _ int) (uint64, error) { return ask(ctx, late), nil }); err != nil {
								t.Error(err)
							}
						}
						if ok && v < since {
							t.Errorf("key %d: a value from %d, after %d was invalidated", key, v, since)
							return
						}
					}
				})
			}
			for range rounds {
				n := source.Add(1)
				if err := typed.InvalidateTag(ctx, "source"); err != nil {
					t.Error(err)
				}
				acked.Store(n)
				for key := range keys {
					if n%3 == 0 {
						if err := typed.SetWith(ctx, key, n, firn.SetOptions{Tags: []string{"source"}}); err != nil {
							t.Error(err)
						}
					}
				}
			}
			over.Store(true)
			all.Wait()
		})
	}
}
