package ram

import (
	"bytes"
	"testing"
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
	if n := tier.Stats().Sets; n != uint64(3*len(keys)) {
		t.Errorf("%d sets counted, want %d", n, 3*len(keys))
	}
}
