package ram

import (
	"bytes"
	"encoding/binary"
)

// Addition adds to a number at the end of a value.
type Addition struct {
	Head   []byte // with which the value begins
	Size   int    // of the number in bytes: little-endian
	Signed bool
	Delta  uint64 // with the sign of the number
	Sum    uint64 // is set, likewise
}

// apply adds to the number of a value.
func (a *Addition) apply(value []byte) bool {
	number, ok := bytes.CutPrefix(value, a.Head)
	if !ok {
		return false
	}
	var b [8]byte
	copy(b[:], number)
	n, free := binary.LittleEndian.Uint64(b[:]), 64-8*a.Size
	if a.Signed {
		old := int64(n<<free) >> free
		sum := old + int64(a.Delta)
		a.Sum, ok = uint64(sum), sum<<free>>free == sum && (sum < old) == (int64(a.Delta) < 0)
	} else {
		a.Sum = n + a.Delta
		ok = a.Sum<<free>>free == a.Sum && a.Sum >= n
	}
	binary.LittleEndian.PutUint64(b[:], a.Sum)
	copy(number, b[:a.Size])
	return ok
}
