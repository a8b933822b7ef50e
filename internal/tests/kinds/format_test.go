package kinds

import (
	"encoding/hex"
	"net/netip"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
)

// storedBy is what the entry looks like that set stores, as hexadecimal digits:
// its key without the number of the generation, and its value.
func storedBy(t *testing.T, set func(c *firn.Cache) error) (key, value string) {
	t.Helper()
	c := harness.OpenSmall(t)
	if err := set(c); err != nil {
		t.Fatal(err)
	}
	for k, v := range c.All() {
		key, value = hex.EncodeToString(k[8:]), hex.EncodeToString(v)
	}
	return key, value
}

func typedSet[K comparable, V any](t *testing.T, k K, v V) func(*firn.Cache) error {
	return func(c *firn.Cache) error {
		return harness.NewTyped(t, c, "n", firn.TypedOptions[K, V]{Version: 3}).Set(k, v)
	}
}

// What is stored stays as it is: later versions of the package read it.
func TestStoredFormat(t *testing.T) {
	t.Parallel()
	type listed = struct {
		A int
		B []string `json:"b"`
	}
	for name, c := range map[string]struct {
		set        func(*firn.Cache) error
		key, value string
	}{
		"number under number": {typedSet(t, int32(-2), 1.5),
			"feffffff", "b94a8dea000000000000f83f"},
		"string under string": {typedSet(t, "key", "text"),
			"6b6579", "952794e874657874"},
		"bytes under array": {typedSet(t, [2]byte{1, 2}, []byte{3}),
			"0102", "c8a7a46b03"},
		"time under address": {typedSet(t, netip.MustParseAddr("10.0.0.1"), time.Unix(1, 2).UTC()),
			"0a000001", "2a3572c8010000000e7791f70100000002ffff"},
		"string under struct": {typedSet(t, struct {
			A int32
			B string
			C float64
			D bool
		}{-2, "k", 1, true}, "text"),
			"feffffff016b000000000000f03f01", "2cf0c02874657874"},
		"struct under number": {typedSet(t, uint64(7), listed{1, []string{"x"}}),
			"0700000000000000", "3131b2370100000000000000020178"},
		"complex under string": {typedSet(t, "k", complex64(1)),
			"6b", "fe4c5e92000000000000f03f0000000000000000"},
		"map under string": {typedSet(t, "k", map[string]bool{"x": true}),
			"6b", "c694789f02017801"},
	} {
		if key, value := storedBy(t, c.set); key != c.key || value != c.value {
			t.Errorf("%s: stored as\n%q, %q, want\n%q, %q", name, key, value, c.key, c.value)
		}
	}
}
