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
