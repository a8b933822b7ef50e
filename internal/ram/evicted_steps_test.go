package ram

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/invariants"
)

// stepped is a full tier whose records leave by the million bytes, and what
// OnEvict sees of that.
type stepped struct {
	*Tier
	t      *testing.T
	now    int64
	set    int // records that were stored
	told   int // of how many OnEvict was told
	most   int // how many had left and were not told of yet, at most
	during func()
}

const steppedValue = 500

func newStepped(t *testing.T) *stepped {
	bytes := int64(8 << 20)
	if invariants.Race { // where bytes move by atomic words
		bytes = 3 << 20
	}
	s := &stepped{t: t, now: 1000}
	// It begins small: its shards, which are two, hold several steps each.
	tier, err := New(Config{Bytes: 2 << 20, MaxBytes: bytes, Seed: 1, Now: func() int64 { return s.now }, OnEvict: s.evicted})
	if err != nil {
		t.Fatal(err)
	}
	tier.janitor.once.Do(func() {})
	t.Cleanup(tier.Free)
	if err := tier.SetBytes(bytes); err != nil {
		t.Fatal(err)
	}
	s.Tier = tier
	for i := range int(bytes * 9 / 10 / (steppedValue + 40)) {
		s.add(fmt.Sprintf("key-%06d", i), 2000)
	}
	if s.told > 0 {
		t.Fatalf("%d records left while the tier was filled", s.told)
	}
	return s
}

func (s *stepped) add(key string, deadline int64) {
	if err := s.setKey([]byte(key), make([]byte, steppedValue), deadline); err != nil {
		s.t.Fatal(err)
	}
	s.set++
}

// evicted looks now and then how many records have left and were not told of, and
// that nobody holds a lock.
func (s *stepped) evicted(key, value []byte, _ evicted.Cause) {
	if s.told%64 == 0 {
		s.most = max(s.most, s.set-s.Len()-s.told)
		s.unlocked()
	}
	s.told++
	if s.during != nil {
		s.during()
	}
}

func (s *stepped) unlocked() {
	if !s.janitor.sweeping.TryLock() || !s.resizing.TryLock() || !s.large.TryLock() {
		s.t.Fatal("Evicted is told while the tier is locked")
	}
	s.janitor.sweeping.Unlock()
	s.resizing.Unlock()
	s.large.Unlock()
	for i := range s.shards {
		if !s.shards[i].mu.TryLock() {
			s.t.Fatal("Evicted is told while a shard is locked")
		}
		s.shards[i].mu.Unlock()
	}
}

// What makes much leave holds no more than a step of it for OnEvict at once.
func TestEvictedIsToldInSteps(t *testing.T) {
	oneGoroutine(t)
	t.Parallel()
	for name, run := range map[string]func(s *stepped) error{
		"SetBytes": func(s *stepped) error { return s.SetBytes(1 << 20) },
		"Reserve":  func(s *stepped) error { return s.Reserve(s.bytes.Load() - 1<<20) },
		"Sweep":    func(s *stepped) error { s.now = 9000; s.Sweep(); return nil },
		"Clear":    func(s *stepped) error { s.Clear(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStepped(t)
			if err := run(s); err != nil {
				t.Fatal(err)
			}
			if n := s.Len(); s.told != s.set-n || s.told < s.set/2 {
				t.Errorf("%d records were stored, %d are there, Evicted was told of %d", s.set, n, s.told)
			}
			size := steppedValue + len("key-000000") + 24
			if bytes, most := s.most*size, evicted.Step+2*int(s.segSize()); bytes > most {
				t.Errorf("%d bytes were held at once: want at most %d", bytes, most)
			}
			if err := s.Check(); err != nil {
				t.Error(err)
			}
			if st := s.Stats(); st.Used > st.Budget || name == "SetBytes" && st.Resident > st.Budget {
				t.Errorf("%d bytes are in use, %d resident, of %d", st.Used, st.Resident, st.Budget)
			}
		})
	}
}

// A Set during a shrink evicts about what it stores, and not all that is still to
// go.
func TestSetDuringShrink(t *testing.T) {
	t.Parallel()
	s := newStepped(t)
	sets, busy := 0, false
	s.during = func() {
		if busy || s.told%500 != 1 {
			return
		}
		busy = true
		before := s.Stats().Evicted
		for range 5 * int(s.segSize()) / steppedValue { // takes five segments, perhaps
			s.add(fmt.Sprintf("during-%05d", sets), 0)
			sets++
		}
		if n := (s.Stats().Evicted - before) * steppedValue; n > evicted.Step {
			t.Fatalf("to store %d bytes, %d had to go: want at most a step", 5*s.segSize(), n)
		}
		busy = false
	}
	if err := s.SetBytes(1 << 20); err != nil {
		t.Fatal(err)
	}
	if sets == 0 {
		t.Fatal("nothing was stored meanwhile")
	}
	if err := s.Check(); err != nil {
		t.Error(err)
	}
}

