package firn_test

import (
	"context"
	"encoding/binary"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/tests/harness"
)

// No call allocates, once its buffers are warm.
func TestAllocations(t *testing.T) {
	if invariants.Race {
		t.Log("not run under the race detector, which allocates")
		return
	}
	ctx := context.Background()
	c := harness.Open(t, firn.Options{RAMBytes: 4 << 20})
	full := harness.Open(t, firn.Options{RAMBytes: 1 << 20})
	key, value, long := []byte("0123456789abcdef"), make([]byte, 64), make([]byte, 60_000)
	n := uint64(0)
	next := func() []byte { // a new key each time
		n++
		binary.LittleEndian.PutUint64(key, n)
		return key
	}
	var keys, values, newKeys [][]byte
	for i := range 64 {
		keys = append(keys, binary.LittleEndian.AppendUint64(nil, 1<<40+uint64(i)))
		newKeys = append(newKeys, make([]byte, 16))
		values = append(values, value)
	}
	hit, absent, huge := []byte("hit"), []byte("absent"), []byte("huge")
	harness.Set(t, c, hit, value)
	harness.Set(t, c, huge, long)
	for range 40_000 {
		harness.Set(t, full, next(), value)
	}
	if full.Stats().Evictions == 0 {
		t.Fatal("the full cache is not full")
	}
	dst := make([]byte, 0, 100_000)
	var b firn.Batch
	load := func(context.Context, []byte) ([]byte, error) { return nil, firn.ErrNotFound }
	for name, call := range map[string]func(){
		"Get hit":          func() { c.Get(dst, hit) },
		"Get long":         func() { c.Get(dst, huge) },
		"Get miss":         func() { c.Get(dst, absent) },
		"Lookup hit":       func() { c.Lookup(ctx, dst, hit) },
		"Lookup miss":      func() { c.Lookup(ctx, dst, absent) },
		"Has":              func() { c.Has(hit) },
		"TTL":              func() { c.TTL(hit) },
		"Set in place":     func() { c.Set(hit, value) },
		"Set appended":     func() { c.Set(hit, value[:1+n%60]); n++ },
		"Set long":         func() { c.Set(huge, long) },
		"Set new":          func() { c.Set(next(), value) },
		"Set evicting":     func() { full.Set(next(), value) },
		"Set long evicts":  func() { full.Set(next(), long) },
		"SetWithTTL":       func() { c.SetWithTTL(hit, value, time.Hour) },
		"SetWithTTL new":   func() { full.SetWithTTL(next(), value, time.Hour) },
		"Delete":           func() { c.Set(key, value); c.Delete(key) },
		"Delete of absent": func() { c.Delete(absent) },
		"GetMulti":         func() { c.GetMulti(ctx, &b, keys) },
		"SetMulti":         func() { c.SetMulti(ctx, keys, values) },
		"SetMulti evicting": func() {
			for _, k := range newKeys {
				n++
				binary.LittleEndian.PutUint64(k, n)
			}
			full.SetMulti(ctx, newKeys, values)
		},
		"GetOrLoad hit": func() { c.Set(hit, value); c.GetOrLoad(ctx, dst, hit, load) },
		"Len":           func() { c.Len() },
		"Stats":         func() { c.Stats() },
	} {
		call() // warm
		if got := testing.AllocsPerRun(2000, call); got != 0 {
			t.Errorf("%s: %v allocations, want none", name, got)
		}
	}
}
