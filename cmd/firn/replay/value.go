package replay

import (
	"bytes"
	"encoding/binary"

	"github.com/firncache/firn/internal/workload"
)

// stampLen is the length of the stamp at either end of a value.
const stampLen = 8

// stamp returns the mark of a value of n bytes for the key id.
func stamp(id uint64, n int) [stampLen]byte {
	var s [stampLen]byte
	binary.LittleEndian.PutUint64(s[:], workload.Scramble(id^uint64(n)<<32))
	return s
}

// stampValue marks value as that of id, at its beginning and its end. What lies
// between stays as it is. A value shorter than a stamp holds what fits.
func stampValue(value []byte, id uint64) {
	s := stamp(id, len(value))
	copy(value, s[:])
	if len(value) >= 2*stampLen {
		copy(value[len(value)-stampLen:], s[:])
	}
}

// isValueOf tells whether value is one that was stamped for id. No value that
// was set is empty.
func isValueOf(value []byte, id uint64) bool {
	if len(value) == 0 {
		return false
	}
	s := stamp(id, len(value))
	n := min(len(value), stampLen)
	if !bytes.Equal(value[:n], s[:n]) {
		return false
	}
	return len(value) < 2*stampLen || bytes.Equal(value[len(value)-stampLen:], s[:])
}
