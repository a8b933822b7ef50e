package kinds

import (
	"context"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
)

type (
	personID int64
	orderID  int64
	position struct {
		X, Y float64
	}
	tileKey struct {
		Layer  string
		Zoom   uint8
		Corner [2]int32
		_      int32
		At     position
		HiDPI  bool
	}
)

func TestTypedKeysOfParts(t *testing.T) {
	checkTyped(t, true, false)
	checkTyped(t, position{1, 2}, position{2, 1})
	checkTyped(t, tileKey{Layer: "a", Zoom: 1}, tileKey{Layer: "a", HiDPI: true})
}

// Keys that == holds equal have one value.
func TestEqualKeysHaveOneValue(t *testing.T) {
	typed := harness.NewTyped(t, harness.OpenSmall(t), "n", firn.TypedOptions[position, string]{})
	if err := typed.Set(position{0, math.Copysign(0, -1)}, "origin"); err != nil {
		t.Fatal(err)
	}
	if v, ok := typed.Get(position{math.Copysign(0, -1), 0}); !ok || v != "origin" {
		t.Errorf("got %q, %v", v, ok)
	}
}

// NaN is a key that nobody could find again: each call says so, but for those that
// have no error, which find nothing.
func TestNaNIsNoTypedKey(t *testing.T) {
	typed := harness.NewTyped(t, harness.OpenSmall(t), "n", firn.TypedOptions[tileKey, string]{})
	ctx, key := context.Background(), tileKey{At: position{Y: math.NaN()}}
	_, ofLookup := typed.Lookup(ctx, key)
	_, ofLoad := typed.GetOrLoad(ctx, key, func(context.Context, tileKey) (string, error) {
		t.Error("a value for NaN is loaded")
		return "", nil
	})
	var batch firn.TypedBatch[string]
	ofMulti := typed.GetOrLoadMulti(ctx, &batch, []tileKey{key}, func(context.Context, []tileKey) (map[tileKey]string, error) { return nil, nil })
	for call, err := range map[string]error{
		"Set": typed.Set(key, "v"), "Delete": typed.Delete(key), "Lookup": ofLookup, "GetOrLoad": ofLoad, "GetOrLoadMulti": ofMulti,
	} {
		if err == nil || !strings.Contains(err.Error(), "kinds.tileKey: field At.Y is NaN") {
			t.Errorf("%s: %v, want an error that names the field", call, err)
		}
	}
	if _, ok := typed.Get(key); ok || typed.Has(key) {
		t.Error("there is a value for NaN")
	}
}

// Types of keys are apart within a namespace's name, though their bits are the same:
// whatever one does, the others' values stay, and nobody else sees them.
func TestTypesOfKeysAreApart(t *testing.T) {
	c := harness.OpenSmall(t)
	people := harness.NewTyped(t, c, "n", firn.TypedOptions[personID, string]{})
	orders := harness.NewTyped(t, c, "n", firn.TypedOptions[orderID, string]{})
	names := harness.NewTyped(t, c, "n", firn.TypedOptions[string, string]{})
	bits := string(binary.LittleEndian.AppendUint64(nil, 7))
	if err := people.Set(7, "Ada"); err != nil {
		t.Fatal(err)
	}
	for id, order := range orders.All() {
		t.Errorf("order %d is %q", id, order)
	}
	if order, ok := orders.Get(7); ok || orders.Has(7) {
		t.Errorf("order 7 is %q", order)
	}
	if name, ok := names.Get(bits); ok || names.Has(bits) {
		t.Errorf("%q is %q", bits, name)
	}
	orders.Delete(7)
	names.Set(bits, "seven")
	names.Clear(t.Context())
	if name, ok := people.Get(7); !ok || name != "Ada" || people.Len() != 1 || c.Stats().Mismatches != 0 {
		t.Errorf("person 7 is %q, %v of %d, and there were %d mismatches: want Ada of 1, and none", name, ok, people.Len(), c.Stats().Mismatches)
	}
}

// Types that are not declared are one if their bytes mean the same.
func TestIntegersOfOneSizeAreOne(t *testing.T) {
	c := harness.OpenSmall(t)
	signed := harness.NewTyped(t, c, "n", firn.TypedOptions[int64, string]{})
	unsigned := harness.NewTyped(t, c, "n", firn.TypedOptions[uint64, string]{})
	if err := signed.Set(7, "Ada"); err != nil {
		t.Fatal(err)
	}
	if v, ok := unsigned.Get(7); !ok || v != "Ada" {
		t.Errorf("got %q, %v", v, ok)
	}
}

// A front is told of writes to keys of parts.
func TestFrontOfStructKeys(t *testing.T) {
	c := harness.OpenSmall(t)
	opts := firn.TypedOptions[tileKey, string]{}
	plain := harness.NewTyped(t, c, "n", opts)
	opts.HotValues = 1000
	front := harness.NewTyped(t, c, "n", opts)
	key, other := tileKey{Layer: "roads", At: position{X: 1}}, tileKey{Layer: "roads", At: position{X: 2}}
	front.Set(key, "old")
	front.Set(other, "other")
	for range 2 {
		front.Get(key)
		front.Get(other)
	}
	if hits := c.Stats().FrontHits; hits != 2 {
		t.Fatalf("%d front hits, want 2: the test shows nothing", hits)
	}
	plain.Set(key, "new")
	if v, ok := front.Get(key); !ok || v != "new" {
		t.Errorf("after a Set: got %q, %v", v, ok)
	}
	plain.Delete(key)
	if v, ok := front.Get(key); ok {
		t.Errorf("after a Delete: got %q", v)
	}
	front.Get(other)
	if hits := c.Stats().FrontHits; hits != 3 {
		t.Errorf("%d front hits, want 3: the other key's value has to stay", hits)
	}
}

func TestFrontRefusesKeys(t *testing.T) {
	c := harness.OpenSmall(t)
	_, err := firn.NewTyped(c, "n", firn.TypedOptions[tenantKey, int]{HotValues: 1})
	if err == nil || !strings.Contains(err.Error(), "TypedOptions.HotValues with keys of type github.com/firncache/firn/internal/tests/kinds.tenantKey") {
		t.Errorf("got %v", err)
	}
}
