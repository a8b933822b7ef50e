package disk

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/stress/internal/bounds"
)

// cancelled values tell their key, their number and whether they are whole.
func cancelValue(key []byte, seq uint64, n int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, seq)
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(key))
	for len(b) < n+12 {
		b = append(b, byte(seq>>(len(b)%8)), byte(len(b)))
	}
	return binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

func cancelSeq(key, b []byte) (uint64, error) {
	if len(b) < 16 || crc32.ChecksumIEEE(b[:len(b)-4]) != binary.LittleEndian.Uint32(b[len(b)-4:]) {
		return 0, fmt.Errorf("%s: torn value of %d bytes", key, len(b))
	}
	if binary.LittleEndian.Uint32(b[8:]) != crc32.ChecksumIEEE(key) {
		return 0, fmt.Errorf("%s: another key's value", key)
	}
	return binary.LittleEndian.Uint64(b), nil
}

// Rows 16, 25 and 26: reads of a real disk are given up at any moment, single ones
// and batches, while keys are written, deleted and cleared, and the RAM budget
// changes. What other reads find is whole, their key's, and not outdated.
func TestFault16DiskReadsGivenUp(t *testing.T) {
	const keys, owners = 3000, 4
	long := bounds.Of(3*time.Second, time.Minute)
	first := bounds.Random(t).Uint64()
	c, err := firn.Open(firn.Options{RAMBytes: 2 << 20, MaxRAMBytes: 8 << 20,
		SSD: firn.SSDOptions{Dir: t.TempDir(), Bytes: 16 << 20, SegmentBytes: 128 << 10, Admission: firn.AdmitAll}})
	if err != nil {
		t.Fatal(err)
	}
	var acked [keys]atomic.Uint64
	var seq, found, given atomic.Uint64
	var clearing sync.RWMutex
	key := func(k int) []byte { return fmt.Appendf(nil, "key %d", k) }
	judge := func(k int, want uint64, v []byte) {
		got, err := cancelSeq(key(k), v)
		if err == nil && got < want {
			err = fmt.Errorf("%s: version %d, and %d was acknowledged", key(k), got, want)
		}
		if err != nil {
			t.Error(err)
		}
		found.Add(1)
	}
	for k := range keys {
		if err := c.Set(key(k), cancelValue(key(k), seq.Add(2), 3000)); err != nil {
			t.Fatal(err)
		}
	}
	stop := make(chan struct{})
	var all sync.WaitGroup
	each := func(f func(rng *rand.Rand)) {
		for i := range owners {
			all.Go(func() {
				rng := rand.New(rand.NewPCG(uint64(i), first))
				for {
					select {
					case <-stop:
						return
					default:
						f(rng)
					}
				}
			})
		}
	}
	briefly := func(rng *rand.Rand) (context.Context, context.CancelFunc) {
		if rng.IntN(3) == 0 {
			return context.Background(), func() {}
		}
		return context.WithTimeout(context.Background(), time.Duration(rng.IntN(150))*time.Microsecond)
	}
	each(func(rng *rand.Rand) { // readers
		ctx, cancel := briefly(rng)
		defer cancel()
		k := rng.IntN(keys)
		want := acked[k].Load()
		v, err := c.Lookup(ctx, nil, key(k))
		switch err {
		case nil:
			judge(k, want, v)
		case ctx.Err():
			given.Add(1)
		}
	})
	each(func(rng *rand.Rand) {
		var b firn.Batch
		for range 20 {
			ctx, cancel := briefly(rng)
			ks, want, which := make([][]byte, 16), make([]uint64, 16), make([]int, 16)
			for i := range ks {
				which[i] = rng.IntN(keys)
				ks[i], want[i] = key(which[i]), acked[which[i]].Load()
			}
			if c.GetMulti(ctx, &b, ks) == ctx.Err() && ctx.Err() != nil {
				given.Add(1)
			}
			for i := range ks {
				if v, ok := b.Value(i); ok {
					judge(which[i], want[i], v)
				}
			}
			cancel()
		}
	})
	var turns [owners]sync.Mutex
	each(func(rng *rand.Rand) { // writers
		i := rng.IntN(owners)
		turns[i].Lock()
		defer turns[i].Unlock()
		k := rng.IntN(keys/owners)*owners + i
		clearing.RLock()
		defer clearing.RUnlock()
		if s := seq.Add(2); rng.IntN(8) == 0 {
			if c.Delete(key(k)) == nil {
				acked[k].Store(s + 1)
			}
		} else if c.Set(key(k), cancelValue(key(k), s, rng.IntN(6000))) == nil {
			acked[k].Store(s)
		}
	})
	all.Go(func() {
		rng := rand.New(rand.NewPCG(7, 7))
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
			}
			if err := c.SetRAMBytes(int64(1+rng.IntN(8)) << 20); err != nil && n == 0 {
				t.Log(err)
			}
			if n%20 == 19 {
				clearing.Lock()
				if err := c.Clear(t.Context()); err != nil {
					t.Error(err)
				}
				for k := range acked {
					acked[k].Add(1)
				}
				clearing.Unlock()
			}
		}
	})
	const watchdog = 5 * time.Minute
	for begin := time.Now(); time.Since(begin) < watchdog; time.Sleep(long / 10) {
		if time.Since(begin) > long && c.Stats().SSD.Hits > 0 && given.Load() > 0 {
			break
		}
	}
	close(stop)
	all.Wait()
	s := c.Stats()
	t.Logf("%d values found, %d of them on the SSD; %d reads given up; %d written", found.Load(), s.SSD.Hits, given.Load(), s.Sets)
	if s.SSD.Hits == 0 || given.Load() == 0 {
		t.Error("want both")
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
