package ram

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/policy"
)

// lowerStress is a tier above a lower one: written, promoted into, shrunk and
// reserved from while it is read.
type lowerStress struct {
	tier      *Tier
	low       *lower
	registers []*cachetest.Register
	lossy     bool // the lower tier drops what it likes, and keys are deleted
	failed    atomic.Pointer[error]
}

// Lengths of the values, by key: overwritten in place, appended, straddling. Of
// every third key the length changes each time.
var belowSizes = []int{24, 64, 200, 1000, 4000, 1023, 9000, 30_000}

func newLowerStress(t testing.TB, size int64, keys int, lossy bool) *lowerStress {
	low := newLower()
	tier, err := New(Config{Bytes: size, MaxBytes: 4 * size, Seed: 1, Now: func() int64 { return 1000 }, Lower: low})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tier.Free)
	tier.tuner = policy.NewTuner(0) // no key is sampled: see newUnsampled
	if lossy {
		rng := rand.New(rand.NewPCG(1, 4)) // guarded by low.mu
		low.admit = func() bool { return rng.IntN(4) > 0 }
	}
	s := &lowerStress{tier: tier, low: low, lossy: lossy}
	for i := range keys {
		s.registers = append(s.registers, &cachetest.Register{Key: fmt.Appendf(nil, "key-%04d", i)})
	}
	return s
}

func (s *lowerStress) try(err error) {
	if err != nil {
		s.failed.CompareAndSwap(nil, &err)
	}
}

func (s *lowerStress) over() bool { return s.failed.Load() != nil }

// write is one writer: it alone writes keys number first, first+step and so on.
func (s *lowerStress) write(first, step, rounds int) {
	rng := rand.New(rand.NewPCG(uint64(first), 1))
	var buf []byte
	for range rounds {
		i := first + step*rng.IntN(len(s.registers)/step)
		if s.over() {
			return
		}
		r := s.registers[i]
		r.Write(func(seq uint64) {
			if s.lossy && rng.IntN(10) == 0 {
				if !s.tier.deleteKey(r.Key) {
					s.try(ErrClosed)
				}
				return
			}
			n := belowSizes[i%len(belowSizes)]
			if i%3 == 0 {
				n = cachetest.MinValue + rng.IntN(2*n)
			}
			buf = cachetest.AppendValue(buf[:0], r.Key, seq, n)
			s.try(s.tier.setKey(r.Key, buf, 0))
		})
	}
}

// read is one reader, until the writers are done.
func (s *lowerStress) read(seed uint64, written *atomic.Bool) {
	rng := rand.New(rand.NewPCG(seed, 2))
	var buf []byte
	for !written.Load() && !s.over() {
		runtime.Gosched() // let writers in
		r := s.registers[rng.IntN(len(s.registers))]
		acked := r.Acked()
		value, ok := s.get(buf[:0], r, rng)
		buf = value
		switch {
		case ok:
			s.try(r.CheckRead(acked, value))
		case !s.lossy && acked > 0:
			s.try(fmt.Errorf("key %s was lost after write %d", r.Key, acked))
		}
	}
}

// get reads a key as a cache over both tiers does, and promotes what it finds
// in the lower tier, at once or after others had a turn.
func (s *lowerStress) get(dst []byte, r *cachetest.Register, rng *rand.Rand) ([]byte, bool) {
	hash := s.tier.Hash(r.Key)
	for {
		if v, ok := s.tier.Get(dst, r.Key); ok {
			return v, true
		}
		if rec, ok := s.low.get(hash, r.Key); ok {
			for range rng.IntN(4) {
				runtime.Gosched()
			}
			s.tier.Promote(hash, rec.key, rec.value, rec.deadline, rec.token)
			return append(dst, rec.value...), true
		}
		absent := false
		s.tier.inspect(hash, r.Key, func(live bool) {
			_, lower := s.low.get(hash, r.Key)
			absent = !live && !lower
		})
		if absent {
			return dst, false
		}
	}
}

