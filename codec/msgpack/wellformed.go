package msgpack

import (
	"errors"
	"fmt"
)

// maxDepth is how deep values may be nested, as in encoding/json.
const maxDepth = 10_000

var errTruncated = errors.New("msgpack: the bytes end within a value")

// wellFormed checks that src is one MessagePack value: that everything it
// announces is there, and that it is not nested too deeply.
// The format: https://github.com/msgpack/msgpack/blob/master/spec.md
func wellFormed(src []byte) error {
	left := []uint64{1} // values still to come, for each level of nesting
	for len(left) > 0 {
		top := len(left) - 1
		if left[top] == 0 {
			left = left[:top]
			continue
		}
		left[top]--
		if len(src) == 0 {
			return errTruncated
		}
		skip, values, err := head(src)
		if err != nil {
			return err
		}
		if skip > uint64(len(src)) || values > uint64(len(src)) {
			return errTruncated
		}
		src = src[skip:]
		if values > 0 {
			if len(left) > maxDepth {
				return fmt.Errorf("msgpack: values are nested more than %d deep", maxDepth)
			}
			left = append(left, values)
		}
	}
	if len(src) > 0 {
		return fmt.Errorf("msgpack: %d bytes behind the value", len(src))
	}
	return nil
}

// head reads the beginning of a value: how many bytes it has, those of values
// within it apart, and how many those are.
func head(src []byte) (skip, values uint64, err error) {
	switch c := src[0]; {
	case c <= 0x7f || c >= 0xe0: // small integers
		return 1, 0, nil
	case c <= 0x8f: // map of up to 15
		return 1, 2 * uint64(c&0x0f), nil
	case c <= 0x9f: // array of up to 15
		return 1, uint64(c & 0x0f), nil
	case c <= 0xbf: // string of up to 31
		return 1 + uint64(c&0x1f), 0, nil
	case c == 0xc1:
		return 0, 0, errors.New("msgpack: byte c1, which is never used")
	default:
		k := kinds[c-0xc0]
		n, ok := length(src, k.length)
		if !ok {
			return 0, 0, errTruncated
		}
		return 1 + uint64(k.length+k.fixed) + n*uint64(k.bytes), n * uint64(k.values), nil
	}
}

// kind says what follows a first byte: fixed bytes, and a length of so many
// bytes, each of which stands for bytes or values.
type kind struct{ fixed, length, bytes, values int }

// kinds are those of the first bytes c0 to df.
var kinds = [32]kind{
	0x00: {}, 0x02: {}, 0x03: {}, // nil, false, true
	0x04: {length: 1, bytes: 1}, 0x05: {length: 2, bytes: 1}, 0x06: {length: 4, bytes: 1}, // bin
	0x07: {fixed: 1, length: 1, bytes: 1}, 0x08: {fixed: 1, length: 2, bytes: 1}, 0x09: {fixed: 1, length: 4, bytes: 1}, // ext
	0x0a: {fixed: 4}, 0x0b: {fixed: 8}, // float
	0x0c: {fixed: 1}, 0x0d: {fixed: 2}, 0x0e: {fixed: 4}, 0x0f: {fixed: 8}, // uint
	0x10: {fixed: 1}, 0x11: {fixed: 2}, 0x12: {fixed: 4}, 0x13: {fixed: 8}, // int
	0x14: {fixed: 2}, 0x15: {fixed: 3}, 0x16: {fixed: 5}, 0x17: {fixed: 9}, 0x18: {fixed: 17}, // fixext
	0x19: {length: 1, bytes: 1}, 0x1a: {length: 2, bytes: 1}, 0x1b: {length: 4, bytes: 1}, // str
	0x1c: {length: 2, values: 1}, 0x1d: {length: 4, values: 1}, // array
	0x1e: {length: 2, values: 2}, 0x1f: {length: 4, values: 2}, // map
}

// length reads a length of so many bytes behind the first.
func length(src []byte, bytes int) (n uint64, ok bool) {
	if len(src) < 1+bytes {
		return 0, false
	}
	for _, b := range src[1 : 1+bytes] {
		n = n<<8 | uint64(b)
	}
	return n, true
}