// OnEvict may change the budget while another call does. The later call holds,
// for both.
func TestSetBytesFromEvicted(t *testing.T) {
	t.Parallel()
	const outer = 2 << 20
	for _, inner := range []int64{1 << 20, outer, 3 << 20} {
		s := newStepped(t)
		called := false
		s.during = func() {
			if called || s.told < 1000 {
				return
			}
			called = true
			if err := s.SetBytes(inner); err != nil {
				t.Fatal(err)
			}
			if st := s.Stats(); st.Budget != inner || st.Used > inner {
				t.Errorf("inner call to %d: %d of %d bytes are in use", inner, st.Used, st.Budget)
			}
		}
		if err := s.SetBytes(outer); err != nil {
			t.Fatal(err)
		}
		if st := s.Stats(); !called || st.Budget != inner || st.Used > inner {
			t.Errorf("%d, and then %d: %d of %d bytes are in use", outer, inner, st.Used, st.Budget)
		}
		if err := s.Check(); err != nil {
			t.Error(err)
		}
	}
}

// A panic of OnEvict reaches the caller, who gets what he asked for all the same.
func TestEvictedPanicsDuringShrink(t *testing.T) {
	t.Parallel()
	s := newStepped(t)
	s.during = func() { panic("evicted") }
	func() {
		defer func() {
			if r := recover(); r != "evicted" {
				t.Errorf("recovered %v", r)
			}
		}()
		_ = s.SetBytes(1 << 20)
	}()
	s.during = nil
	if st := s.Stats(); st.Used > 1<<20 || st.Resident > 1<<20 {
		t.Errorf("%d bytes are in use, %d resident, of %d", st.Used, st.Resident, st.Budget)
	}
	if err := s.Check(); err != nil {
		t.Error(err)
	}
}

// What was there before Clear is gone after it, though OnEvict stores records
// meanwhile, and others are moved to make room for these.
func TestSetDuringClear(t *testing.T) {
	t.Parallel()
	s := newStepped(t)
	before, sets, busy := s.set, 0, false
	s.during = func() {
		if busy || sets > before {
			return
		}
		busy = true
		s.add(fmt.Sprintf("during-%05d", sets), 0)
		sets++
		busy = false
	}
	s.Clear()
	for i := range before {
		if _, ok := s.Get(nil, fmt.Appendf(nil, "key-%06d", i)); ok {
			t.Fatalf("record %d survived Clear", i)
		}
	}
	if err := s.Check(); err != nil {
		t.Error(err)
	}
	s.during = nil
	s.Clear()
	if n := s.Len(); n != 0 || s.told != s.set {
		t.Errorf("%d records are there, Evicted was told of %d of %d", n, s.told, s.set)
	}
}

// Each record that was stored is there or was told of once, while some store,
// others change the budget, clear and sweep, and OnEvict joins in.
func TestStepsMeet(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	told := map[string]int{}
	var tier *Tier
	var now atomic.Int64
	now.Store(1000)
	calls := 0
	tier, err := New(Config{Bytes: 1 << 20, MaxBytes: 4 << 20, Seed: 1, Now: now.Load, OnEvict: func(key, _ []byte, _ evicted.Cause) {
		mu.Lock()
		told[string(key)]++
		calls++
		n := calls
		mu.Unlock()
		switch n % 2000 {
		case 500:
			_ = tier.SetBytes(int64(1+n%3) << 20)
		case 1000:
			tier.Sweep()
		case 1500:
			tier.Clear()
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	tier.janitor.once.Do(func() {})
	defer tier.Free()
	sets := 6000
	if invariants.Race { // where bytes move by atomic words
		sets = 1500
	}
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			for i := range sets {
				deadline := now.Add(1) + 1000
				if err := tier.setKey(fmt.Appendf(nil, "%d-%05d", w, i), make([]byte, i%900), deadline*int64(i%2)); err != nil {
					t.Error(err)
				}
				switch w*sets + i {
				case sets / 2:
					_ = tier.SetBytes(4 << 20)
				case 2*sets - 1, 3*sets - 1:
					tier.Clear()
				case 4*sets - 100:
					_ = tier.SetBytes(1 << 20)
				}
			}
		})
	}
	all.Wait()
	there := 0
	tier.Clear()
	for w := range 4 {
		for i := range sets {
			if n := told[fmt.Sprintf("%d-%05d", w, i)]; n != 1 {
				there++
			}
		}
	}
	if there > 0 || len(told) != 4*sets {
		t.Errorf("of %d records, %d were told of, %d of them not once", 4*sets, len(told), there)
	}
	if err := tier.Check(); err != nil {
		t.Error(err)
	}
}