// disturb changes how much room there is.
func (s *lowerStress) disturb(rounds int) {
	rng := rand.New(rand.NewPCG(3, 3))
	size, reserved := s.tier.Stats().Budget, int64(0)
	for i := range rounds {
		if s.over() {
			return
		}
		switch i % 5 {
		case 0:
			s.try(s.tier.SetBytes(size + rng.Int64N(size)))
		case 1:
			next := rng.Int64N(size / 2)
			s.try(s.tier.Reserve(next - reserved))
			reserved = next
		case 2:
			s.tier.DemoteAll(0, always, new(evicted.List))
		case 3:
			for range 2 { // the first finds what has not changed by the second
				s.tier.Mirror(rng.Uint64N(2), always)
			}
		default:
			s.drop(rng)
		}
		if st := s.tier.Stats(); st.ReservedBytes != reserved {
			s.try(fmt.Errorf("%d bytes reserved, want %d", st.ReservedBytes, reserved))
		}
	}
}

// drop lets the lower tier lose some records, if it may.
func (s *lowerStress) drop(rng *rand.Rand) {
	if !s.lossy {
		return
	}
	s.low.mu.Lock()
	defer s.low.mu.Unlock()
	for hash := range s.low.held {
		if rng.IntN(4) == 0 {
			s.low.drop(hash)
		}
	}
}

// run makes so many thousand writes, with readers beside them.
func (s *lowerStress) run(thousands int) error {
	const writers, readers = 3, 4
	var writing, reading sync.WaitGroup
	var written atomic.Bool
	for i := range readers {
		reading.Go(func() { s.read(uint64(i), &written) })
	}
	for i := range writers {
		writing.Go(func() { s.write(i, writers, thousands*1000/writers) })
	}
	writing.Go(func() { s.disturb(4 * thousands) })
	writing.Wait()
	written.Store(true)
	reading.Wait()
	if err := s.failed.Load(); err != nil {
		return *err
	}
	s.tier.DemoteAll(3, always, new(evicted.List)) // if the writers were too slow for one of disturb's
	return errors.Join(s.low.failure(), s.tier.Check(), s.quiet())
}

// quiet compares every key with its last write.
func (s *lowerStress) quiet() error {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, r := range s.registers {
		v, ok := s.get(nil, r, rng)
		if !ok && !s.lossy && r.Acked() > 0 {
			return fmt.Errorf("key %s was lost", r.Key)
		}
		if ok {
			if err := r.CheckRead(r.Acked(), v); err != nil {
				return err
			}
		}
	}
	return nil
}

// Two tiers together return nothing older than the last acknowledged write, and
// lose nothing that the lower one keeps, whatever moves between them meanwhile.
func TestLowerStress(t *testing.T) {
	t.Parallel()
	thousands := sized(25, 1000)
	if invariants.Race { // where bytes are copied one by one
		thousands = 3
	}
	for _, lossy := range []bool{false, true} {
		t.Run(fmt.Sprintf("lossy=%v", lossy), func(t *testing.T) {
			s := newLowerStress(t, 2<<20, 600, lossy)
			if err := s.run(thousands); err != nil {
				t.Fatal(err)
			}
			st := s.tier.Stats()
			t.Logf("%+v", st.Counters)
			if st.Demoted == 0 || st.Promoted == 0 {
				t.Errorf("%d demoted, %d promoted: want some of each", st.Demoted, st.Promoted)
			}
		})
	}
}

// inspect calls f while the shard of hash is locked, with whether the key has a
// live record here. Nothing under the hash is written, demoted or promoted
// meanwhile, so f can tell for sure that a key is in neither tier: a reader that
// misses here and then there may have missed a record on its way between them.
// f must not call the tier, nor block on a disk.
func (t *Tier) inspect(hash uint64, key []byte, f func(live bool)) {
	s := t.shardOf(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _, r, ok := s.find(hash, key)
	f(ok && !t.expired(&r))
}
