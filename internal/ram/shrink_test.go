package ram

import (
	"testing"

	"github.com/firncache/firn/internal/ram/segments"
)

// The budget can be lowered while All is under way, by its body as well: to less
// than the index takes before.
func TestSetBytesDuringAll(t *testing.T) {
	t.Parallel()
	now := int64(1000)
	tier := newOverLower(t, 1<<20, nil, &now)
	fill(t, tier, 16_000, 0)
	least := tier.minBytes()
	if st := tier.Stats(); st.IndexBytes < least {
		t.Fatalf("the index takes %d bytes: want more than %d", st.IndexBytes, least)
	}
	ends(t, "All", func() {
		met := map[string]bool{}
		for key := range tier.All {
			if met[string(key)] {
				t.Errorf("key %x was met twice", key)
			}
			met[string(key)] = true
			if len(met) != 1000 {
				continue
			}
			if err := tier.SetBytes(least); err != nil {
				t.Error(err)
			}
			if st := tier.Stats(); st.Used > least || st.Entries == 0 {
				t.Errorf("%d of %d bytes are in use, by %d records", st.Used, least, st.Entries)
			}
		}
	})
	if err := tier.Check(); err != nil {
		t.Error(err)
	}
}

// What no shard can give up does not hold up who lowers the budget; what a write
// holds for a moment is waited for.
func TestSetBytesWithoutVictimsEnds(t *testing.T) {
	t.Parallel()
	tier := newTier(t, 1<<20)
	var others segments.Chain
	hold := &segments.Claim{}
	tier.pool.TakeFor(hold, &others, tier.pool.Limit/2, false)
	shrunk := make(chan error)
	go func() { shrunk <- tier.SetBytes(tier.minBytes()) }()
	for others.N > 0 {
		tier.pool.Give(others.Pop(tier.segs))
	}
	tier.pool.EndClaim(hold)
	ends(t, "SetBytes", func() {
		if err := <-shrunk; err != nil {
			t.Error(err)
		}
	})
	if st := tier.Stats(); st.Used > st.Budget {
		t.Errorf("%d of %d bytes are in use", st.Used, st.Budget)
	}

	if err := tier.SetBytes(1 << 20); err != nil {
		t.Fatal(err)
	}
	tier.pool.TakeFor(hold, &others, tier.pool.Limit/2, false)
	tier.pool.EndClaim(hold) // as if they were the index's
	ends(t, "SetBytes", func() {
		if err := tier.SetBytes(tier.minBytes()); err != nil {
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
