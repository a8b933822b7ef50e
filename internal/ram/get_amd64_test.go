//go:build !race && !firn_skip_validation

package ram

import (
	"reflect"
	"testing"

	"github.com/firncache/firn/internal/index"
	"github.com/firncache/firn/internal/offheap"
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
		{reflect.TypeFor[index.Table](), "chunkMask", tableChunkMask},
		{reflect.TypeFor[index.Bucket](), "tags", 0},
		{reflect.TypeFor[index.Bucket](), "locs", bucketLocations},
		{reflect.TypeFor[policy.Tuner](), "mask", tunerMask},
		{reflect.TypeFor[offheap.Region](), "base", 0},
		{reflect.TypeFor[record.Hasher](), "s", 0},
		{reflect.TypeFor[readCounters](), "stripes", 0},
		{reflect.TypeFor[stripe](), "misses", 8},
	} {
		f, ok := c.of.FieldByName(c.field)
		if !ok || f.Offset != c.want {
			t.Errorf("%v.%s lies at %d, %v: want %d", c.of, c.field, f.Offset, ok, c.want)
		}
	}
	if n := reflect.TypeFor[stripe]().Size(); n != 1<<6 {
		t.Errorf("a stripe has %d bytes", n)
	}
}

// Get in assembly knows what a record's shape is made of.
func TestShapeInAssembly(t *testing.T) {
	if s := record.ShapeOf(5, 7, true); s != 1<<30|5<<20|7 {
		t.Errorf("shape %#x", s)
	}
	if s := record.ShapeOf(5, 1<<20, false); s>>20 <= 16 {
		t.Errorf("shape %#x of a long record looks like a short key's", s)
	}
}
