package bytes

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// LookupEntry tells the value, its time and its tier, in one look that counts as a read.
func TestLookupEntry(t *testing.T) {
	clock := &cachetest.Clock{}
	c := touchedOnSSD(t, vfstest.NewMem(), clock)
	clock.Advance(time.Minute)
	for i, tier := range []firn.Tier{firn.TierSSD, firn.TierRAM} {
		before := c.Stats()
		e, err := c.LookupEntry(t.Context(), []byte("dst "), []byte("k"))
		if string(e.Value) != "dst v" || e.TTL != 59*time.Minute || e.Tier != tier || err != nil {
			t.Errorf("%q, %v, %v, %v", e.Value, e.TTL, e.Tier, err)
		}
		if hits := c.Stats().Hits - before.Hits; hits != 1 {
			t.Errorf("look %d: %d hits", i, hits)
		}
	}
	if err := c.Set([]byte("ever"), nil); err != nil {
		t.Fatal(err)
	}
	if e, err := c.LookupEntry(t.Context(), nil, []byte("ever")); e.TTL != firn.Forever || e.Tier != firn.TierRAM || err != nil {
		t.Errorf("%+v, %v", e, err)
	}
	if e, err := c.LookupEntry(t.Context(), []byte("dst"), []byte("absent")); string(e.Value) != "dst" || e.TTL != 0 || e.Tier != 0 || !errors.Is(err, firn.ErrNotFound) {
		t.Errorf("%+v, %v", e, err)
	}
}

// A typed cache tells of its hot values, too.
func TestTypedLookupEntry(t *testing.T) {
	clock := &cachetest.Clock{}
	c := harness.OpenOn(t, vfstest.NewMem(), func(o *firn.Options) { o.Clock, o.TTL = clock.Now, time.Hour })
	plain := harness.NewTyped(t, c, "plain", firn.TypedOptions[string, string]{HotValues: -1})
	front := harness.NewTyped(t, c, "front", harness.WithFront(firn.TypedOptions[string, string]{}))
	for _, typed := range []*firn.Typed[string, string]{plain, front} {
		if err := typed.Set("k", "v"); err != nil {
			t.Fatal(err)
		}
	}
	harness.Demote(t, c)
	for typed, tiers := range map[*firn.Typed[string, string]][]firn.Tier{
		plain: {firn.TierSSD, firn.TierRAM, firn.TierRAM},
		front: {firn.TierSSD, firn.TierFront, firn.TierFront},
	} {
		for _, tier := range tiers {
			if e, err := typed.LookupEntry(t.Context(), "k"); e.Value != "v" || e.TTL != time.Hour || e.Tier != tier || err != nil {
				t.Errorf("%+v, %v, want the %v", e, err, tier)
			}
		}
		if e, err := typed.LookupEntry(t.Context(), "absent"); e != (firn.TypedEntry[string]{}) || !errors.Is(err, firn.ErrNotFound) {
			t.Errorf("%+v, %v", e, err)
		}
	}
}

func TestTierText(t *testing.T) {
	b, err := json.Marshal([]firn.Tier{firn.TierFront, firn.TierRAM, firn.TierSSD, 9})
	if want := `["front","RAM","SSD","Tier(9)"]`; string(b) != want || err != nil {
		t.Errorf("%s, %v, want %s", b, err, want)
	}
}
