package ssd

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// Row 24, and 23: a model of one goroutine with deadlines that move, a clock, deletes,
// Clear and restarts, and so little RAM that most of it lies below. What is
// found is the last value that was set, and has not expired; the model is exact
// but for misses. A deadline that was made later may be the earlier one again.
// With events it is exact: what was found, or set, since the last
// restart, and is found no more, OnEvict was told of.
func TestFault24Model(t *testing.T) {
	steps := 24_000
	switch {
	case invariants.Race: // where bytes move by atomic words
		steps = 5000
	case testing.Short():
		steps = 10_000
	}
	for _, x := range []struct {
		compress bool
		access   time.Duration
		events   bool
	}{{false, 0, false}, {true, 0, false}, {false, time.Second, false}, {false, 0, true}, {true, 0, true}} {
		t.Run(fmt.Sprintf("compress=%v,access=%v,events=%v", x.compress, x.access, x.events), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := &ssdModel{t: t, rng: rand.New(rand.NewPCG(24, 24)), fs: vfstest.NewMem(), compress: x.compress, access: x.access, held: map[int]modelEntry{}}
				if x.events {
					m.events = &ssdEvents{model: m, of: map[uint64]eventsOf{}, fresh: map[uint64]bool{}}
				}
				m.run(steps)
			})
		})
	}
}

type modelEntry struct {
	seq     uint64
	expires time.Duration // at the latest; 0: never
	moved   bool          // that may be earlier, by a kill or a refusal
	slides  bool
	certain bool // it was there since the cache was opened
	opened  int  // how often the cache had been opened
}

// slack is how much the deadline may differ from the model's: of what an earlier process
// has written, a millisecond, for the offset of its clock is another.
func (m *ssdModel) slack(e modelEntry) time.Duration {
	if e.opened < m.opened {
		return time.Millisecond
	}
	return 0
}

// read moves the deadline of an entry that was found.
func (m *ssdModel) read(i int) {
	if e := m.held[i]; e.slides {
		e.expires = m.now + m.access + rounding
		m.held[i] = e
	}
}

// rounding is what a deadline may be later, where some slide.
const rounding = 2 * time.Millisecond

// ssdModel is a cache and what it may hold.
type ssdModel struct {
	t        *testing.T
	rng      *rand.Rand
	fs       *vfstest.Mem
	compress bool
	access   time.Duration
	clock    cachetest.Clock
	now      time.Duration // of the clock
	c        *firn.Cache
	held     map[int]modelEntry
	seq      uint64
	buf      []byte
	batch    firn.Batch

	hits, below, touched uint64

	opened int        // how often
	before uint64     // the last write of earlier processes
	events *ssdEvents // nil: OnEvict is not set
}

const modelKeys = 3000

func modelKey(i int) []byte { return fmt.Appendf(nil, "key-%05d", i) }

func (m *ssdModel) run(steps int) {
	m.open()
	m.t.Cleanup(func() { _ = m.c.Close() }) // of a run that failed
	for step := range steps {
		m.step(step)
		if step%(steps/4) == steps/8 {
			m.clear()
		}
		if step%(steps/6) == steps/6-1 {
			m.restart()
		}
	}
	m.must(m.c.Close())
	if m.hits < uint64(steps)/20 || m.below == 0 || m.touched == 0 {
		m.t.Fatalf("%d hits, %d of the SSD, %d touched", m.hits, m.below, m.touched)
	}
	m.events.finish()
}

func (m *ssdModel) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *ssdModel) open() {
	o := firn.Options{RAMBytes: 1 << 20, Clock: m.clock.Now, ExpireAfterAccess: m.access,
		SSD: harness.On(firn.SSDOptions{Bytes: 8 << 20, SegmentBytes: 64 << 10, Admission: firn.AdmitAll, Compress: m.compress}, m.fs)}
	if m.rng.IntN(2) == 0 {
		o.SSD.MirrorEvery = 10 * time.Millisecond
	}
	if m.events != nil {
		o.SSD.Bytes, o.SSD.Admission = 2<<20, firn.AdmitSeen
		o.OnEvict, o.OnEvictCauses = m.events.listen(), harness.AllCauses
	}
	var err error
	m.c, err = firn.Open(o)
	m.must(err)
	m.opened, m.before = m.opened+1, m.seq
}

// step makes one call.
func (m *ssdModel) step(step int) {
	i := m.rng.IntN(modelKeys)
	key := modelKey(i)
	switch n := m.rng.IntN(100); {
	case n < 35:
		m.set(i, key)
	case n < 40:
		m.must(m.c.Delete(key))
		delete(m.held, i)
	case n < 45:
		step := time.Duration(m.rng.IntN(30)) * time.Millisecond
		m.clock.Advance(step)
		m.now += step
	case n < 50:
		m.touch(i, key)
	case n < 53 && step%7 == 0:
		m.ttl(i, key)
	case n < 60:
		m.getMulti()
	case n < 70:
		m.compute(i, key)
	default:
		if v, ok := m.c.Get(nil, key); ok {
			m.judge(i, key, v)
			m.read(i)
		} else {
			m.events.judgeMiss(i, key)
		}
	}
}

func (m *ssdModel) judge(i int, key, v []byte) {
	m.t.Helper()
	got, err := cachetest.Sequence(key, v)
	want, ok := m.held[i]
	if err != nil || !ok || got != want.seq || want.expires != 0 && want.expires+m.slack(want) <= m.now {
		m.t.Fatalf("%s: write %d, %v; want %+v, %v, and it is %v", key, got, err, want, ok, m.now)
	}
	m.hits++
	m.events.judgeHit(i, key)
}

