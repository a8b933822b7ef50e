package ram

import (
	"testing"

	"github.com/firncache/firn/internal/index"
)

// readers is a lower tier during whose calls others read every record.
type readers struct {
	*lower
	tier *Tier
}

func (r *readers) Prefetch(hash uint64) {
	table := &r.tier.shardOf(hash).table
	for b := table.Bucket(index.Home(hash, table.Shape())); b != nil; b = table.Next(b) {
		for m := b.Used(); m != 0; {
			b.SetFreq(m.Next(), index.MaxFreq)
		}
	}
}

// A write ends though every record is read again while it looks for one to evict.
func TestEvictionUnderReads(t *testing.T) {
	oneGoroutine(t)
	t.Parallel()
	now := int64(1000)
	low := &readers{lower: newLower()}
	low.tier = newOverLower(t, 64<<10, low, &now)
	ends(t, "Set", func() { fill(t, low.tier, 3000, 40) })
	if st := low.tier.Stats(); st.Demoted == 0 || st.Entries < 100 {
		t.Errorf("%d records are there, %d left", st.Entries, st.Demoted)
	}
	ends(t, "SetBytes", func() {
		if err := low.tier.SetBytes(low.tier.minBytes()); err != nil {
			t.Error(err)
		}
	})
	if err := low.tier.Check(); err != nil {
		t.Error(err)
	}
}
