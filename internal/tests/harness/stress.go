package harness

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/cachetest"
)

// Stress is a cache that is written, emptied and resized while it is read.
type Stress struct {
	C         *firn.Cache
	Registers []*cachetest.Register
	Bytes     int64
	Hits      atomic.Int64
	Failed    atomic.Pointer[error]
}

// StressSizes are those of the keys' values: the first ones are overwritten in
// place, of several cache lines and pages, the later ones appended, the last
// straddle segments. Of every third key the length changes each time.
var StressSizes = []int{24, 64, 200, 1000, 4000, 1023, 9000, 30_000}

// NewRegisters makes the histories of so many keys.
func NewRegisters(keys int) (rs []*cachetest.Register) {
	for i := range keys {
		rs = append(rs, &cachetest.Register{Key: fmt.Appendf(nil, "key-%04d", i)})
	}
	return rs
}

// Fail notes the first error.
func (s *Stress) Fail(err error) { s.Failed.CompareAndSwap(nil, &err) }

// Over reports whether there was an error.
func (s *Stress) Over() bool { return s.Failed.Load() != nil }

// write is one writer: it alone writes keys number first, first+step and so on.
func (s *Stress) write(first, step, rounds int) {
	rng := rand.New(rand.NewPCG(uint64(first), 1))
	var buf []byte
	for range rounds {
		i := first + step*rng.IntN(len(s.Registers)/step)
		if s.Over() {
			return
		}
		s.Registers[i].Write(func(seq uint64) {
			n := StressSizes[i%len(StressSizes)]
			if i%3 == 0 {
				n = cachetest.MinValue + rng.IntN(2*n)
			}
			if rng.IntN(20) == 0 {
				s.Try(s.C.Delete(s.Registers[i].Key))
				return
			}
			buf = cachetest.AppendValue(buf[:0], s.Registers[i].Key, seq, n)
			s.Try(s.C.Set(s.Registers[i].Key, buf))
		})
	}
}

// Try notes an error, if it is one.
func (s *Stress) Try(err error) {
	if err != nil {
		s.Fail(err)
	}
}

// read is one reader, of single keys and of batches, until the writers are done.
func (s *Stress) read(seed uint64, written *atomic.Bool) {
	rng := rand.New(rand.NewPCG(seed, 2))
	var (
		buf   []byte
		batch firn.Batch
		keys  [24][]byte
		regs  [len(keys)]*cachetest.Register
		acked [len(keys)]uint64
	)
	for round := 0; !written.Load() && !s.Over(); round++ {
		runtime.Gosched() // let writers in
		for i := range keys {
			regs[i] = s.Registers[rng.IntN(len(s.Registers))]
			keys[i], acked[i] = regs[i].Key, regs[i].Acked()
		}
		if round%2 == 0 {
			_ = s.C.GetMulti(context.Background(), &batch, keys[:])
		}
		for i, r := range regs {
			var v []byte
			var ok bool
			if round%2 == 0 {
				v, ok = batch.Value(i)
			} else {
				buf, ok = s.C.Get(buf[:0], r.Key)
				v = buf
			}
			if ok {
				s.Hits.Add(1)
				if err := r.CheckRead(acked[i], v); err != nil {
					s.Fail(err)
				}
			}
		}
	}
}

// disturb empties, resizes and iterates.
func (s *Stress) disturb(rounds int) {
	rng := rand.New(rand.NewPCG(3, 3))
	for i := range rounds {
		if s.Over() {
			return
		}
		switch i % 4 {
		case 0, 1:
			s.Try(s.C.SetRAMBytes(s.Bytes/2 + rng.Int64N(s.Bytes)))
		case 2:
			s.Try(s.C.Clear(context.Background()))
		default:
			for key, value := range s.C.All() {
				if _, err := cachetest.Sequence(key, value); err != nil {
					s.Fail(fmt.Errorf("All: %w", err))
				}
			}
		}
	}
}

// Run makes so many thousand writes, with readers and so many disturbances beside
// them, and returns what was wrong.
func (s *Stress) Run(thousands, disturbances int) error {
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
	if err := s.Failed.Load(); err != nil {
		return *err
	}
	return nil
}

// CheckQuiet reads every key when no goroutine writes.
func (s *Stress) CheckQuiet(t *testing.T) {
	t.Helper()
	for _, r := range s.Registers {
		if v, ok := s.C.Get(nil, r.Key); ok {
			if err := r.CheckRead(r.Acked(), v); err != nil {
				t.Fatal(err)
			}
		}
	}
}