// touch moves a deadline, either way.
func (m *ssdModel) touch(i int, key []byte) {
	ttl := firn.Forever
	if m.rng.IntN(4) > 0 {
		ttl = m.ownTTL()
	}
	ok, err := m.c.Touch(m.t.Context(), key, ttl)
	m.must(err)
	e, held := m.held[i]
	switch {
	case !ok:
		return
	case !held || e.expires != 0 && e.expires <= m.now:
		m.t.Fatalf("%s: touched; want %+v, %v, and it is %v", key, e, held, m.now)
	}
	e.moved, e.slides, e.expires = true, false, 0
	if ttl != firn.Forever {
		e.expires = m.now + ttl + m.mayRound()
	}
	m.held[i] = e
	m.events.touched(e.seq)
	m.touched++
}

// ownTTL is a time to live, and not the one that slides.
func (m *ssdModel) ownTTL() time.Duration {
	ttl := time.Duration(1+m.rng.IntN(2000)) * time.Millisecond
	if ttl == m.access {
		ttl += time.Millisecond
	}
	return ttl
}

func (m *ssdModel) mayRound() time.Duration {
	if m.access != 0 {
		return rounding
	}
	return 0
}

func (m *ssdModel) set(i int, key []byte) {
	m.seq++
	ttl := firn.Forever
	e := modelEntry{seq: m.seq, certain: true, opened: m.opened}
	if m.rng.IntN(3) == 0 {
		ttl = m.ownTTL()
		if m.access != 0 && m.rng.IntN(2) == 0 {
			ttl, e.slides = m.access, true
		}
		e.expires = m.now + ttl + m.mayRound()
	}
	m.buf = cachetest.AppendValue(m.buf[:0], key, m.seq, m.size())
	m.must(m.c.SetWithTTL(key, m.buf, ttl))
	m.held[i] = e
}

// compute changes a key by what it holds: the model knows it, or it is lost.
func (m *ssdModel) compute(i int, key []byte) {
	do := []firn.Op{firn.OpKeep, firn.OpSet, firn.OpUpdate, firn.OpUpdate, firn.OpDelete}[m.rng.IntN(5)]
	m.seq++
	m.must(m.c.Compute(context.Background(), key, func(old []byte, ok bool) ([]byte, firn.Op) {
		if ok {
			m.judge(i, key, old)
			m.read(i)
		} else {
			m.events.judgeMiss(i, key)
			delete(m.held, i) // what is absent here does not come back
		}
		was := m.held[i]
		switch do {
		case firn.OpKeep:
			return nil, do
		case firn.OpDelete:
			delete(m.held, i)
			return nil, do
		}
		e := modelEntry{seq: m.seq, certain: true, opened: m.opened}
		switch {
		case ok && do == firn.OpUpdate:
			e.expires, e.opened, e.moved, e.slides = was.expires, was.opened, was.moved, was.slides
		case m.access != 0: // which is the default time to live
			e.slides, e.expires = true, m.now+m.access+m.mayRound()
		}
		m.held[i] = e
		return cachetest.AppendValue(old[:0], key, m.seq, m.size()), do
	}))
}

// size is a value's; with events they are more than the SSD has room for, and some go
// there in parts.
func (m *ssdModel) size() int {
	switch {
	case m.events == nil:
	case m.rng.IntN(100) == 0:
		return 40_000 + m.rng.IntN(100_000)
	default:
		return 500 + m.rng.IntN(3000)
	}
	return max(m.rng.IntN(1500), cachetest.MinValue)
}

func (m *ssdModel) ttl(i int, key []byte) {
	ttl, ok := m.c.TTL(key)
	if !ok {
		return
	}
	h, has := m.held[i]
	most := firn.Forever
	if h.expires != 0 {
		most = h.expires - m.now
	}
	least := most - m.mayRound() - m.slack(h)
	if h.moved || h.slides {
		least = 1
	}
	if !has || ttl != firn.Forever && ttl > most+m.slack(h) || ttl == firn.Forever && most != ttl || ttl < least {
		m.t.Fatalf("%s: TTL %v; want %+v, %v, and it is %v", key, ttl, h, has, m.now)
	}
}

func (m *ssdModel) getMulti() {
	var ids []int
	var keys [][]byte
	for range 10 {
		i := m.rng.IntN(modelKeys)
		ids, keys = append(ids, i), append(keys, modelKey(i))
	}
	m.c.GetMulti(context.Background(), &m.batch, keys)
	for k := range keys {
		if v, ok := m.batch.Value(k); ok {
			m.judge(ids[k], keys[k], v)
			m.read(ids[k])
		}
	}
}

func (m *ssdModel) clear() {
	m.must(m.c.Clear(context.Background()))
	synctest.Wait() // for what OnEvict is being told of
	m.held = map[int]modelEntry{}
	if n := m.c.Len(); n != 0 {
		m.t.Fatalf("%d entries after Clear", n)
	}
}

// restart closes the cache, or lets it die, and opens it again.
func (m *ssdModel) restart() {
	s := m.c.Stats()
	if s.RAM.UsedBytes > s.RAM.Bytes {
		m.t.Fatalf("%+v", s)
	}
	m.below += s.SSD.Hits
	fs := m.fs
	if m.rng.IntN(2) == 0 { // it dies
		m.events.kill()
		fs = m.fs.CrashClone(nil, vfstest.Kill)
	}
	m.must(m.c.Close())
	synctest.Wait()
	m.fs = fs
	for i, e := range m.held {
		e.certain = false
		m.held[i] = e
	}
	m.open()
	for key, v := range m.c.All() {
		var i int
		if _, err := fmt.Sscanf(string(key), "key-%05d", &i); err != nil {
			m.t.Fatal(err)
		}
		m.judge(i, key, v)
	}
}
