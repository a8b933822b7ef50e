package typed

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/firncache/firn/internal/codec"
	"github.com/firncache/firn/internal/registry"
)

// A value that has tags is stored behind a head. What follows is what is stored for a value
// without tags; nothing follows for a key that has no value.
//
//	+--------+-------+- - - - - - - -+- - - - - - - -+
//	| format | count | note          | value         |
//	| 4      | 1     |               |               |
//	+--------+-------+- - - - - - - -+- - - - - - - -+
//
// The note is that of registry.Table. With a shared tier it has the numbers of the tags' places:
//
//	+------+----------------+- - - - - - -+
//	| seal | place   number | next place  |
//	| 8    | 4       8      |             |
//	+------+----------------+- - - - - - -+
//
// The value holds as long as every place has that number still: to invalidate a tag is to give
// its place another one. The seal is of the rest and of a secret, one more number: what is not
// sealed with it, no tier takes for obsolete.
var (
	tagFormat       = codec.FingerprintOf("tags/2")
	sharedTagFormat = codec.FingerprintOf("shared tags/2")
	endFormat       = codec.FingerprintOf("end/1")
)

// Limits of tags.
const (
	MaxTags   = 16
	MaxTagLen = 255 // bytes of a tag
)

const (
	noteAt        = codec.FingerprintLen + 1
	sharedSealLen = 8
	placeLen      = 4
	endLen        = 8
	pairLen       = placeLen + 8
)

// sharedNoteLen is the length of the note of so many tags with a shared tier.
func sharedNoteLen(tags int) int { return sharedSealLen + pairLen*tags }

// Unambiguous is the fingerprint itself, or another in place of those with which values begin that
// have more.
func Unambiguous(f codec.Fingerprint) codec.Fingerprint {
	for f == tagFormat || f == sharedTagFormat || f == endFormat {
		f ^= 1 << 31
	}
	return f
}

// AppendEnd appends what stands before a value whose life has an end, in the store's time:
//
//	+--------+------+- - - - - - - -+
//	| format | end  | value         |
//	| 4      | 8    |               |
//	+--------+------+- - - - - - - -+
//
// Tags stand before that.
func AppendEnd(dst []byte, end int64) []byte {
	return binary.LittleEndian.AppendUint64(endFormat.Append(dst), uint64(end))
}

// CutEnd takes the end off what is stored behind the tags; it is 0 without one.
func CutEnd(stored []byte) (end int64, value []byte) {
	rest, ok := endFormat.Cut(stored)
	if !ok || len(rest) < endLen {
		return 0, stored
	}
	return int64(binary.LittleEndian.Uint64(rest)), rest[endLen:]
}

// WithEnd is a stored value with another end.
func WithEnd(stored []byte, end int64) []byte {
	rest := stored
	if _, value, ok := CutTags(stored); ok {
		rest = value
	}
	_, value := CutEnd(rest)
	out := append(make([]byte, 0, len(stored)+codec.FingerprintLen+endLen), stored[:len(stored)-len(rest)]...)
	return append(AppendEnd(out, end), value...)
}

// HeadLen is the length of all that stands before a stored value.
func HeadLen(stored []byte) int {
	rest := stored
	if _, value, ok := CutTags(stored); ok {
		rest = value
	}
	_, value := CutEnd(rest)
	return len(stored) - len(value)
}

// Head is what stands before a stored value with tags. An empty one stands before a value
// without.
type Head []byte

// note is the part of the head that says which tags there are.
func (h Head) note() []byte { return h[noteAt:] }

// pairs yields the places of a head with their numbers.
func (h Head) pairs(yield func(place registry.ID, number uint64) bool) {
	for b := h.note()[sharedSealLen:]; len(b) >= pairLen; b = b[pairLen:] {
		if !yield(registry.PlaceID(registry.Tag, binary.LittleEndian.Uint32(b)), binary.LittleEndian.Uint64(b[placeLen:])) {
			return
		}
	}
}

// CutTags takes the head off a stored value. It reports false if there is none.
func CutTags(stored []byte) (head Head, value []byte, ok bool) {
	n := headLen(stored)
	if n == 0 || n > len(stored) {
		return nil, nil, false
	}
	return Head(stored[:n:n]), stored[n:], true
}

// headLen is the length that the head of a stored value says that it has, 0 without one.
func headLen(stored []byte) int {
	if len(stored) < noteAt {
		return 0
	}
	n := int(stored[noteAt-1])
	if n < 1 || n > MaxTags {
		return 0
	}
	if _, ok := tagFormat.Cut(stored); ok {
		return noteAt + registry.NoteLen(n)
	}
	if _, ok := sharedTagFormat.Cut(stored); ok {
		return noteAt + sharedNoteLen(n)
	}
	return 0
}

// ErrTooManyTags says that there are more than MaxTags.
var ErrTooManyTags = errors.New("too many tags")

// CheckTags refuses tags that a value cannot have, with ErrTooManyTags more than MaxTags.
func CheckTags(names []string) error {
	for i, name := range names {
		if err := CheckTag(name); err != nil {
			return fmt.Errorf("tag %d: %w", i, err)
		}
	}
	if len(names) > MaxTags {
		return fmt.Errorf("%w: %d, want at most %d", ErrTooManyTags, len(names), MaxTags)
	}
	return nil
}

// CheckTag refuses what is no tag.
func CheckTag(name string) error {
	if len(name) == 0 || len(name) > MaxTagLen {
		return fmt.Errorf("%.20q has %d bytes: want 1 to %d", name, len(name), MaxTagLen)
	}
	return nil
}
