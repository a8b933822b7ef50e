//go:build linux

package stress

import (
	"encoding/binary"
	"fmt"
)

// Keys are numbered; what is done with one follows from its range.
const (
	setKeys     = 1600 // Set, SetMulti, Delete, DeleteMulti, Touch, by one worker each
	computeKeys = 200  // Compute, by everybody
	loadKeys    = 600  // GetOrLoad of what the source has, which one worker each changes
	tagKeys     = 400  // the same of a typed cache; one worker changes all keys of a tag
	countKeys   = 100  // Increment, by everybody, where no round loses data

	firstCompute = setKeys
	firstLoad    = firstCompute + computeKeys
	firstTagged  = firstLoad + loadKeys
	firstCount   = firstTagged + tagKeys
	allKeys      = firstCount + countKeys

	tags      = 20
	firstUnit = allKeys // of tags
	units     = firstUnit + tags

	processes = 3
	workers   = 3 // of a process
)

// unitOf is whose writes count for a key: its own, or its tag's.
func unitOf(key uint32) uint32 {
	if key >= firstTagged && key < firstCount {
		return firstUnit + key%tags
	}
	return key
}

// isLoaded reports whether a key's value comes from the source, which no server loses, and
// which is ahead of the tiers while it is being changed.
func isLoaded(key uint32) bool { return key >= firstLoad && key < firstCount }

func keyOf(i uint32) []byte { return fmt.Appendf(nil, "key-%05d", i) }

// appendValue makes the value of a number: 8 bytes of it, and a pattern that tells a torn
// one. Some are large enough to be compressed.
func appendValue(dst []byte, key uint32, n int64) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, uint64(n))
	size := 64 + (n/1000+int64(key))%1400
	for i := range size {
		dst = append(dst, byte(n>>(i%7*8)))
	}
	return dst
}

// numberOf is the number of a value that is whole.
func numberOf(key uint32, value []byte) (int64, error) {
	if len(value) < 8 {
		return 0, fmt.Errorf("key %d: torn: % x", key, value)
	}
	n := int64(binary.LittleEndian.Uint64(value))
	if key >= firstCount {
		return n, nil
	}
	if want := appendValue(nil, key, n); string(want) != string(value) {
		return 0, fmt.Errorf("key %d: torn, or another key's: %d bytes of %d, want %d: % x", key, len(value), n, len(want), value[:min(len(value), 32)])
	}
	return n, nil
}
