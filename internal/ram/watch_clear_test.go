package ram

import (
	"testing"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/watch"
)

// A load from before Clear does not store where Clear has been, though Clear is not
// over.
func TestWatchDuringClear(t *testing.T) {
	t.Parallel()
	key := []byte("key")
	var tier *Tier
	var w watch.Watch
	var left evicted.List
	told := false
	tier, err := New(Config{Bytes: MinBytes, Seed: 1, Now: func() int64 { return 1000 }, OnEvict: func(k, _ []byte, _ evicted.Cause) {
		told = true
		if err := tier.SetIf(&w, []byte("loaded"), 0, &left); err != watch.ErrChanged {
			t.Errorf("%v, want %v", err, watch.ErrChanged)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer tier.Free()
	if err := tier.setKey(key, []byte("old"), 0); err != nil {
		t.Fatal(err)
	}
	tier.watchKey(&w, key)
	defer tier.Unwatch(&w)
	tier.Clear()
	if n := tier.Len(); !told || n != 0 {
		t.Errorf("told: %v; %d records are there", told, n)
	}
}
