package msgpack

import (
	"strings"
	"testing"

	"github.com/firncache/firn/codec/codectest"
)

var suite = codectest.Suite{
	User: New[codectest.User](), Pointer: New[*codectest.Address](), Bytes: New[[]byte](), String: New[string](), Ints: New[[]int](), Strings: New[[]string](),
	Map: New[map[string]string](), Counts: New[map[string]int](), Uint64: New[uint64](), Int64: New[int64](), Float32: New[float32](), Bool: New[bool](), Any: New[any](),
}

func TestMsgpack(t *testing.T) {
	suite.Check(t)
	codectest.Check(t, New[complex128](), nil, complex(1, 2))
}

func TestWellFormed(t *testing.T) {
	for _, bad := range []string{
		"",
		"\xc1",                        // never used
		"\xc0\xc0",                    // two values
		"\xdd\xff\xff\xff\xff",        // four billion values to come
		"\xdf\xff\xff\xff\xff\x01",    // as many pairs
		"\xc6\xff\xff\xff\xff\x01",    // as many bytes
		"\xa5abc",                     // a string cut short
		"\x92\x01",                    // an array of two with one
		strings.Repeat("\x91", 1<<20), // nested without end
		strings.Repeat("\x91", maxDepth+1) + "\x01",
	} {
		if err := wellFormed([]byte(bad)); err == nil {
			t.Errorf("%.20q: no error", bad)
		}
	}
	for _, good := range []string{"\x00", "\xff", "\xc0", "\xd8" + strings.Repeat("x", 17), "\xc7\x02\x05ab", "\x81\xa1a\x92\x01\x02", "\x90", "\x80",
		"\xdc\x00\x02\x01\x02", "\xde\x00\x01\x01\x02", "\xd9\x01a", "\xda\x00\x01a", "\xc4\x01a", "\xc5\x00\x01a", "\xcb12345678", strings.Repeat("\x91", maxDepth) + "\x01"} {
		if err := wellFormed([]byte(good)); err != nil {
			t.Errorf("%.20q: %v", good, err)
		}
	}
}

func FuzzMsgpack(f *testing.F) { suite.Fuzz(f) }
