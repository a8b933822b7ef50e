//go:build !race && !firn_skip_validation

package ram

import (
	"bytes"
	"reflect"
	"testing"
	"unsafe"

	"github.com/firncache/firn/internal/index"
	"github.com/firncache/firn/internal/policy"
	"github.com/firncache/firn/internal/record"
)

// Get in assembly knows where the fields of other packages' types lie.
func TestOffsetsInAssembly(t *testing.T) {
	for _, c := range []struct {
		of    reflect.Type
		field string
		want  uintptr
	}{
		{reflect.TypeFor[index.Table](), "shape", tableShape},
		{reflect.TypeFor[index.Table](), "mask", tableMask},
		{reflect.TypeFor[index.Table](), "chunks", tableChunks},
		{reflect.TypeFor[index.Table](), "chunkShift", tableChunkShift},
		{reflect.TypeFor[index.Bucket](), "tags", 0},
		{reflect.TypeFor[index.Bucket](), "locs", bucketLocations},
		{reflect.TypeFor[policy.Tuner](), "mask", tunerMask},
		{reflect.TypeFor[record.Hasher](), "s", 0},
		{reflect.TypeFor[readCounters](), "stripes", 0},
		{reflect.TypeFor[stripe](), "misses", 8},
	} {
		f, ok := c.of.FieldByName(c.field)
		if !ok || f.Offset != c.want {
			t.Errorf("%v.%s lies at %d, %v: want %d", c.of, c.field, f.Offset, ok, c.want)
		}
	}
	if n := unsafe.Offsetof(shard{}.table) + tableChunks + 8; n > 64 {
		t.Errorf("what Get reads of a shard takes %d bytes: more than a cache line", n)
	}
	if n := reflect.TypeFor[stripe]().Size(); n != 1<<6 {
		t.Errorf("a stripe has %d bytes", n)
	}
}

// Get in assembly knows what a record's shape is made of.
func TestShapeInAssembly(t *testing.T) {
	if s := record.ShapeOf(1023, 7, true); s != 1<<30|1023<<20|7 {
		t.Errorf("shape %#x", s)
	}
	for _, s := range []record.Shape{record.ShapeOf(5, 1<<20, false), record.ShapeOf(5, 1<<20, true), record.ShapeOf(1<<10, 7, false)} {
		if s>>31 != 1 {
			t.Errorf("shape %#x of a long record looks like a short one", s)
		}
	}
}

// On a processor that has not its instructions, getFast leaves all to Tier.get.
func TestGetOnOldProcessor(t *testing.T) {
	tier := newUnsampled(t, Config{Bytes: 1 << 20, Seed: 1, Now: func() int64 { return 1 }})
	defer func(n uint64) { shortKeys = n }(shortKeys)
	for _, n := range []int{0, 4, 8, 12, 16, 17, 40, 2000} {
		key := bytes.Repeat([]byte("k"), n)
		if err := tier.setKey(key, []byte("value"), 0); err != nil {
			t.Fatal(err)
		}
		shortKeys = 0
		if n, _ := getFast(tier, make([]byte, 0, 200), string(key)); n != unusual {
			t.Errorf("getFast of a key of %d bytes: %d", len(key), n)
		}
		if v, ok := tier.Get(nil, key); !ok || string(v) != "value" {
			t.Errorf("Get of a key of %d bytes: %q, %v", len(key), v, ok)
		}
	}
}

// The records that most caches hold are getFast's: with and without deadline, with room
// that append made.
func TestGetIsFast(t *testing.T) {
	if shortKeys == 0 {
		t.Skip("not on this processor")
	}
	now := int64(1_000_000)
	tier := newUnsampled(t, Config{Bytes: 8 << 20, Seed: 1, Now: func() int64 { return now }, Ticking: true})
	for keyLen := 4; keyLen <= 1023; keyLen += 1 + keyLen/10 {
		for valueLen := 0; valueLen <= 1100; valueLen += 1 + valueLen/7 {
			for _, deadline := range []int64{0, now + 2*slack} {
				key, value := bytes.Repeat([]byte("k"), keyLen), bytes.Repeat([]byte("v"), valueLen)
				for { // until it lies in one segment
					if err := tier.setKey(key, value, deadline); err != nil {
						t.Fatal(err)
					}
					hash := tier.Hash(key)
					_, _, r, _ := tier.shardOf(hash).find(hash, key)
					if tier.whole(r.off, uint64(16+keyLen+valueLen)) {
						break
					}
					tier.deleteKey(key)
				}
				for _, room := range []int{valueLen, cap(append([]byte(nil), value...)), valueLen + 128} {
					if n, at := getFast(tier, make([]byte, 0, room), string(key)); n != valueLen || at != deadline {
						t.Fatalf("key of %d bytes, value of %d, room for %d: %d, deadline %d: want %d", keyLen, valueLen, room, n, at, deadline)
					}
				}
				tier.deleteKey(key)
			}
		}
	}
}
