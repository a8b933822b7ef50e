package ram

import (
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/histogram"
)

// aging is a tier with a model of how long each record has stayed.
type aging struct {
	*Tier
	t      *testing.T
	now    int64 // the clock, in milliseconds
	stored map[uint64]int64
	ages   []time.Duration // of the evicted, since they were stored
	next   uint64
}

func newAging(t *testing.T, bytes int64) *aging {
	a := &aging{t: t, now: 1000, stored: map[uint64]int64{}}
	var err error
	a.Tier, err = New(Config{Bytes: bytes, Seed: 1, Now: func() int64 { return a.now }, OnEvict: func(key, _ []byte, cause evicted.Cause) {
		if cause == evicted.Capacity {
			a.ages = append(a.ages, time.Duration(a.now-a.stored[binary.LittleEndian.Uint64(key)])*time.Millisecond)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Free)
	return a
}

func numberKey(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }

// set stores so many new records, each a pause after the one before.
func (a *aging) set(n int, pause int64, each func()) {
	a.t.Helper()
	for range n {
		a.now += pause
		key := numberKey(a.next)
		a.stored[a.next] = a.now
		if err := a.Set(a.Hash(key), key, make([]byte, 100), 0); err != nil {
			a.t.Fatal(err)
		}
		if a.next++; each != nil {
			each()
		}
	}
}

// Ages are those of a model that knows when each record was stored: not below, and above by
// the time in which a segment is filled at most.
func TestEvictionAges(t *testing.T) {
	const pause = 60_000
	a := newAging(t, 1<<20)
	a.set(30_000, pause, nil)
	fill := time.Duration(int64(a.segSize())/100*pause) * time.Millisecond
	h := a.Stats().EvictionAges
	slices.Sort(a.ages)
	if h.Scale() != histogram.Ages || h.Count() != uint64(len(a.ages)) || h.Count() != a.Stats().Evicted || h.Count() < 20_000 {
		t.Fatalf("%d ages in scale %d, %d were evicted, of which the model knows %d", h.Count(), h.Scale(), a.Stats().Evicted, len(a.ages))
	}
	sum := time.Duration(0)
	for _, age := range a.ages {
		sum += age
	}
	if mean, want := h.Mean(), sum/time.Duration(len(a.ages)); mean < want || mean > want+fill {
		t.Errorf("a mean of %v, want %v and up to %v more", mean, want, fill)
	}
	for _, p := range []float64{.01, .1, .5, .9, .99} {
		want := a.ages[int(p*float64(len(a.ages)))]
		if q := h.Quantile(p); q < want || float64(q) > 1.125*float64(want+fill) {
			t.Errorf("quantile %g: %v, want %v, or up to %v more", p, q, want, fill)
		}
	}
}

// A record that is kept, being read, begins anew.
func TestKeptRecordsBeginAnew(t *testing.T) {
	oneGoroutine(t)
	const hot, pause = 100, 1000
	a := newAging(t, 1<<20)
	a.set(hot, pause, nil)
	provenToo := func() { // each new record is read, and goes to Main: that is renewed as well
		a.Get(nil, numberKey(a.next-1))
		a.Get(nil, numberKey(a.next-1))
	}
	a.set(100_000, pause, func() {
		provenToo()
		a.Get(nil, numberKey(a.next%hot))
	})
	if _, ok := a.Get(nil, numberKey(1)); !ok || a.Stats().Reinserted < 5*hot {
		t.Fatalf("the hot records are not kept: %v, %d reinserted", ok, a.Stats().Reinserted)
	}
	before := a.Stats().EvictionAges
	for a.hasAny(hot) {
		a.set(1000, pause, provenToo)
	}
	oldest := slices.Max(a.ages)
	h := a.Stats().EvictionAges
	if h = h.Sub(&before); oldest < 100_000*pause*time.Millisecond || h.Quantile(1) > oldest/2 {
		t.Errorf("records that were kept often have ages of up to %v, and were stored %v ago", h.Quantile(1), oldest)
	}
}

func (a *aging) hasAny(n uint64) bool {
	for i := range n {
		if _, ok := a.Deadline(a.Hash(numberKey(i)), numberKey(i)); ok {
			return true
		}
	}
	return false
}

// Whatever leaves for want of room is counted once: evicted, demoted, in parts or as a
// whole, or forced out. What is replaced, deleted or cleared is not.
func TestEveryWayOutHasAnAge(t *testing.T) {
	oneGoroutine(t)
	now := int64(1000)
	low := newLower()
	offers := 0
	low.admit = func() bool { offers++; return offers%3 != 0 }
	tier := newOverLower(t, 1<<20, low, &now)
	parts := newInParts(tier, low)
	parts.crowded = 40
	check := func(what string, n uint64) {
		t.Helper()
		st := tier.Stats()
		if st.EvictionAges.Count() != st.Evicted+st.Demoted || st.EvictionAges.Count() < n {
			t.Errorf("%s: %d ages, %d evicted, %d demoted; want at least %d", what, st.EvictionAges.Count(), st.Evicted, st.Demoted, n)
		}
	}
	value := make([]byte, 10_000)
	for i := range uint64(3000) {
		now += 10
		key := numberKey(i % 2000)
		if err := tier.Set(tier.Hash(key), key, value[:i*977%10_000], 0); err != nil {
			t.Fatal(err)
		}
		if i%5 == 0 {
			key = numberKey(i * 7 % 2000)
			tier.Delete(tier.Hash(key), key)
		}
	}
	if parts.ended == 0 || tier.Stats().Evicted == 0 || tier.Stats().Demoted == 0 {
		t.Fatalf("%d demoted in parts, %+v", parts.ended, tier.Stats().Counters)
	}
	check("drained", 1000)
	ages := tier.Stats().EvictionAges
	before := ages.Count()
	n := uint64(tier.Evict(func(key []byte) bool { return key[0]%2 == 0 }, false))
	n += uint64(tier.Evict(func(key []byte) bool { return true }, true))
	check("forced out", before+n)
	tier.Clear()
	check("cleared", before+n)
	if low.err != nil {
		t.Error(low.err)
	}
}

// Records of several ages that leave in one step are counted by their own.
func TestAgesOfOneStep(t *testing.T) {
	a := newAging(t, 1<<20)
	a.set(200, 60_000, nil)
	s := &a.shards[0]
	for off, opened := range map[uint64]int64{1 << a.segShift: 1000, 2 << a.segShift: 3_601_000} {
		a.segs[off>>a.segShift].Opened = opened
		for range opened / 1000 {
			s.noteAge(off, 7_201_000)
		}
	}
	s.countAges()
	h := a.Stats().EvictionAges
	if h.Count() != 1+3601 || h.Sum() != 2*time.Hour+3601*time.Hour {
		t.Errorf("%d ages, %v together; want one of 2 h, and 3601 of 1 h", h.Count(), h.Sum())
	}
}
