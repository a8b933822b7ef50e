package ram

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/invariants"
)

// A value that is overwritten in place is that of the same key, not of another
// with the same hash, and counts as set.
func TestOverwriteComparesTheKey(t *testing.T) {
	t.Parallel()
	tier, err := New(Config{Bytes: MinBytes, Seed: 1, Now: func() int64 { return 1 }, HashMask: 1 << 63})
	if err != nil {
		t.Fatal(err)
	}
	defer tier.Free()
	keys := [][]byte{[]byte("key-a"), []byte("key-b"), []byte("key-c"), []byte("key-d")}
	for round := range byte(3) {
		for i, key := range keys {
			if err := tier.setKey(key, bytes.Repeat([]byte{round, byte(i)}, 20), 0); err != nil {
				t.Fatal(err)
			}
		}
		for i, key := range keys {
			want := bytes.Repeat([]byte{round, byte(i)}, 20)
			if v, ok := tier.Get(nil, key); !ok || !bytes.Equal(v, want) {
				t.Errorf("round %d, %s: %x, %v; want %x", round, key, v, ok, want)
			}
		}
	}
	if n := tier.Stats().Sets(); n != uint64(3*len(keys)) {
		t.Errorf("%d sets counted, want %d", n, 3*len(keys))
	}
}

// The fast path overwrites records of usual length that have the shape of the new one,
// with and without deadlines, and no others; OnEvict is told once.
func TestOverwriteInPlace(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		keyLen, oldLen, newLen int
		old, new               int64 // deadlines
		want                   bool
	}{
		"a short one":           {16, 100, 100, 0, 0, true},
		"an empty one":          {0, 0, 0, 0, 0, true},
		"a long key":            {1023, 100, 100, 0, 0, true},
		"one with a deadline":   {16, 100, 100, 2000, 3000, true},
		"an expired one":        {16, 100, 100, 5, 3000, true},
		"a negative entry":      {16, 0, 0, -2000, 3000, true},
		"by a negative entry":   {16, 0, 0, 2000, -3000, true},
		"a longer one":          {16, 100, 99, 0, 0, false},
		"a first deadline":      {16, 100, 100, 0, 2000, false},
		"a last deadline":       {16, 100, 100, 2000, 0, false},
		"a longer key":          {1024, 100, 100, 0, 0, false},
		"one of several pieces": {16, 9000, 9000, 2000, 2000, false},
	} {
		for _, told := range []bool{false, true} {
			events := 0
			cfg := Config{Bytes: 1 << 20, Seed: 1, Now: func() int64 { return 1000 }}
			if told {
				cfg.OnEvict = func(_, _ []byte, _ evicted.Cause) { events++ }
			}
			tier, err := New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			tier.janitor.once.Do(func() {})
			key := bytes.Repeat([]byte("k"), x.keyLen)
			hash := tier.Hash(key)
			if err := tier.Set(hash, key, bytes.Repeat([]byte("1"), x.oldLen), x.old); err != nil {
				t.Fatal(err)
			}
			value := bytes.Repeat([]byte("2"), x.newLen)
			s := tier.shardOf(hash)
			s.mu.Lock()
			done, _ := s.overwriteInPlace(hash, key, value, x.new)
			s.unlockAndNotify()
			if done != x.want {
				t.Errorf("%s, OnEvict %v: overwritten: %v", name, told, done)
			}
			if v, d, ok := tier.peekStaleKey(nil, key); done && (!ok || d != x.new || !bytes.Equal(v, value)) {
				t.Errorf("%s: it is %.20q with deadline %d, %v", name, v, d, ok)
			}
			if want := told && done && x.old >= 0; want != (events == 1) || events > 1 {
				t.Errorf("%s, OnEvict %v: it was told %d times", name, told, events)
			}
			tier.Free()
		}
	}
}

// fastAndSlow are two tiers of which one is written by Set and SetMulti, and the other by
// the path that they take for what is not overwritten at once: they hold the same at each moment.
type fastAndSlow struct {
	tiers [2]*Tier
	lows  [2]*lower
	told  [2]strings.Builder // to OnEvict and the lower tiers
}

func newFastAndSlow(t *testing.T, mask uint64, told, below bool, now func() int64) *fastAndSlow {
	var p fastAndSlow
	for i := range p.tiers {
		cfg := Config{Bytes: 256 << 10, Seed: 1, Now: now, Grace: 500, HashMask: mask}
		if told {
			cfg.OnEvict = func(key, value []byte, cause evicted.Cause) { fmt.Fprintf(&p.told[i], "%x %x %d\n", key, value, cause) }
		}
		if below {
			p.lows[i] = newLower()
			p.lows[i].invalidate = func(hash uint64) { fmt.Fprintf(&p.told[i], "invalidated %x\n", hash) }
			cfg.Lower = p.lows[i]
		}
		tier, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		tier.janitor.once.Do(func() {})
		t.Cleanup(tier.Free)
		p.tiers[i] = tier
	}
	return &p
}

