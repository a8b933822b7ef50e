package ram

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/firncache/firn/internal/evicted"
)

// graceModel is a tier with a grace, above one that keeps everything, beside a
// map of what was written.
type graceModel struct {
	*testing.T
	tier  *Tier
	low   *lower
	now   int64
	grace int64
	want  map[string]graceRecord
	stale int // reads that found something within its grace
	over  int // records that were taken out after it
}

type graceRecord struct {
	value    []byte
	deadline int64
}

func (r *graceRecord) expired(now, grace int64) bool {
	return r.deadline != 0 && r.deadline+grace <= now
}

func newGraceModel(t *testing.T, size, grace int64) *graceModel {
	m := &graceModel{T: t, low: newLower(), now: 1000, grace: grace, want: map[string]graceRecord{}}
	tier, err := New(Config{
		Bytes: size, Seed: 1, Grace: grace, Now: func() int64 { return m.now }, Lower: m.low, OnEvict: m.evicted,
	})
	if err != nil {
		t.Fatal(err)
	}
	tier.janitor.once.Do(func() {})
	t.Cleanup(tier.Free)
	m.tier = tier
	return m
}

// evicted sees why a record left: it is still in the map.
func (m *graceModel) evicted(key, value []byte, cause evicted.Cause) {
	r := m.want[string(key)]
	if !bytes.Equal(value, r.value) {
		m.Errorf("key %s left with %d bytes, want %d", key, len(value), len(r.value))
	}
	if gone := r.expired(m.now, m.grace); gone != (cause == evicted.Expired) && cause != evicted.Deleted {
		m.Errorf("key %s left for cause %d at %d: its deadline is %d, its grace %d", key, cause, m.now, r.deadline, m.grace)
	}
	if cause == evicted.Expired {
		m.over++
	}
}

// check compares what a key is read as, in both tiers.
func (m *graceModel) check(key string) {
	r, written := m.want[key]
	live := written && !r.expired(m.now, 0)
	held := written && !r.expired(m.now, m.grace)
	hash := m.tier.Hash([]byte(key))
	low, isLow := m.low.get(hash, []byte(key))
	v, ok := m.tier.Get(nil, []byte(key))
	if _, has := m.tier.deadlineOf([]byte(key)); has != ok {
		m.Errorf("key %s: found by Get %v, by Deadline %v", key, ok, has)
	}
	if ok && (!live || !bytes.Equal(v, r.value)) || !ok && live && !isLow {
		m.Errorf("key %s: Get finds %d bytes, %v; live: %v", key, len(v), ok, live)
	}
	v, deadline, ok := m.tier.peekStaleKey([]byte("x"), []byte(key))
	switch {
	case ok && (!held || deadline != r.deadline || !bytes.Equal(v[1:], r.value)), !ok && len(v) != 1:
		m.Errorf("key %s: PeekStale finds %d bytes, %v, deadline %d; held %v, deadline %d", key, len(v)-1, ok, deadline, held, r.deadline)
	case !ok && held && !isLow:
		m.Errorf("key %s is lost at %d, its deadline is %d, its grace %d", key, m.now, r.deadline, m.grace)
	case isLow && (!bytes.Equal(low.value, r.value) || low.deadline != r.deadline):
		m.Errorf("key %s: the lower tier has another record", key)
	case ok && !live:
		m.stale++
	}
	if isLow && m.tier.Promote(hash, []byte(key), low.value, low.deadline, low.token) && (!held || ok) {
		m.Errorf("key %s was promoted; held %v, in RAM %v", key, held, ok)
	}
}

