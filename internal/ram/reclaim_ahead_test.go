package ram

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/record"
)

// Once the tier is full, a write seldom lets go more than a step of others.
func TestWritesShareDrains(t *testing.T) {
	oneGoroutine(t)
	t.Parallel()
	low := &counting{}
	now := int64(1000)
	tier := newOverLower(t, 4<<20, low, &now)
	tier.maxWalk = 8
	rng, value := rand.New(rand.NewPCG(1, 6)), make([]byte, 20)
	var key [8]byte
	set := func() int {
		binary.LittleEndian.PutUint64(key[:], rng.Uint64())
		before := low.n
		if err := tier.setKey(key[:], value, 0); err != nil {
			t.Fatal(err)
		}
		return low.n - before
	}
	for low.n < 5000 {
		set()
	}
	const sets = 20_000
	many := 0
	for range sets {
		if set() > tier.maxWalk {
			many++
		}
	}
	if many > sets/1000 {
		t.Errorf("%d of %d writes let more than %d records go", many, sets, tier.maxWalk)
	}
	st := tier.Stats()
	if free := st.Budget - st.Used; free > st.Budget/64 {
		t.Errorf("%d of %d bytes are free", free, st.Budget)
	}
	if err := tier.Check(); err != nil {
		t.Error(err)
	}
}

// A step ahead of need is left out while the lower tier is busy, or enough is free.
func TestNoStepAheadWithoutNeed(t *testing.T) {
	t.Parallel()
	d := newDrained(t, 64<<10, 0)
	for _, c := range []struct{ busy, short, want bool }{{true, true, false}, {false, false, false}, {false, true, true}} {
		d.low.busy.Store(c.busy)
		d.Tier.freeAhead = -d.pool.Limit
		if c.short {
			d.Tier.freeAhead = d.pool.Limit
		}
		before := d.low.accepted
		var left evicted.List
		d.reclaimAhead(&d.shards[0], 1, &left)
		left.Notify()
		if n := d.low.accepted - before; n > 0 != c.want {
			t.Errorf("busy %v, short %v: %d records left", c.busy, c.short, n)
		}
	}
	if err := d.Check(); err != nil {
		t.Error(err)
	}
}

// counting is a lower tier that counts what it takes.
type counting struct {
	costly
	n int
}

func (c *counting) Demote(uint64, []byte, []byte, int64, bool, record.Copy) bool {
	c.n++
	return true
}

// Nor has a write of a record that is longer than a segment often many records to keep and to
// evict, though it drains several segments.
func TestWritesOfLongRecordsShareDrains(t *testing.T) {
	oneGoroutine(t)
	t.Parallel()
	tier, rng, value := newTier(t, 16<<20), rand.New(rand.NewPCG(2, 6)), make([]byte, 6<<10)
	zipf := rand.NewZipf(rng, 1.2, 8, 11_000)
	var key [8]byte
	drained := func() uint64 {
		st := tier.Stats()
		return st.Evicted + st.Reinserted
	}
	set := func() uint64 {
		for found := true; found; _, found = tier.Get(nil, key[:]) {
			binary.LittleEndian.PutUint64(key[:], zipf.Uint64())
		}
		before := drained()
		if err := tier.setKey(key[:], value, 0); err != nil {
			t.Fatal(err)
		}
		return drained() - before
	}
	for range 7000 {
		set()
	}
	const sets, most = 5000, 5
	many := 0
	for range sets {
		if set() > most {
			many++
		}
	}
	if many > sets/50 { // 63, and 124 without steps ahead
		t.Errorf("%d of %d writes drained more than %d records", many, sets, most)
	}
	if err := tier.Check(); err != nil {
		t.Error(err)
	}
}

// A write of a record that is long for its shard does not evict it again, ahead of the need of
// the next.
func TestWriteKeepsItsLongRecord(t *testing.T) {
	oneGoroutine(t)
	t.Parallel()
	for bytes, share := range map[int64]int64{4 << 20: 10, 16 << 20: 32} { // of a shard's MiB, on average
		tier, rng := newTier(t, bytes), rand.New(rand.NewPCG(1, 2))
		zipf := rand.NewZipf(rng, 1.05, 8, uint64(20*bytes/(1<<20/share)))
		for range 20_000 {
			key := binary.LittleEndian.AppendUint64(nil, zipf.Uint64())
			if err := tier.setKey(key, make([]byte, rng.Int64N(2*(1<<20)/share)), 0); err != nil {
				t.Fatal(err)
			}
			if _, ok := tier.Get(nil, key); !ok {
				t.Fatalf("%d bytes: a record of a %dth of its shard is gone after it was written", bytes, share)
			}
		}
	}
}
