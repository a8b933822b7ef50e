package ram

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/policy/whatif"
	"github.com/firncache/firn/internal/watch"
)

// simulatedTier is a tier with room for all of a test, a clock and keys.
type simulatedTier struct {
	*Tier
	t    *testing.T
	now  int64
	keys [][]byte
	room []byte
}

// simulatedKeys is how many there are: enough for some hundreds to be sampled.
func simulatedKeys() int {
	if invariants.Race { // where bytes move by atomic words
		return 3_000
	}
	return 16_000
}

func newSimulatedTier(t *testing.T, lower LowerTier) *simulatedTier {
	s := &simulatedTier{t: t, now: 1_000_000, room: make([]byte, 0, 200)}
	for i := range simulatedKeys() {
		s.keys = append(s.keys, binary.LittleEndian.AppendUint64(make([]byte, 0, 8), uint64(i)))
	}
	var err error
	s.Tier, err = New(Config{Bytes: 16 << 20, Seed: 1, Now: func() int64 { return s.now }, Lower: lower, Simulation: Simulation{Bytes: 512 << 10, Processor: .01}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func (s *simulatedTier) each(do func(hash uint64, key []byte)) {
	for _, key := range s.keys {
		do(s.Hash(key), key)
	}
}

func (s *simulatedTier) ok(err error) {
	if err != nil {
		s.t.Fatal(err)
	}
}

// forget has the simulations begin anew.
func (s *simulatedTier) forget() {
	s.simulations.own = whatif.New(512<<10, 1)
	s.simulations.requests.Store(0)
	s.wantSimulated(s.simulations.mask())
}

var simulatedValue = make([]byte, 100)

func (s *simulatedTier) setAll() {
	s.each(func(hash uint64, key []byte) { s.ok(s.Set(hash, key, simulatedValue, 0)) })
}

func (s *simulatedTier) getAll() {
	s.each(func(_ uint64, key []byte) { s.Get(s.room, key) })
}

func (s *simulatedTier) getMultiAll() {
	var b Batch
	for i := 0; i < len(s.keys); i += 100 {
		s.GetMulti(&b, s.keys[i:i+100])
	}
}

func (s *simulatedTier) ifAll(do func(w *watch.Watch, ev *evicted.List) error) {
	s.each(func(hash uint64, key []byte) {
		var w watch.Watch
		var ev evicted.List
		s.Watch(&w, hash, key)
		s.ok(do(&w, &ev))
	})
}

// A simulation is told of all that changes what a tier has, and of all that is read there:
// its cache of the tier's own size misses what the tier does.
func TestSimulationIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		do     func(s *simulatedTier)
		misses float64 // of the simulation, of all reads
	}{
		"Set, Get":      {func(s *simulatedTier) { s.setAll(); s.getAll() }, 0},
		"Set, GetMulti": {func(s *simulatedTier) { s.setAll(); s.getMultiAll() }, 0},
		"Set in place":  {func(s *simulatedTier) { s.setAll(); s.forget(); s.setAll(); s.getAll() }, 0},
		"SetMulti, Get": {func(s *simulatedTier) {
			for range 2 { // the second in place, into another simulation
				s.forget()
				for i := 0; i < len(s.keys); i += 2 {
					_, err := s.SetMulti(s.keys[i:i+2], [][]byte{simulatedValue, simulatedValue}, 0, nil)
					s.ok(err)
				}
			}
			s.getAll()
		}, 0},
		"SetIf, Get": {func(s *simulatedTier) {
			s.ifAll(func(w *watch.Watch, ev *evicted.List) error { return s.SetIf(w, simulatedValue, 0, ev) })
			s.getAll()
		}, 0},
		"Set, Delete, Get": {func(s *simulatedTier) {
			s.setAll()
			s.each(func(hash uint64, key []byte) { s.Delete(hash, key) })
			s.getAll()
		}, 1},
		"Set, Drop, Get": {func(s *simulatedTier) {
			s.setAll()
			var ev evicted.List
			s.each(func(hash uint64, key []byte) { s.Drop(hash, key, evicted.Invalidated, &ev) })
			s.getAll()
		}, 1},
		"Set, Clear, Get": {func(s *simulatedTier) { s.setAll(); s.Clear(); s.getAll() }, 1},
		"Set, DeleteIf, Get": {func(s *simulatedTier) {
			s.setAll()
			s.ifAll(func(w *watch.Watch, ev *evicted.List) error { return s.DeleteIf(w, ev) })
			s.getAll()
		}, 1},
		"Set, SetIf of a negative entry, Get": {func(s *simulatedTier) {
			s.setAll()
			s.ifAll(func(w *watch.Watch, ev *evicted.List) error { return s.SetIf(w, nil, -s.now-1000, ev) })
			s.getAll()
		}, 1},
		"SetIf of a negative entry, Get": {func(s *simulatedTier) {
			s.ifAll(func(w *watch.Watch, ev *evicted.List) error { return s.SetIf(w, nil, -s.now-1000, ev) })
			s.getAll()
		}, 1},
		"Set with a deadline, Get": {func(s *simulatedTier) {
			s.each(func(hash uint64, key []byte) { s.ok(s.Set(hash, key, simulatedValue, s.now+10_000)) })
			s.getAll()
		}, 0},
		"Set with a deadline, Get after it": {func(s *simulatedTier) {
			s.each(func(hash uint64, key []byte) { s.ok(s.Set(hash, key, simulatedValue, s.now+10_000)) })
			s.now += 20_000
			s.getAll()
		}, 1},
		"Get of what was never set":               {func(s *simulatedTier) { s.getAll() }, 1},
		"GetMulti of what was never set":          {func(s *simulatedTier) { s.getMultiAll() }, 1},
		"Get of what the simulation has not":      {func(s *simulatedTier) { s.setAll(); s.forget(); s.getAll() }, 1},
		"Get twice of what it has not":            {func(s *simulatedTier) { s.setAll(); s.forget(); s.getAll(); s.getAll() }, .5},
		"GetMulti of what the simulation has not": {func(s *simulatedTier) { s.setAll(); s.forget(); s.getMultiAll() }, 1},
		"Get of long values that it has not": {func(s *simulatedTier) {
			value := make([]byte, 300)
			s.each(func(hash uint64, key []byte) { s.ok(s.Set(hash, key, value, 0)) })
			s.forget()
			s.getAll() // no room in dst
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSimulatedTier(t, nil)
			c.do(s)
			curve, _, ok, _ := s.Simulated()
			if !ok || math.Abs(curve.Control-c.misses) > .15 {
				t.Errorf("%.3f of the reads miss in the simulation, %.3f in the tier: want %.1f", curve.Control, curve.Real, c.misses)
			}
		})
	}
}

// A miss that a simulation is told of is counted once, as any other.
func TestSimulatedMissesAreCountedOnce(t *testing.T) {
	t.Parallel()
	s := newSimulatedTier(t, nil)
	s.setAll()
	absent := make([]byte, 9)
	for i := range uint64(50_000) {
		binary.LittleEndian.PutUint64(absent, i)
		s.Get(s.room, absent)
	}
	s.getAll()
	if hits, misses := s.reads.sum(); hits != uint64(len(s.keys)) || misses != 50_000 {
		t.Errorf("%d hits and %d misses: want %d and 50000", hits, misses, len(s.keys))
	}
}

// Without simulations getFast counts all usual misses itself, and with one only those of keys
// that it is not to be told of.
func TestGetFastLeavesSampledMisses(t *testing.T) {
	t.Parallel()
	if n, _ := getFast(newTier(t, 1<<20), nil, "absent key"); n != Absent {
		t.Skip("there is no fast search here")
	}
	s := newSimulatedTier(t, nil)
	left := 0
	for _, key := range s.keys {
		switch n, _ := getFast(s.Tier, nil, string(key)); {
		case (n == unusual) != s.simulated(s.Hash(key)):
			t.Fatalf("a miss of key %x ends as %d: it is simulated: %v", key, n, s.simulated(s.Hash(key)))
		case n == unusual:
			left++
		}
	}
	if left == 0 {
		t.Error("no key is simulated")
	}
}