func (m *graceModel) step(rng *rand.Rand, keys int) {
	key := fmt.Sprintf("key-%04d", rng.IntN(keys))
	switch rng.IntN(10) {
	case 0:
		m.now += rng.Int64N(400)
	case 1:
		m.tier.Sweep()
	case 2:
		m.tier.deleteKey([]byte(key))
		delete(m.want, key)
	case 3:
		m.low.keeping = true
		m.low.seen = func(_ uint64, key []byte, _ bool) {
			if r := m.want[string(key)]; r.expired(m.now, m.grace) {
				m.Errorf("key %s is demoted past its grace", key)
			}
		}
		m.tier.DemoteAll(0, always, new(evicted.List))
		m.low.keeping = false
	case 4, 5, 6:
		m.check(key)
	default:
		value := make([]byte, rng.IntN([]int{100, 1000, 6000}[rng.IntN(3)]))
		for i := range value {
			value[i] = byte(rng.Uint32())
		}
		deadline := int64(0)
		if rng.IntN(3) > 0 {
			deadline = m.now + 1 + rng.Int64N(3000)
		}
		if err := m.tier.setKey([]byte(key), value, deadline); err != nil {
			m.Fatal(err)
		}
		m.want[key] = graceRecord{value, deadline}
		m.check(key)
	}
}

// A record past its deadline is a miss, and stays for PeekStale until its grace
// has passed, whatever happens meanwhile; then it goes as expired.
func TestGrace(t *testing.T) {
	oneGoroutine(t)
	t.Parallel()
	for _, grace := range []int64{0, 1, 2000} {
		t.Run(fmt.Sprint(grace), func(t *testing.T) {
			m := newGraceModel(t, 64<<10, grace)
			rng := rand.New(rand.NewPCG(uint64(grace), 1))
			for range 4000 {
				if m.step(rng, 150); t.Failed() {
					return
				}
			}
			if err := m.tier.Check(); err != nil {
				t.Error(err)
			}
			if err := m.low.failure(); err != nil {
				t.Error(err)
			}
			st := m.tier.Stats()
			if m.stale == 0 != (grace == 0) && grace != 1 || m.over == 0 || st.Demoted == 0 || st.Promoted == 0 || st.Expired == 0 {
				t.Errorf("%d stale reads, %d taken out: %+v", m.stale, m.over, st.Counters)
			}
			// When everything is due, nothing with a deadline is left.
			m.now += 10_000
			m.tier.Sweep()
			m.tier.All(func(key, _ []byte) bool {
				if r := m.want[string(key)]; r.deadline != 0 {
					t.Errorf("key %s is left at %d, its deadline is %d", key, m.now, r.deadline)
				}
				return true
			})
			forever := 0
			for key, r := range m.want {
				if _, ok := m.tier.Get(nil, []byte(key)); ok && r.deadline == 0 {
					forever++
				}
			}
			if n := m.tier.Len(); n != forever {
				t.Errorf("%d records are left, %d without a deadline", n, forever)
			}
		})
	}
}

// The moment: at its deadline a record is stale, at the end of its grace gone.
func TestGraceEnds(t *testing.T) {
	t.Parallel()
	m := newGraceModel(t, 64<<10, 500)
	key := []byte("key")
	m.want["key"] = graceRecord{[]byte("value"), 2000}
	if err := m.tier.setKey(key, []byte("value"), 2000); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		now         int64
		live, stale bool
		entries     int
	}{{1999, true, true, 1}, {2000, false, true, 1}, {2499, false, true, 1}, {2500, false, false, 0}} {
		m.now = c.now
		_, live := m.tier.Get(nil, key)
		_, _, stale := m.tier.peekStaleKey(nil, key)
		offered := false
		m.low.seen = func(uint64, []byte, bool) { offered = true }
		m.tier.DemoteAll(0, always, new(evicted.List))
		m.tier.Sweep()
		if n := m.tier.Len(); live != c.live || stale != c.stale || offered != c.stale || n != c.entries {
			t.Errorf("at %d: live %v, stale %v, offered to the lower tier %v, %d entries: want %v, %v, and %d", c.now, live, stale, offered, n, c.live, c.stale, c.entries)
		}
	}
	if _, err := New(Config{Bytes: MinBytes, Grace: -1, Now: func() int64 { return 1 }}); err == nil {
		t.Error("a grace below 0 is no error")
	}
}
