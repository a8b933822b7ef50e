package ram

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/firncache/firn/internal/ram/segments"
)

// ends fails the test, rather than let it hang, if fn does not return.
func ends(t *testing.T, what string, fn func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		fn()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatalf("%s does not end", what)
	}
}

// Writes that need several segments each do not wait for each other's, though
// there are many more writes than segments: all but five are in use for ever, as
// an index's are.
func TestManyWritesOfSeveralSegmentsEnd(t *testing.T) {
	t.Parallel()
	tier := newTier(t, 64<<10)
	var others segments.Chain
	tier.pool.Take(&others, tier.pool.Limit-tier.pool.ReclaimOnly-tier.pool.Used-5)
	segment := int(tier.segSize())
	sizes := []int{segment * 3 / 2, segment * 7 / 4, segment / 2, segment * 5 / 2}
	ends(t, "Set", func() {
		var wg sync.WaitGroup
		for g := range 150 {
			wg.Go(func() {
				var key [8]byte
				for i := range 100 {
					binary.LittleEndian.PutUint64(key[:], uint64(g)<<32|uint64(i))
					if err := tier.setKey(key[:], make([]byte, sizes[(g+i)%len(sizes)]), 0); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
	})
	for others.N > 0 {
		tier.pool.Give(others.Pop(tier.segs))
	}
	if err := tier.Check(); err != nil {
		t.Error(err)
	}
}

// A record of MaxRecord is stored at any budget that SetBytes takes, in a cache
// whose index and ghosts were made for a larger one.
func TestLargestRecordAtAnyBudget(t *testing.T) {
	t.Parallel()
	for _, bytes := range []int64{64 << 10, 100_000, 1 << 20, 2 << 20} {
		for _, size := range []int{0, 100, 3000} { // of what was there before
			t.Run(fmt.Sprintf("%d/%d", bytes, size), func(t *testing.T) {
				t.Parallel()
				tier := newTier(t, bytes)
				var key [8]byte
				for i := range bytes * 5 / 4 / int64(size+24) {
					binary.LittleEndian.PutUint64(key[:], uint64(i))
					if err := tier.setKey(key[:], make([]byte, size), 0); err != nil {
						t.Fatal(err)
					}
				}
				least := tier.minBytes()
				for step := range int64(9) {
					budget := bytes - (bytes-least)*step/8
					if err := tier.SetBytes(budget); err != nil {
						t.Fatal(err)
					}
					most := tier.MaxRecord()
					if want := int64(tier.segSize()) - 64; most < want {
						t.Errorf("%d bytes: a record of %d bytes fits, want at least %d", budget, most, want)
					}
					ends(t, fmt.Sprintf("Set of %d bytes in %d", most, budget), func() {
						for i := range uint64(10) {
							binary.LittleEndian.PutUint64(key[:], i*0x9e3779b97f4a7c15)
							if err := tier.setKey(key[:], make([]byte, most-8), 0); err != nil {
								t.Errorf("%d bytes in %d: %v", most, budget, err)
							}
						}
					})
					if v, ok := tier.Get(nil, key[:]); !ok || int64(len(v)) != most-8 {
						t.Errorf("%d bytes in %d: the record is not there", most, budget)
					}
					if err := tier.setKey(key[:], make([]byte, most-7), 0); !errors.Is(err, ErrTooLarge) {
						t.Errorf("a byte more than %d in %d: %v", most, budget, err)
					}
					if err := tier.Check(); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
}

// A write that finds nothing to evict waits for the writes that hold segments,
// and fails if there are none.
func TestWriteWithoutRoomEnds(t *testing.T) {
	t.Parallel()
	tier := newTier(t, 64<<10)
	key, large := []byte("key"), make([]byte, tier.MaxRecord()-8)
	hold := &segments.Claim{}
	var others segments.Chain
	tier.pool.TakeFor(hold, &others, tier.pool.Limit-tier.pool.ReclaimOnly-tier.pool.Used-4, false)
	stored := make(chan error)
	go func() { stored <- tier.setKey(key, large, 0) }()
	for others.N > 0 {
		tier.pool.Give(others.Pop(tier.segs))
	}
	tier.pool.EndClaim(hold)
	ends(t, "Set", func() {
		if err := <-stored; err != nil {
			t.Error(err)
		}
	})
	if err := tier.setKey([]byte("another"), large, 0); err != nil {
		t.Error(err)
	}

	tier.Clear()
	tier.pool.TakeFor(hold, &others, tier.pool.Limit-tier.pool.ReclaimOnly-tier.pool.Used-4, false)
	tier.pool.EndClaim(hold) // as if they were the index's
	ends(t, "Set", func() {
		if err := tier.setKey(key, large, 0); err != ErrNoRoom {
			t.Errorf("%v, want %v", err, ErrNoRoom)
		}
		if err := tier.setKey(key, large[:100], 0); err != nil {
			t.Error(err)
		}
	})
	for others.N > 0 {
		tier.pool.Give(others.Pop(tier.segs))
	}
	if err := tier.Check(); err != nil {
		t.Error(err)
	}
}
