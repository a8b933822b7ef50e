package cbor

import (
	"testing"

	"github.com/firncache/firn/codec/codectest"
)

var suite = codectest.Suite{
	User: New[codectest.User](), Pointer: New[*codectest.Address](), Bytes: New[[]byte](), String: New[string](), Ints: New[[]int](), Strings: New[[]string](),
	Map: New[map[string]string](), Counts: New[map[string]int](), Uint64: New[uint64](), Int64: New[int64](), Float32: New[float32](), Bool: New[bool](), Any: New[any](),
}

func TestCBOR(t *testing.T) {
	suite.Check(t)
}

type list struct{ Next *list }

// Values may be nested as deep as the library reads at all.
func TestNesting(t *testing.T) {
	v := new(list)
	for range 65_534 {
		v = &list{v}
	}
	codectest.Check(t, New[*list](), func(a, b *list) bool {
		for a != nil && b != nil {
			a, b = a.Next, b.Next
		}
		return a == b
	}, v)
}

func FuzzCBOR(f *testing.F) { suite.Fuzz(f) }
