package ram

import (
	"fmt"
	"testing"
)

// Each key of the next reads is noted, as often as it is read, and none before the first call or beyond a burst.
func TestReadKeys(t *testing.T) {
	tier := newTier(t, 4<<20)
	key := func(i int) []byte { return fmt.Appendf(nil, "key %d", i) }
	for i := range 100 {
		if err := tier.setKey(key(i), []byte("value"), 0); err != nil {
			t.Fatal(err)
		}
	}
	read := func(n int) {
		for i := range n {
			if _, ok := tier.Get(nil, key(i%100)); !ok {
				t.Fatalf("%s is gone", key(i%100))
			}
			tier.Get(nil, []byte("none"))
		}
	}
	read(100)
	if keys := tier.ReadKeys(); len(keys) != 0 {
		t.Errorf("%d keys were noted before anybody called", len(keys))
	}
	read(200)
	counts := map[string]int{}
	for _, k := range tier.ReadKeys() {
		counts[string(k)]++
	}
	if len(counts) != 100 || counts["key 0"] != 2 || counts["key 99"] != 2 {
		t.Errorf("%d keys of 100, one %d and one %d times: want each twice", len(counts), counts["key 0"], counts["key 99"])
	}
	read(10 * maxReadKeys)
	if keys := tier.ReadKeys(); len(keys) != maxReadKeys {
		t.Errorf("%d keys of a burst, want %d", len(keys), maxReadKeys)
	}
	read(maxReadKeys)
	if mask := tier.tuner.Sampled; mask(1) && mask(2) && mask(4) {
		t.Error("each read is reported after a burst")
	}
}
