package ram

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/histogram"
)

// probed is a tier with some records whose reads the policy is told of.
func probed(t *testing.T, bytes int64, n, keyLen, valueLen int) (tier *Tier, keys [][]byte) {
	t.Helper()
	tier = newTier(t, bytes)
	for i := 0; len(keys) < n; i++ {
		key := fmt.Appendf(nil, "%0*d", keyLen, i)
		if !tier.tuner.Sampled(tier.Hash(key)) {
			continue
		}
		if err := tier.Set(tier.Hash(key), key, make([]byte, valueLen), 0); err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
	}
	return tier, keys
}

// kept are the keys that the probe keeps, with how often.
func (p *probe) kept() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	found := map[string]int{}
	for _, k := range p.keys {
		if k.n > 0 {
			found[string(k.bytes[:k.n])]++
		}
	}
	return found
}

// Nothing is noted until somebody asks. What he gets then are the times of keys that were
// read, one of each in a second at most, and the lookups count as no reads.
func TestReadTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tier, keys := probed(t, 8<<20, 100, 24, 100)
		readAll := func() {
			for _, key := range keys {
				tier.Get(nil, key)
			}
		}
		readAll()
		if h := tier.ReadTimes(); h.Count() != 0 || h.Scale() != histogram.Nanos || len(tier.probe.kept()) != 0 {
			t.Errorf("before anybody asked %d keys were noted: %v", h.Count(), tier.probe.kept())
		}
		readAll()
		if h := tier.ReadTimes(); h.Count() != 0 {
			t.Errorf("%d lookups for one who asks twice at once", h.Count())
		}
		time.Sleep(time.Second)
		before := tier.Stats()
		read := tier.frequencies(t, keys)
		h := tier.ReadTimes()
		if st := tier.Stats(); h.Count() != probesAtOnce || st.Hits != before.Hits || st.Misses != before.Misses || !slices.Equal(tier.frequencies(t, keys), read) {
			t.Errorf("%d lookups, want %d; %d hits before, %d after", h.Count(), probesAtOnce, before.Hits, st.Hits)
		}
		for range 500 {
			readAll()
		}
		if kept := tier.probe.kept(); len(kept) == 0 || len(kept) > maxProbeKeys || tier.probe.credit.Load() != 0 {
			t.Errorf("%d keys, credit for %d more", len(kept), tier.probe.credit.Load())
		}
		tier.Close()
		time.Sleep(time.Second)
		if got := tier.ReadTimes(); got.Count() != h.Count() || len(tier.probe.kept()) != 0 {
			t.Errorf("a closed tier has %d keys, and %d lookups more", len(tier.probe.kept()), got.Count()-h.Count())
		}
	})
}

// frequencies are those of the keys' entries.
func (t *Tier) frequencies(tb testing.TB, keys [][]byte) (all []int) {
	tb.Helper()
	for _, key := range keys {
		all = append(all, t.frequency(tb, key))
	}
	return all
}

// frequency is that of a key's entry.
func (t *Tier) frequency(tb testing.TB, key []byte) int {
	tb.Helper()
	hash := t.Hash(key)
	s := t.shardOf(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	b, slot, _, ok := s.find(hash, key)
	if !ok {
		tb.Fatalf("%s is not there", key)
	}
	return b.Freq(slot)
}

// The keys are distributed as the reads are, by Get and by GetMulti; long ones are left out.
func TestProbeFollowsReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tier, keys := probed(t, 8<<20, 100, maxProbeKey, 100)
		_, long := probed(t, 8<<20, 1, maxProbeKey+1, 10)
		if err := tier.Set(tier.Hash(long[0]), long[0], nil, 0); err != nil {
			t.Fatal(err)
		}
		var b Batch
		hot, all := 0, 0
		for round := range 20 {
			time.Sleep(time.Second)
			tier.ReadTimes()
			for i := range 4000 {
				key := keys[0]
				if i%4 == 0 {
					key = keys[1+i/4%99]
				}
				if round%2 == 0 {
					tier.Get(nil, key)
				} else {
					tier.GetMulti(&b, [][]byte{key, long[0]})
				}
			}
			for key, n := range tier.probe.kept() {
				if all += n; key == string(keys[0]) {
					hot += n
				} else if key == string(long[0][:maxProbeKey]) {
					t.Fatal("a key that is too long was noted")
				}
			}
		}
		if share := float64(hot) / float64(all); all < 800 || share < .65 || share > .85 {
			t.Errorf("%.2f of %d keys are the one that three of four reads are about", share, all)
		}
	})
}

// What the clock takes is taken off, a value for which there was no room is left out, and so
// is a key that is gone.
func TestProbeTakesLookupsAlone(t *testing.T) {
	tier, keys := probed(t, 8<<20, 3, 24, 100)
	now, slow := time.Duration(0), time.Duration(0)
	tier.probe.now = func() time.Duration { now += 40 + slow; return now }
	var some []probeKey
	for _, key := range keys {
		k := probeKey{n: uint8(len(key))}
		copy(k.bytes[:], key)
		some = append(some, k)
	}
	tier.probeAll(some)
	if h := tier.probe.times.Snapshot(); h.Count() != 3 || h.Sum() != 0 {
		t.Errorf("%d lookups that take no time took %v", h.Count(), h.Sum())
	}
	tier.Delete(tier.Hash(keys[0]), keys[0])
	if err := tier.Set(tier.Hash(keys[1]), keys[1], make([]byte, 2*probedBytes), 0); err != nil {
		t.Fatal(err)
	}
	tier.probeAll(some)
	if h := tier.probe.times.Snapshot(); h.Count() != 4 {
		t.Errorf("%d lookups more, of a key that is gone, of a long value and of another; want one", h.Count()-3)
	}
	tier.probe.now = nil
	tier.probeAll(some[2:])
	if h := tier.probe.times.Snapshot(); h.Count() != 5 {
		t.Errorf("%d lookups by the process's clock", h.Count()-4)
	}
}

// Small tiers have no probe, and the memory of another counts.
func TestProbeMemory(t *testing.T) {
	small := newTier(t, minProbed-1)
	small.Get(nil, []byte("k"))
	if h := small.ReadTimes(); h.Count() != 0 || small.probe.size() != 0 {
		t.Errorf("a small tier has a probe: %d times", h.Count())
	}
	tier := newTier(t, 1<<20)
	if got := tier.probe.size(); len(tier.probe.keys) != 16 || got < 16*(maxProbeKey+1) || got > 4<<10 {
		t.Errorf("%d keys, %d bytes", len(tier.probe.keys), got)
	}
}

// Readers and those who ask do not disturb each other, and a read allocates nothing.
func TestProbeBesideReaders(t *testing.T) {
	tier, keys := probed(t, 8<<20, 50, 24, 100)
	var group sync.WaitGroup
	for k := range 3 {
		group.Go(func() {
			buf := make([]byte, 0, 200)
			for i := range 5000 {
				if v, ok := tier.Get(buf, keys[(i*7+k)%len(keys)]); !ok || !bytes.Equal(v, make([]byte, 100)) {
					t.Error("a value is not there, or another")
				}
			}
		})
	}
	group.Go(func() {
		for range 500 {
			tier.ReadTimes()
			tier.probe.mu.Lock()
			tier.probe.asked = time.Time{}
			tier.probe.mu.Unlock()
		}
	})
	group.Wait()
	buf := make([]byte, 0, 200)
	tier.probe.credit.Store(1 << 20)
	if n := testing.AllocsPerRun(1000, func() { tier.Get(buf, keys[0]) }); n != 0 {
		t.Errorf("a read that is noted allocates %g times", n)
	}
}