// set stores a record in both.
func (p *fastAndSlow) set(key, value []byte, deadline int64) (fast, slow error) {
	var left evicted.List
	hash := p.tiers[0].Hash(key)
	if deadline&1 == 0 {
		fast = p.tiers[0].Set(hash, key, value, deadline)
	} else {
		_, fast = p.tiers[0].SetMulti([][]byte{key}, [][]byte{value}, deadline, nil)
	}
	slow = p.tiers[1].SetQuietly(hash, key, value, deadline, &left)
	left.Notify()
	return fast, slow
}

// equal reports the first difference between the two, of a key and of all that was told.
func (p *fastAndSlow) equal(key []byte) error {
	// First what was told: a read tells what was left over.
	if a, b := p.told[0].String(), p.told[1].String(); a != b {
		return fmt.Errorf("key %.20x: told %q and %q", key, a, b)
	}
	p.told[0].Reset()
	p.told[1].Reset()
	v, d, ok := p.tiers[0].peekStaleKey(nil, key)
	w, e, there := p.tiers[1].peekStaleKey(nil, key)
	if !bytes.Equal(v, w) || d != e || ok != there {
		return fmt.Errorf("key %.20x: %.20x, deadline %d, %v; %.20x, deadline %d, %v", key, v, d, ok, w, e, there)
	}
	if a, b := p.tiers[0].Stats(), p.tiers[1].Stats(); a.Counters != b.Counters {
		return fmt.Errorf("key %.20x: counted %+v and %+v", key, a.Counters, b.Counters)
	}
	return nil
}

// Set and SetMulti do what the general path does, with deadlines, graces, negative entries, equal
// tags and chains: OnEvict is told the same, in the same order, and the lower tier too.
func TestFastAndSlow(t *testing.T) {
	t.Parallel()
	for name, mask := range masks {
		for kind := range 4 {
			told, below := kind&1 != 0, kind&2 != 0
			t.Run(fmt.Sprintf("%s, OnEvict %v, lower tier %v", name, told, below), func(t *testing.T) {
				t.Parallel()
				testFastAndSlow(t, mask, told, below)
			})
		}
	}
}

func testFastAndSlow(t *testing.T, mask uint64, told, below bool) {
	now := int64(1000)
	p := newFastAndSlow(t, mask, told, below, func() int64 { return now })
	rng := rand.New(rand.NewPCG(mask, 4))
	steps := 4000
	if invariants.Race {
		steps = 400
	}
	for i := range steps {
		key := bytes.Repeat([]byte{byte(rng.IntN(60))}, 1+rng.IntN(3)*rng.IntN(20))
		value := bytes.Repeat([]byte{byte(i)}, rng.IntN(4)*rng.IntN(3)*(1+rng.IntN(2)*400))
		deadline := int64(0)
		switch rng.IntN(4) {
		case 0, 1:
			deadline = now + 1 + rng.Int64N(1000)
		case 2:
			if value = nil; rng.IntN(3) == 0 {
				deadline = -now - 1 - rng.Int64N(1000)
			}
		}
		switch rng.IntN(20) {
		case 0:
			now += rng.Int64N(1000)
		case 1:
			for _, tier := range p.tiers {
				tier.Sweep()
			}
		case 2:
			for i, tier := range p.tiers {
				if below {
					p.lows[i].keeping = true
					tier.DemoteAll(0, always, new(evicted.List))
					p.lows[i].keeping = false
				}
			}
		}
		if fast, slow := p.set(key, value, deadline); fast != slow {
			t.Fatalf("step %d: %v and %v", i, fast, slow)
		}
		if err := p.equal(key); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
	}
	for i, tier := range p.tiers {
		if err := tier.Check(); err != nil {
			t.Error(err)
		}
		if below && p.lows[i].err != nil {
			t.Error(p.lows[i].err)
		}
	}
}

// A reader beside writers that overwrite value and deadline sees the two of one Set. The
// records begin at all places in a cache line, for a header in two lines as well.
func TestDeadlineOfItsValue(t *testing.T) {
	t.Parallel()
	tier := newUnsampled(t, Config{Bytes: 1 << 20, Seed: 1, Now: func() int64 { return 1 }})
	tier.janitor.once.Do(func() {})
	writes := 400_000
	if invariants.Race || testing.Short() {
		writes /= 20
	}
	var keys [9][]byte
	for i := range keys {
		keys[i] = bytes.Repeat([]byte{byte(i)}, 8)
	}
	var group sync.WaitGroup
	defer group.Wait()
	done := make(chan struct{})
	group.Go(func() {
		defer close(done)
		value := make([]byte, 24)
		for i := range writes {
			deadline := int64(1000 + i)
			for j := 0; j < len(value); j += 8 {
				binary.LittleEndian.PutUint64(value[j:], uint64(deadline))
			}
			if err := tier.setKey(keys[i%len(keys)], value, deadline); err != nil {
				t.Error(err)
				return
			}
		}
	})
	buf := make([]byte, 0, 24)
	for ended := false; !ended; {
		select {
		case <-done:
			ended = true
		default:
		}
		for i := range 90 {
			key := keys[i/10]
			v, deadline, ok := tier.GetWithDeadline(buf, key)
			if !ok {
				continue
			}
			for j := 0; j < len(v); j += 8 {
				if got := int64(binary.LittleEndian.Uint64(v[j:])); got != deadline {
					t.Fatalf("the value of deadline %d has deadline %d", got, deadline)
				}
			}
		}
	}
}
