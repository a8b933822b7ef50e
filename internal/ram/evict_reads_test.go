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
	t.Parallel()
	now := int64(1000)
	below := &readers{lower: newLower()}
	below.tier = newAbove(t, 64<<10, below, &now)
	ends(t, "Set", func() { fill(t, below.tier, 3000, 40) })
	if st := below.tier.Stats(); st.Demoted == 0 || st.Entries < 100 {
		t.Errorf("%d records are there, %d left", st.Entries, st.Demoted)
	}
	ends(t, "SetBytes", func() {
		if err := below.tier.SetBytes(below.tier.minBytes()); err != nil {
			t.Error(err)
		}
	})
	if err := below.tier.Check(); err != nil {
		t.Error(err)
	}
}
