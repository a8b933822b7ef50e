package ssd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// What of a disk can be stuck.
var stuckRules = map[string]vfstest.Rule{
	"reads":      {On: vfstest.OpRead, Name: "log"},
	"writes":     {On: vfstest.OpWrite, Name: "log"},
	"everything": {On: vfstest.OpAny &^ vfstest.OpClose},
}

// stuckDisk is a cache over a disk that does not come back.
type stuckDisk struct {
	c      *firn.Cache
	in     *vfstest.Injection
	cancel func()
	group  sync.WaitGroup // those who wait for the disk
	reads  chan error     // what Lookup of keys that lie on the disk returned
}

const stuckDepth, stuckReads = 8, 200

// stuck opens a cache over a disk of which something is stuck, and lets it be
// waited for: by Lookups of keys of which many lie there, and by the tier, which
// writes what leaves RAM. In a bubble nothing moves when it returns.
func stuck(t testing.TB, rule vfstest.Rule) *stuckDisk {
	t.Helper()
	f := vfstest.NewFaulty(vfstest.NewMem())
	s := &stuckDisk{reads: make(chan error, stuckReads)}
	var err error
	s.c, err = firn.Open(firn.Options{RAMBytes: 2 << 20, Clock: time.Now,
		SSD: harness.On(firn.SSDOptions{Bytes: 16 << 20, SegmentBytes: 64 << 10, Admission: firn.AdmitAll, Depth: stuckDepth}, f)})
	if err != nil {
		t.Fatal(err)
	}
	const old, fresh = 12_000, 5_000
	for i := range old {
		key, value := harness.Numbered(i)
		harness.Set(t, s.c, key, value)
	}
	if st := s.c.Stats(); st.SSD.Entries < stuckReads {
		t.Fatalf("too little lies on the disk: %+v", st)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	rule.Block = true
	s.in = f.Inject(rule)
	for i := range stuckReads {
		s.group.Go(func() {
			key, _ := harness.Numbered(i * (old / stuckReads))
			ctx := ctx
			if i%2 == 0 {
				var cancel func()
				ctx, cancel = context.WithTimeout(ctx, time.Millisecond)
				defer cancel()
			}
			_, err := s.c.Lookup(ctx, nil, key)
			s.reads <- err
		})
	}
	for i := range fresh {
		key, value := harness.Numbered(old + i)
		harness.Set(t, s.c, key, value)
	}
	s.in.AwaitBlocked(1)
	return s
}

// end lets the disk go on.
func (s *stuckDisk) end() {
	s.cancel()
	s.in.Remove()
	s.group.Wait()
}

func hotKey(g, i int) []byte { return fmt.Appendf(nil, "hot-%d-%03d", g, i) }

func hotValue(g, i, n int) []byte { return fmt.Appendf(nil, "hot value %d %03d %09d", g, i, n) }

// Row 16: while the disk is stuck, for good, everything that RAM can do alone
// goes on; Lookup ends with its context, no more reads are handed to the disk than
// it may have, and Close comes back.
func TestFault16RAMServes(t *testing.T) {
	for name, rule := range stuckRules {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { ramServes(t, rule) })
		})
	}
}

func ramServes(t *testing.T, rule vfstest.Rule) {
	s := stuck(t, rule)
	var group sync.WaitGroup
	for g := range 4 {
		group.Go(func() { useRAM(t, s.c, g) })
	}
	group.Wait()
	s.in.AwaitBlocked(1) // still

	time.Sleep(time.Second) // of the bubble: what has a deadline has met it
	s.cancel()
	cancelled, late := 0, 0
	for range stuckReads {
		switch err := <-s.reads; {
		case errors.Is(err, context.Canceled):
			cancelled++
		case errors.Is(err, context.DeadlineExceeded):
			late++
		case err != nil && !errors.Is(err, firn.ErrNotFound):
			t.Errorf("Lookup: %v", err)
		}
	}
	if rule.On == vfstest.OpRead {
		if n := s.in.Hits(); n > stuckDepth {
			t.Errorf("%d reads were handed to the disk, want no more than %d", n, stuckDepth)
		}
		if cancelled == 0 || late == 0 {
			t.Errorf("of %d Lookups, %d were cancelled and %d ended with their deadline: want both", stuckReads, cancelled, late)
		}
	}
	_ = s.c.Close() // comes back, though nothing else does
	s.in.AwaitBlocked(1)
	s.end()
}

// useRAM does what needs no disk, with keys that were never there.
func useRAM(t *testing.T, c *firn.Cache, g int) {
	const keys, rounds = 20, 300
	var all [][]byte
	want := make([][]byte, keys)
	for i := range keys {
		all, want[i] = append(all, hotKey(g, i)), hotValue(g, i, 0)
		if err := c.Set(all[i], want[i]); err != nil {
			t.Error(err)
		}
	}
	var batch firn.Batch
	for n := range rounds {
		i := n % keys
		if v, err := c.Lookup(context.Background(), nil, all[i]); err != nil || string(v) != string(want[i]) {
			t.Errorf("%s: %q, %v: want %q", all[i], v, err, want[i])
		}
		if n%5 == 0 {
			if err := c.Delete(all[i]); err != nil {
				t.Error(err)
			}
			if v, ok := c.Get(nil, all[i]); ok {
				t.Errorf("%s: %q after Delete", all[i], v)
			}
		}
		want[i] = hotValue(g, i, n)
		if err := c.Set(all[i], want[i]); err != nil {
			t.Error(err)
		}
		c.GetMulti(t.Context(), &batch, all)
		for i := range all {
			if v, ok := batch.Value(i); !ok || string(v) != string(want[i]) {
				t.Errorf("%s: %q, %v in a batch: want %q", all[i], v, ok, want[i])
			}
		}
	}
}

// BenchmarkStuckDisk compares hits in RAM while the disk does nothing, with a
// disk that does.
func BenchmarkStuckDisk(b *testing.B) {
	rules := map[string]vfstest.Rule{"works": {On: vfstest.OpRead, Name: "no such file"}}
	for name, rule := range stuckRules {
		rules[name+" stuck"] = rule
	}
	for _, name := range []string{"works", "reads stuck", "writes stuck", "everything stuck"} {
		b.Run(name, func(b *testing.B) {
			var c *firn.Cache
			if name == "works" {
				c, _, _ = onFaulty(b, 8000)
				defer c.Close()
			} else {
				s := stuck(b, rules[name])
				c = s.c
				defer s.end()
				defer c.Close()
			}
			const keys = 100
			for i := range keys {
				if err := c.Set(hotKey(0, i), hotValue(0, i, 0)); err != nil {
					b.Fatal(err)
				}
			}
			var mu sync.Mutex
			var took []time.Duration
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				var buf []byte
				var mine []time.Duration
				key := hotKey(0, 0)
				for n := 0; pb.Next(); n++ {
					key = fmt.Appendf(key[:0], "hot-0-%03d", n%keys)
					var began time.Time
					if n%64 == 0 {
						began = time.Now()
					}
					var ok bool
					if buf, ok = c.Get(buf[:0], key); !ok {
						b.Error("a miss")
						return
					}
					if n%64 == 0 {
						mine = append(mine, time.Since(began))
					}
				}
				mu.Lock()
				took = append(took, mine...)
				mu.Unlock()
			})
			b.StopTimer()
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2]), "p50-ns")
			b.ReportMetric(float64(took[len(took)*99/100]), "p99-ns")
		})
	}
}
