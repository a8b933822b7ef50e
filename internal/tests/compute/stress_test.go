package compute

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// Many change few keys by what they find, while those are evicted, demoted and promoted: no
// change is lost, unless its value is, and nobody finds what was replaced.
func TestComputeLosesNoChange(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]firn.Options{
		"RAM":         {RAMBytes: firn.MinRAMBytes},
		"RAM and SSD": {RAMBytes: firn.MinRAMBytesWithSSD, SSD: harness.On(firn.SSDOptions{Bytes: 4 << 20, SegmentBytes: 64 << 10, Admission: firn.AdmitAll}, vfstest.NewMem())},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := firn.Open(opts)
			harness.Must(t, err)
			defer c.Close()
			h := &chains{c: c, T: t}
			for i := range 40 {
				h.chains = append(h.chains, &cachetest.Chain{Key: fmt.Appendf(nil, "key %d", i)})
			}
			rounds := 3000
			if invariants.Race { // where bytes move by atomic words
				rounds = 1500
			}
			var wg sync.WaitGroup
			for seed := range uint64(4) {
				wg.Go(func() { h.run(rand.New(rand.NewPCG(seed, 3)), rounds) })
			}
			wg.Wait()
			s := c.Stats()
			t.Logf("%d changes, of which %d found a value, in %d runs; %d evictions, %d demotions, %d promotions",
				h.changes.Load(), h.found.Load(), h.runs.Load(), s.Evictions, s.SSD.Demotions, s.SSD.Promotions)
			if h.found.Load() == 0 || s.Evictions+s.SSD.Demotions == 0 || opts.SSD.Bytes > 0 && s.SSD.Promotions == 0 {
				t.Error("the test shows nothing")
			}
		})
	}
}

// chains are keys that are changed by what they hold.
type chains struct {
	*testing.T
	c                    *firn.Cache
	chains               []*cachetest.Chain
	changes, found, runs atomic.Uint64
}

func (h *chains) try(err error) {
	if err != nil {
		h.Error(err)
	}
}

func (h *chains) run(rng *rand.Rand, rounds int) {
	var buf []byte
	for range rounds {
		if h.Failed() {
			return
		}
		x := h.chains[rng.IntN(len(h.chains))]
		switch rng.IntN(8) {
		case 0:
			began := x.Begin()
			if v, ok := h.c.Get(nil, x.Key); ok {
				_, err := x.Check(began, v)
				h.try(err)
			}
		case 1:
			h.try(h.c.Set(fmt.Appendf(nil, "other %d", rng.IntN(1000)), make([]byte, rng.IntN(4000))))
		default:
			buf = h.change(rng, x, buf)
		}
	}
}

// change is a Compute of any kind.
func (h *chains) change(rng *rand.Rand, x *cachetest.Chain, buf []byte) []byte {
	do := []firn.Op{firn.OpSet, firn.OpUpdate, firn.OpUpdate, firn.OpDelete, firn.OpKeep}[rng.IntN(5)]
	began, seen := x.Begin(), uint64(0)
	h.try(h.c.Compute(context.Background(), x.Key, func(old []byte, ok bool) ([]byte, firn.Op) {
		if seen = 0; ok {
			var err error
			seen, err = x.Check(began, old)
			h.try(err)
		}
		if h.runs.Add(1)%8 == 0 {
			runtime.Gosched()
		}
		if do == firn.OpKeep || do == firn.OpDelete {
			return nil, do
		}
		buf = cachetest.AppendValue(buf[:0], x.Key, x.Next(), cachetest.MinValue+rng.IntN(3000))
		return buf, do
	}))
	if do != firn.OpKeep {
		h.try(x.Replaced(seen))
	}
	h.changes.Add(1)
	if seen != 0 {
		h.found.Add(1)
	}
	return buf
}

// Where nothing can be evicted, a sum is exact.
func TestIncrementsAddUp(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	c, err := firn.Open(firn.Options{RAMBytes: 16 << 20})
	harness.Must(t, err)
	defer c.Close()
	hits := harness.NewTyped(t, c, "hits", firn.TypedOptions[int, uint32]{})
	const goroutines, each = 8, 500
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for i := range each {
				var err error
				if i%2 == 0 {
					_, err = c.Increment(ctx, []byte("n"), 3)
				} else {
					err = c.Compute(ctx, []byte("n"), func(old []byte, _ bool) ([]byte, firn.Op) {
						return binary.LittleEndian.AppendUint64(nil, 3+binary.LittleEndian.Uint64(append(old, make([]byte, 8)...))), firn.OpUpdate
					})
				}
				_, err2 := firn.Increment(ctx, hits, i%2, 1)
				if err != nil || err2 != nil {
					t.Error(err, err2)
				}
			}
		})
	}
	wg.Wait()
	if n, err := c.Increment(ctx, []byte("n"), 0); n != 3*goroutines*each || err != nil {
		t.Errorf("%d, %v: want %d", n, err, 3*goroutines*each)
	}
	for key := range 2 {
		if n, ok := hits.Get(key); n != goroutines*each/2 || !ok {
			t.Errorf("key %d: %d, want %d", key, n, goroutines*each/2)
		}
	}
	if s := c.Stats(); s.Evictions != 0 {
		t.Errorf("%d evictions", s.Evictions)
	}
}
