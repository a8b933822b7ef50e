package firn_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/invariants"
)

// stress is a cache that is written, emptied and resized while it is read.
type stress struct {
	c         *firn.Cache
	registers []*cachetest.Register
	bytes     int64
	hits      atomic.Int64
	failed    atomic.Pointer[error]
}

// stressSizes are those of the keys' values: the first ones are overwritten in
// place, of several cache lines and pages, the later ones appended, the last
// straddle segments. Of every third key the length changes each time.
var stressSizes = []int{24, 64, 200, 1000, 4000, 1023, 9000, 30_000}

func newStress(t testing.TB, bytes int64, keys int) *stress {
	c, err := firn.Open(firn.Options{RAMBytes: bytes, MaxRAMBytes: 4 * bytes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &stress{c: c, bytes: bytes, registers: newRegisters(keys)}
}

func newRegisters(keys int) (rs []*cachetest.Register) {
	for i := range keys {
		rs = append(rs, &cachetest.Register{Key: fmt.Appendf(nil, "key-%04d", i)})
	}
	return rs
}

func (s *stress) fail(err error) { s.failed.CompareAndSwap(nil, &err) }

func (s *stress) over() bool { return s.failed.Load() != nil }

// write is one writer: it alone writes keys number first, first+step and so on.
func (s *stress) write(first, step, rounds int) {
	rng := rand.New(rand.NewPCG(uint64(first), 1))
	var buf []byte
	for range rounds {
		i := first + step*rng.IntN(len(s.registers)/step)
		if s.over() {
			return
		}
		s.registers[i].Write(func(seq uint64) {
			n := stressSizes[i%len(stressSizes)]
			if i%3 == 0 {
				n = cachetest.MinValue + rng.IntN(2*n)
			}
			if rng.IntN(20) == 0 {
				s.try(s.c.Delete(s.registers[i].Key))
				return
			}
			buf = cachetest.AppendValue(buf[:0], s.registers[i].Key, seq, n)
			s.try(s.c.Set(s.registers[i].Key, buf))
		})
	}
}

func (s *stress) try(err error) {
	if err != nil {
		s.fail(err)
	}
}

// read is one reader, of single keys and of batches, until the writers are done.
func (s *stress) read(seed uint64, written *atomic.Bool) {
	rng := rand.New(rand.NewPCG(seed, 2))
	var (
		buf   []byte
		batch firn.Batch
		keys  [24][]byte
		regs  [len(keys)]*cachetest.Register
		acked [len(keys)]uint64
	)
	for round := 0; !written.Load() && !s.over(); round++ {
		runtime.Gosched() // let writers in
		for i := range keys {
			regs[i] = s.registers[rng.IntN(len(s.registers))]
			keys[i], acked[i] = regs[i].Key, regs[i].Acked()
		}
		if round%2 == 0 {
			s.c.GetMulti(&batch, keys[:])
		}
		for i, r := range regs {
			var v []byte
			var ok bool
			if round%2 == 0 {
				v, ok = batch.Value(i)
			} else {
				buf, ok = s.c.Get(buf[:0], r.Key)
				v = buf
			}
			if ok {
				s.hits.Add(1)
				if err := r.CheckRead(acked[i], v); err != nil {
					s.fail(err)
				}
			}
		}
	}
}

// disturb empties, resizes and iterates.
func (s *stress) disturb(rounds int) {
	rng := rand.New(rand.NewPCG(3, 3))
	for i := range rounds {
		if s.over() {
			return
		}
		switch i % 4 {
		case 0, 1:
			s.try(s.c.SetRAMBytes(s.bytes/2 + rng.Int64N(s.bytes)))
		case 2:
			s.try(s.c.Clear())
		default:
			for key, value := range s.c.All() {
				if _, err := cachetest.Sequence(key, value); err != nil {
					s.fail(fmt.Errorf("All: %w", err))
				}
			}
		}
	}
}

// run makes so many thousand writes, with readers and so many disturbances beside
// them, and returns what was wrong.
func (s *stress) run(thousands, disturbances int) error {
	const writers, readers = 3, 4
	var writing, reading sync.WaitGroup
	var written atomic.Bool
	for i := range readers {
		reading.Go(func() { s.read(uint64(i), &written) })
	}
	for i := range writers {
		writing.Go(func() { s.write(i, writers, thousands*1000/writers) })
	}
	writing.Go(func() { s.disturb(disturbances) })
	writing.Wait()
	written.Store(true)
	reading.Wait()
	if err := s.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// Readers see whole values that are not older than the last acknowledged
// write, whatever happens around them. FIRN_STRESS makes it longer: in
// thousands of writes.
func TestStress(t *testing.T) {
	thousands := 15
	if invariants.Race { // where bytes move by atomic words
		thousands = 2
	}
	if n, err := strconv.Atoi(os.Getenv("FIRN_STRESS")); err == nil {
		thousands = n
	}
	for _, keys := range []int{30, 600} { // all fit; most do not
		t.Run(fmt.Sprint(keys), func(t *testing.T) {
			t.Parallel()
			s := newStress(t, 2<<20, keys)
			if err := s.run(thousands, max(thousands, 5)); err != nil {
				t.Fatal(err)
			}
			if s.hits.Load() == 0 {
				t.Error("no read found anything")
			}
			if err := s.c.CheckInvariants(); err != nil {
				t.Error(err)
			}
			for _, r := range s.registers { // quiet now: the last write, or nothing
				v, ok := s.c.Get(nil, r.Key)
				if !ok {
					continue
				}
				if err := r.CheckRead(r.Acked(), v); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
