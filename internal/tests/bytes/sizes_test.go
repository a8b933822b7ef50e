package bytes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/tests/harness"
)

// Large values that fill half of a cache stay.
func TestHalfFullOfLargeValues(t *testing.T) {
	scale := 4
	if invariants.Race { // where bytes move by atomic words
		scale = 8
	}
	budget := 32 << 20 / scale
	for _, size := range []int{300_000, 1 << 20, 4 << 20, 100_000, 262_144, 262_120} {
		size /= scale
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			c := harness.Open(t, firn.Options{RAMBytes: int64(budget)})
			n := budget / 2 / size
			for i := range n {
				key := []byte(fmt.Sprint(i))
				harness.Set(t, c, key, cachetest.AppendValue(nil, key, uint64(i), size))
			}
			for i := range n {
				key := []byte(fmt.Sprint(i))
				v, ok := c.Get(nil, key)
				if !ok {
					t.Errorf("value %d of %d is gone", i, n)
				} else if seq, err := cachetest.Sequence(key, v); err != nil || seq != uint64(i) {
					t.Errorf("value %d of %d: write %d, %v", i, n, seq, err)
				}
			}
			if st := c.Stats(); st.Evictions != 0 {
				t.Errorf("%d evictions", st.Evictions)
			}
		})
	}
}

// A quarter of the budget, key included, is stored from the first to the last
// byte and in a cache of any age; a byte more is refused.
func TestLargestValue(t *testing.T) {
	// In the largest, a value has a length field of its own.
	for _, budget := range []int64{firn.MinRAMBytes, 100_000, 1 << 20, 5 << 20} {
		for _, keyLen := range []int{0, 16, 2000} {
			t.Run(fmt.Sprintf("%d/%d", budget, keyLen), func(t *testing.T) {
				t.Parallel()
				c := harness.Open(t, firn.Options{RAMBytes: budget})
				key := bytes.Repeat([]byte{'k'}, keyLen)
				most := int(budget/4) - keyLen
				for round := range 3 {
					value := cachetest.AppendValue(nil, key, uint64(round), most)
					harness.Set(t, c, key, value)
					if v, ok := c.Get(nil, key); !ok || !bytes.Equal(v, value) {
						t.Fatalf("round %d: %v, %d bytes, want %d", round, ok, len(v), most)
					}
					churn := int(budget / 400)
					if invariants.Race { // where bytes move by atomic words
						churn /= 8
					}
					for i := range churn {
						harness.Set(t, c, fmt.Appendf(nil, "%d.%d", round, i), make([]byte, 200))
					}
				}
				err := c.Set(key, make([]byte, most+1))
				if !errors.Is(err, firn.ErrTooLarge) || !strings.Contains(err.Error(), fmt.Sprint(most+1)) || !strings.Contains(err.Error(), fmt.Sprint(budget/4)) {
					t.Errorf("a byte more: %v: want ErrTooLarge that names %d and %d", err, most+1, budget/4)
				}
				if err := c.SetMulti(t.Context(), [][]byte{key, []byte("other")}, [][]byte{make([]byte, most+1), []byte("v")}); !errors.Is(err, firn.ErrTooLarge) {
					t.Errorf("SetMulti of a byte more: %v: want ErrTooLarge", err)
				}
				if v, ok := c.Get(nil, []byte("other")); !ok || string(v) != "v" {
					t.Errorf("the other value of that SetMulti: %q, %v", v, ok)
				}
			})
		}
	}
}

func TestEmptyKeyAndValue(t *testing.T) {
	c := harness.Open(t, firn.Options{RAMBytes: 1 << 20})
	for _, key := range [][]byte{nil, {}, []byte("k")} {
		if c.Has(key) {
			t.Fatalf("key %q is there", key)
		}
		for _, value := range [][]byte{nil, {}, []byte("v")} {
			harness.Set(t, c, key, value)
			v, ok := c.Get(nil, key)
			if !ok || string(v) != string(value) || !c.Has(key) {
				t.Errorf("key %q, value %q: Get returns %q, %v", key, value, v, ok)
			}
		}
		if err := c.Delete(key); err != nil || c.Has(key) {
			t.Errorf("key %q after Delete: %v, %v", key, err, c.Has(key))
		}
	}
}

