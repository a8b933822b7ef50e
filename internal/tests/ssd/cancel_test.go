package ssd

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// Rows 16, 25 and 26: reads of a slow disk are given up at any moment, single ones
// and batches, while keys are written, deleted and cleared, and the RAM budget
// changes. What other reads find is whole, their key's, and not outdated.
// TestFault16DiskReadsGivenUp, in the module stress, has a real disk.
func TestFault16ReadsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGivenUp(t)
		var readers sync.WaitGroup
		for i := range 4 {
			readers.Go(func() { g.lookUp(uint64(i)) })
			readers.Go(func() { g.lookUpMany(uint64(i)) })
		}
		g.write(1500)
		g.written.Store(true)
		readers.Wait()
		s := g.s.C.Stats()
		t.Logf("%d values found, %d of them on the SSD; %d reads given up; %d written", g.s.Hits.Load(), s.SSD.Hits, g.given.Load(), s.Sets)
		if s.SSD.Hits == 0 || g.given.Load() == 0 {
			t.Error("want both")
		}
		if err := g.s.Failed.Load(); err != nil {
			t.Error(*err)
		}
		if err := g.s.C.Close(); err != nil {
			t.Error(err)
		}
	})
}

// givenUp is a cache whose reads take up to slowRead, and less time than that.
type givenUp struct {
	s       *harness.Stress
	given   atomic.Int64
	written atomic.Bool
}

const slowRead = 200 * time.Microsecond

func newGivenUp(t *testing.T) *givenUp {
	f := vfstest.NewFaulty(vfstest.NewMem())
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(16, 9))
	f.Inject(vfstest.Rule{On: vfstest.OpRead, Name: "log", Hook: func(vfstest.Op) {
		mu.Lock()
		d := time.Duration(rng.Int64N(int64(slowRead)))
		mu.Unlock()
		time.Sleep(d)
	}})
	g := &givenUp{s: &harness.Stress{Registers: harness.NewRegisters(600)}}
	var err error
	g.s.C, err = firn.Open(firn.Options{RAMBytes: 1 << 20, MaxRAMBytes: 4 << 20, Clock: time.Now,
		SSD: harness.On(firn.SSDOptions{Bytes: 16 << 20, SegmentBytes: 64 << 10, Admission: firn.AdmitAll}, f)})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// write writes and deletes all keys, and now and then clears the cache, or changes
// its budget.
func (g *givenUp) write(rounds int) {
	rng := rand.New(rand.NewPCG(7, 7))
	for n := range rounds {
		time.Sleep(time.Duration(rng.Int64N(int64(slowRead))))
		r := g.s.Registers[rng.IntN(len(g.s.Registers))]
		r.Write(func(seq uint64) {
			if rng.IntN(8) == 0 {
				g.s.Try(g.s.C.Delete(r.Key))
			} else {
				g.s.Try(g.s.C.Set(r.Key, cachetest.AppendValue(nil, r.Key, seq, cachetest.MinValue+rng.IntN(12_000))))
			}
		})
		if n%50 == 49 {
			g.s.Try(g.s.C.SetRAMBytes(int64(1+rng.IntN(3)) << 20))
		}
		if n%500 == 499 {
			g.clear()
		}
	}
}

// clear is a write of every key.
func (g *givenUp) clear() {
	seqs := make([]uint64, len(g.s.Registers))
	for i, r := range g.s.Registers {
		seqs[i] = r.Next()
	}
	g.s.Try(g.s.C.Clear(context.Background()))
	for i, r := range g.s.Registers {
		r.Ack(seqs[i])
	}
}

// briefly is a context that ends soon, or, once in three times, never.
func briefly(rng *rand.Rand) (context.Context, context.CancelFunc) {
	if rng.IntN(3) == 0 {
		return context.Background(), func() {}
	}
	return context.WithTimeout(context.Background(), time.Duration(rng.Int64N(int64(slowRead))))
}

func (g *givenUp) judge(r *cachetest.Register, acked uint64, v []byte) {
	g.s.Hits.Add(1)
	if err := r.CheckRead(acked, v); err != nil {
		g.s.Fail(err)
	}
}

func (g *givenUp) lookUp(seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for !g.written.Load() && !g.s.Over() {
		time.Sleep(time.Duration(rng.Int64N(int64(slowRead))))
		ctx, cancel := briefly(rng)
		r := g.s.Registers[rng.IntN(len(g.s.Registers))]
		acked := r.Acked()
		v, err := g.s.C.Lookup(ctx, nil, r.Key)
		switch {
		case err == nil:
			g.judge(r, acked, v)
		case err == ctx.Err():
			g.given.Add(1)
		}
		cancel()
	}
}

func (g *givenUp) lookUpMany(seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 2))
	var b firn.Batch
	for !g.written.Load() && !g.s.Over() {
		time.Sleep(time.Duration(rng.Int64N(int64(slowRead))))
		ctx, cancel := briefly(rng)
		keys, regs, acked := make([][]byte, 16), make([]*cachetest.Register, 16), make([]uint64, 16)
		for i := range keys {
			regs[i] = g.s.Registers[rng.IntN(len(g.s.Registers))]
			keys[i], acked[i] = regs[i].Key, regs[i].Acked()
		}
		if err := g.s.C.GetMulti(ctx, &b, keys); err != nil && err == ctx.Err() {
			g.given.Add(1)
		}
		for i := range keys {
			if v, ok := b.Value(i); ok {
				g.judge(regs[i], acked[i], v)
			}
		}
		cancel()
	}
}
