package ssd

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// causesTest makes writes at random, and counts those that have stored a value.
type causesTest struct {
	*firn.Cache
	t     *testing.T
	clock cachetest.Clock
	rng   *rand.Rand
	loads bool // keys are loaded, too, that the source does not have
	sets  uint64
	turn  int
	told  [4]uint64 // by cause
}

func (w *causesTest) key() []byte { return fmt.Appendf(nil, "%04d", w.rng.IntN(2000)) }

func (w *causesTest) value() []byte {
	return make([]byte, []int{0, 8, 100, 100, 1000, 20_000}[w.rng.IntN(6)])
}

// ttl is Forever, or short.
func (w *causesTest) ttl() time.Duration {
	return []time.Duration{firn.Forever, 50 * time.Millisecond, time.Second}[w.rng.IntN(3)]
}

// stored counts n values that a write without an error has stored.
func (w *causesTest) stored(n int, err error) {
	if err != nil {
		w.t.Fatal(err)
	}
	w.sets += uint64(n)
}

func (w *causesTest) compute(op firn.Op) {
	stored := 0
	err := w.Compute(w.t.Context(), w.key(), func(old []byte, ok bool) ([]byte, firn.Op) {
		if op != firn.OpKeep && op != firn.OpDelete {
			stored = 1
		}
		return w.value(), op
	})
	w.stored(stored, err)
}

// seldom are the steps that empty much, by turns.
func (w *causesTest) seldom() {
	w.turn++
	switch w.turn % 4 {
	case 0:
		w.stored(0, w.Clear(context.Background()))
	case 1:
		w.clock.Advance(700 * time.Millisecond)
		harness.Sweep(w.Cache)
	default:
		w.stored(0, w.SetRAMBytes([]int64{300_000, 500_000, 1 << 20}[w.rng.IntN(3)]))
	}
}

func (w *causesTest) step() {
	switch w.rng.IntN(14) {
	case 0, 1, 2:
		w.stored(1, w.Set(w.key(), w.value()))
	case 3, 4, 5:
		w.stored(1, w.SetWithTTL(w.key(), w.value(), w.ttl()))
	case 6:
		w.stored(3, w.SetMulti(context.Background(), [][]byte{w.key(), w.key(), w.key()}, [][]byte{w.value(), w.value(), w.value()}))
	case 7:
		w.stored(0, w.Delete(w.key()))
	case 8, 9:
		_, err := w.Touch(w.t.Context(), w.key(), w.ttl())
		w.stored(0, err)
	case 10, 11:
		w.compute([]firn.Op{firn.OpKeep, firn.OpSet, firn.OpUpdate, firn.OpDelete, firn.OpSetTTL(w.ttl())}[w.rng.IntN(5)])
	case 12:
		w.clock.Advance(time.Duration(w.rng.IntN(20)) * time.Millisecond)
	default:
		if w.loads {
			_, _ = w.GetOrLoad(w.t.Context(), nil, w.key(), func(context.Context, []byte) ([]byte, error) { return nil, firn.ErrNotFound })
		}
	}
}

// check demands that every entry that came is there, or has left for one cause.
func (w *causesTest) check(step int) {
	s := w.Stats()
	if sum := uint64(s.Entries) + s.Evictions + s.Expirations + s.Replacements + s.Deletes + s.Cleared; s.Sets != sum {
		w.t.Fatalf("step %d: %d sets, and entries and those that left are %d: %+v", step, s.Sets, sum, s)
	}
	if !w.loads && s.Sets != w.sets {
		w.t.Fatalf("step %d: %d sets are counted: want %d", step, s.Sets, w.sets)
	}
}

// checkTold compares with what OnEvict was told: of a value past its time that a Set replaces
// as of an expired one, of a cleared one as of a deleted one.
func (w *causesTest) checkTold() {
	s := w.Stats()
	capacity, deleted := w.told[firn.CauseCapacity], w.told[firn.CauseDeleted]
	replaced, expired := w.told[firn.CauseReplaced], w.told[firn.CauseExpired]
	if capacity != s.Evictions || deleted != s.Deletes+s.Cleared || replaced+expired != s.Replacements+s.Expirations || expired < s.Expirations {
		w.t.Errorf("OnEvict was told of %v, by cause: %+v", w.told, s)
	}
}

// Each entry is counted once when it leaves, so that the counters and the entries that are
// left add up to the Sets.
func TestEntriesByCause(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ tells, loads bool }{"plain": {}, "OnEvict": {tells: true}, "loads": {loads: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := &causesTest{t: t, rng: rand.New(rand.NewPCG(14, 1)), loads: c.loads}
				o := firn.Options{RAMBytes: 500_000, MaxRAMBytes: 1 << 20, Clock: w.clock.Now}
				o.Loading.NegativeTTL = 100 * time.Millisecond
				if c.tells {
					o.OnEvict = func(_, _ []byte, cause firn.Cause) { w.told[cause]++ }
				}
				w.Cache = harness.Open(t, o)
				steps := 20_000
				if invariants.Race {
					steps = 2_000
				}
				for i := range steps {
					if w.step(); i%200 == 199 {
						w.seldom()
					}
					synctest.Wait() // for loads, which store after their callers have the answer
					w.check(i)
				}
				if c.tells {
					w.checkTold()
				}
				if s := w.Stats(); s.Evictions == 0 || s.Expirations == 0 || s.Replacements == 0 || s.Deletes == 0 || s.Cleared == 0 {
					t.Errorf("want some of each cause: %+v", s)
				}
			})
		})
	}
}

// What has expired on the SSD is no eviction from there: neither whole segments of it, nor
// records that have to be read for OnEvict.
func TestExpirationsOnSSD(t *testing.T) {
	t.Parallel()
	for _, tells := range []bool{false, true} {
		t.Run(fmt.Sprint("tells=", tells), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex // Set tells, and the SSD's goroutine
				told := map[firn.Cause]int{}
				clock := &cachetest.Clock{}
				o := harness.HybridOptions(vfstest.NewMem())
				o.Clock, o.SSD.Bytes = clock.Now, 8<<20
				if tells {
					o.OnEvictCauses = []firn.Cause{firn.CauseExpired, firn.CauseSSDEvicted}
					o.OnEvict = func(_, _ []byte, cause firn.Cause) {
						mu.Lock()
						defer mu.Unlock()
						told[cause]++
					}
				}
				c := harness.Open(t, o)
				fill := func(from, to int, ttl time.Duration) {
					for i := from; i < to; i++ {
						key, value := harness.Numbered(i)
						if err := c.SetWithTTL(key, value, ttl); err != nil {
							t.Fatal(err)
						}
					}
					synctest.Wait()
				}
				fill(0, 12_000, time.Minute)
				if s := c.Stats().SSD; s.Entries == 0 || s.Evictions+s.Expirations != 0 {
					t.Fatalf("before anything had expired: %+v", s)
				}
				clock.Advance(time.Hour)
				fill(12_000, 30_000, firn.Forever)
				s := c.Stats()
				mu.Lock()
				expired, evicted := told[firn.CauseExpired], told[firn.CauseSSDEvicted]
				mu.Unlock()
				if s.SSD.Expirations == 0 || s.SSD.Evictions != 0 || tells && expired < int(s.SSD.Expirations) || evicted != 0 {
					t.Errorf("told of %d expired and %d evicted, %+v", expired, evicted, s.SSD)
				}
				fill(30_000, 60_000, firn.Forever)
				if s := c.Stats(); s.SSD.Evictions == 0 {
					t.Errorf("none were evicted: %+v", s.SSD)
				}
			})
		})
	}
}
