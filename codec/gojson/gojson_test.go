package gojson

import (
	"testing"

	"github.com/firncache/firn/codec/codectest"
)

var suite = codectest.Suite{
	User: New[codectest.User](), Pointer: New[*codectest.Address](), Bytes: New[[]byte](), String: New[string](), Ints: New[[]int](), Strings: New[[]string](),
	Map: New[map[string]string](), Counts: New[map[string]int](), Uint64: New[uint64](), Int64: New[int64](), Float32: New[float32](), Bool: New[bool](), Any: New[any](),
}

func TestGoJSON(t *testing.T) {
	suite.Check(t)
}

func FuzzGoJSON(f *testing.F) { suite.Fuzz(f) }
