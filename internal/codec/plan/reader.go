package plan

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// shareText is up to how many bytes of a value its strings share one allocation: which costs
// half the time, and one that is kept keeps no more than these.
const shareText = 512

// reader reads the bytes of a value from the front.
type reader struct {
	all     []byte
	at      int
	claimed int    // bytes that the elements counted so far need at least: each its own
	text    string // all, if it was needed
}

// errDamaged is of bytes that append did not write.
var errDamaged = errors.New("the bytes are not of a value")

// end reports bytes that are left over.
func (r *reader) end() error {
	if n := len(r.all) - r.at; n > 0 {
		return fmt.Errorf("%w: %d are left over", errDamaged, n)
	}
	return nil
}

// take is the next n bytes.
func (r *reader) take(n int) (b []byte, ok bool) {
	if n < 0 || n > len(r.all)-r.at {
		return nil, false
	}
	r.at += n
	return r.all[r.at-n : r.at : r.at], true
}

// length is a length of bytes that are there.
func (r *reader) length() (n int, ok bool) {
	if r.at < len(r.all) && r.all[r.at] < 0x80 {
		n = int(r.all[r.at])
		r.at++
		return n, n <= len(r.all)-r.at
	}
	long, width := binary.Uvarint(r.all[r.at:])
	if width <= 0 || long > uint64(len(r.all)-r.at-width) {
		return 0, false
	}
	r.at += width
	return int(long), true
}

// count is the number of elements, none for nil, that have so many bytes each at least.
// So many are there, beside those that elements around them need: memory for all that were
// counted is in proportion to the bytes, however deep they lie.
func (r *reader) count(least int) (n int, isNil, ok bool) {
	more, width := binary.Uvarint(r.all[r.at:])
	if width <= 0 || more > math.MaxInt {
		return 0, false, false
	}
	r.at += width
	if more == 0 {
		return 0, true, true
	}
	if n = int(more - 1); least > 0 {
		if n > min(len(r.all)-r.at, len(r.all)-r.claimed)/least {
			return 0, false, false
		}
		r.claimed += n * least
	}
	return n, false, true
}

func (r *reader) string() (s string, ok bool) {
	n, ok := r.length()
	if !ok || n == 0 {
		return "", ok
	}
	r.at += n
	if len(r.all) > shareText {
		return string(r.all[r.at-n : r.at]), true
	}
	if r.text == "" {
		r.text = string(r.all)
	}
	return r.text[r.at-n : r.at], true
}

// numbers reads adjacent numbers.
func (r *reader) numbers(mem []byte, width int) bool {
	b, ok := r.take(len(mem))
	copy(mem, b)
	reverseEach(mem, width)
	return ok
}

// bools reads bools, and nothing else than 0 and 1.
func (r *reader) bools(mem []byte) bool {
	b, ok := r.take(len(mem))
	for i, bit := range b {
		if bit > 1 {
			return false
		}
		mem[i] = bit
	}
	return ok
}
