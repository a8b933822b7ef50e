package ram

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/firncache/firn/internal/evicted"
)

// SetMulti sets the keys of a batch, of any number, in their order: each value is told to
// OnEvict when the next one of its key comes, and the last one stays. Each has a deadline
// of its own.
func TestSetMultiInOrder(t *testing.T) {
	t.Parallel()
	var told, want []string
	tier, err := New(Config{
		Bytes: 1 << 20, Seed: 1, Now: func() int64 { return 1 },
		OnEvict: func(key, value []byte, cause evicted.Cause) {
			told = append(told, fmt.Sprintf("%s: %s, %d", key, value, cause))
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	tier.janitor.once.Do(func() {})
	defer tier.Free()
	last := map[string]string{}
	for n := range 4*ahead + 2 {
		var keys, values [][]byte
		for i := range n {
			key, value := fmt.Sprintf("key %d", i%5), fmt.Sprintf("value %02d of %02d", i, n)
			keys, values = append(keys, []byte(key)), append(values, []byte(value))
			if old := last[key]; old != "" {
				want = append(want, fmt.Sprintf("%s: %s, %d", key, old, evicted.Replaced))
			}
			last[key] = value
		}
		deadline := int64(1000)
		if _, err := tier.SetMulti(keys, values, 0, func() int64 { deadline++; return deadline }); err != nil {
			t.Fatal(err)
		}
		for i := max(0, n-5); i < n; i++ {
			v, d, ok := tier.peekStaleKey(nil, keys[i])
			if !ok || string(v) != string(values[i]) || d != int64(1001+i) {
				t.Errorf("%d keys: %s is %q with deadline %d, %v; want %q", n, keys[i], v, d, ok, values[i])
			}
		}
	}
	if !slices.Equal(told, want) {
		t.Errorf("OnEvict was told %q, want %q", told, want)
	}
}

// SetMulti stores what it can, and returns the first error and whose it is.
func TestSetMultiFails(t *testing.T) {
	t.Parallel()
	tier, err := New(Config{Bytes: MinBytes, Seed: 1, Now: func() int64 { return 1 }})
	if err != nil {
		t.Fatal(err)
	}
	defer tier.Free()
	var keys, values [][]byte
	for i := range 3 * ahead {
		keys, values = append(keys, fmt.Appendf(nil, "key %d", i)), append(values, []byte("value"))
	}
	values[3], values[7] = make([]byte, MinBytes), make([]byte, MinBytes)
	if at, err := tier.SetMulti(keys, values, 0, nil); at != 3 || !errors.Is(err, ErrTooLarge) {
		t.Errorf("key %d: %v", at, err)
	}
	for i, key := range keys {
		if _, ok := tier.Get(nil, key); ok != (i != 3 && i != 7) {
			t.Errorf("key %d: found %v", i, ok)
		}
	}
	tier.Close()
	if at, err := tier.SetMulti(keys, values, 0, nil); at != 0 || !errors.Is(err, ErrClosed) {
		t.Errorf("closed: key %d: %v", at, err)
	}
}