// What the caller lent or was given may be changed.
func TestCopies(t *testing.T) {
	c := harness.Open(t, firn.Options{RAMBytes: 1 << 20})
	key, value := []byte("key"), []byte("value")
	harness.Set(t, c, key, value)
	key[0], value[0] = 'X', 'X'
	got, ok := c.Get(nil, []byte("key"))
	if !ok || string(got) != "value" {
		t.Fatalf("after a change of what was lent: %q, %v", got, ok)
	}
	got[0] = 'X'
	var b firn.Batch
	c.GetMulti(t.Context(), &b, [][]byte{[]byte("key")})
	v, ok := b.Value(0)
	if !ok || string(v) != "value" {
		t.Fatalf("after a change of what was returned: %q, %v", v, ok)
	}
	v[0] = 'X'
	_ = append(v, "more"...)
	for k, v := range c.All() {
		if string(k) != "key" || string(v) != "value" {
			t.Errorf("All yields %q, %q", k, v)
		}
		k[0], v[0] = 'X', 'X'
	}
	if got, ok = c.Get([]byte("dst:"), []byte("key")); !ok || string(got) != "dst:value" {
		t.Errorf("%q, %v", got, ok)
	}
}

// A batch may name a key twice, and be longer than a window.
func TestBatch(t *testing.T) {
	c := harness.Open(t, firn.Options{RAMBytes: 4 << 20})
	var keys, values [][]byte
	for i := range 1000 {
		keys = append(keys, fmt.Append(nil, i%700))
		values = append(values, fmt.Append(nil, "value of ", i))
	}
	if err := c.SetMulti(t.Context(), keys, values); err != nil {
		t.Fatal(err)
	}
	var b firn.Batch
	c.GetMulti(t.Context(), &b, append(keys, []byte("absent"), nil))
	if b.Len() != 1002 {
		t.Fatalf("%d values, want 1002", b.Len())
	}
	for i := range keys {
		last := i
		if i+700 < 1000 {
			last = i + 700
		}
		if v, ok := b.Value(i); !ok || string(v) != string(values[last]) {
			t.Errorf("value %d: %q, %v, want %q", i, v, ok, values[last])
		}
	}
	for i := 1000; i < 1002; i++ {
		if v, ok := b.Value(i); ok || len(v) != 0 {
			t.Errorf("value %d: %q, %v, want none", i, v, ok)
		}
	}
	c.GetMulti(t.Context(), &b, nil)
	if b.Len() != 0 {
		t.Errorf("an empty batch has %d values", b.Len())
	}
	if err := c.SetMulti(t.Context(), keys, values[1:]); err == nil || !strings.Contains(err.Error(), "999 values for 1000 keys") {
		t.Errorf("slices of different lengths: %v", err)
	}
}

// A key that is given for dst is a mistake that is seen, and an empty key is a key.
func TestKeyForDst(t *testing.T) {
	t.Parallel()
	c := harness.Open(t, firn.Options{RAMBytes: 1 << 20})
	ctx, key := t.Context(), []byte("key")
	load := func(context.Context, []byte) ([]byte, error) { return []byte("loaded"), nil }
	for _, none := range [][]byte{nil, {}} {
		harness.Must(t, c.Set(none, []byte("v")))
		_, entry := c.LookupEntry(ctx, key, none)
		for call, err := range map[string]error{
			"Lookup": harness.Err(c.Lookup(ctx, key, none)), "LookupEntry": entry, "GetAndDelete": harness.Err(c.GetAndDelete(ctx, key, none)),
			"GetOrLoad": harness.Err(c.GetOrLoad(ctx, key, none, load)), "Refresh": harness.Err(c.Refresh(ctx, key, none, load)),
		} {
			if err == nil || !strings.Contains(err.Error(), "want dst before the key") {
				t.Errorf("%s: %v", call, err)
			}
		}
		for _, dst := range [][]byte{nil, {}, make([]byte, 0, 10)} {
			if v, ok := c.Get(dst, none); !ok || string(v) != "v" {
				t.Errorf("Get: %q, %v", v, ok)
			}
			if v, err := c.Lookup(ctx, dst, none); err != nil || string(v) != "v" {
				t.Errorf("Lookup: %q, %v", v, err)
			}
		}
	}
	if v, ok := c.Get(key, []byte{}); !ok || string(v) != "keyv" {
		t.Errorf("Get of an empty key: %q, %v", v, ok)
	}
	defer func() {
		if recover() == nil {
			t.Error("Get(key, nil) did not panic")
		}
	}()
	c.Get(key, nil)
}
