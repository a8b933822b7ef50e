package rivals

import (
	"bytes"
	"fmt"
	"time"
	"unsafe"
)

// never is a lifetime for caches that want one: a hundred years.
const never = 100 * 365 * 24 * time.Hour

// On-heap caches take any Go type as key and value. They get the cheapest one
// that can hold the sizes of a run: arrays where keys and values have one of
// the sizes below, strings and slices elsewhere.
type (
	key4   = [4]byte
	key16  = [16]byte
	value4 = [4]byte
	value  = [64]byte
)

// form names a pair of key and value types.
type form int

const (
	anySize  form = iota // string → []byte
	slices16             // [16]byte → []byte
	arrays4              // [4]byte → [4]byte
	arrays16             // [16]byte → [64]byte
)

func (c Config) form() form {
	switch {
	case c.KeySize == 4 && c.ValueSize == 4:
		return arrays4
	case c.KeySize == 16 && c.ValueSize == 64:
		return arrays16
	case c.KeySize == 16:
		return slices16
	}
	return anySize
}

// layout turns bytes into the key type K and the value type V and back. K is a
// string or a byte array, V a []byte or a byte array.
type layout[K comparable, V any] struct {
	stringKeys  bool
	sliceValues bool
}

func newLayout[K comparable, V any]() layout[K, V] {
	var k K
	var v V
	_, stringKeys := any(k).(string)
	_, sliceValues := any(v).([]byte)
	return layout[K, V]{stringKeys, sliceValues}
}

// key views b as a key, for a call that does not keep it.
func (l layout[K, V]) key(b []byte) K {
	if l.stringKeys {
		return *(*K)(unsafe.Pointer(&b)) // a slice header begins with a string header
	}
	return *(*K)(array(b, int(unsafe.Sizeof(*new(K)))))
}

// ownKey copies b into a key that may be kept.
func (l layout[K, V]) ownKey(b []byte) K {
	if l.stringKeys {
		b = bytes.Clone(b)
	}
	return l.key(b)
}

// ownValue copies b into a value that may be kept.
func (l layout[K, V]) ownValue(b []byte) V {
	if l.sliceValues {
		own := append(make([]byte, 0, len(b)), b...)
		return *(*V)(unsafe.Pointer(&own))
	}
	return *(*V)(array(b, int(unsafe.Sizeof(*new(V)))))
}

// bytes returns the bytes of v: lent when V is a slice, appended to dst when
// it is an array.
func (l layout[K, V]) bytes(dst []byte, v *V) []byte {
	if l.sliceValues {
		return *(*[]byte)(unsafe.Pointer(v))
	}
	return append(dst, unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v))...)
}

// size returns the number of bytes that v holds.
func (l layout[K, V]) size(v *V) int {
	if l.sliceValues {
		return len(*(*[]byte)(unsafe.Pointer(v)))
	}
	return int(unsafe.Sizeof(*v))
}

// keySize returns the number of bytes that k holds.
func (l layout[K, V]) keySize(k *K) int {
	if l.stringKeys {
		return len(*(*string)(unsafe.Pointer(k)))
	}
	return int(unsafe.Sizeof(*k))
}

// array returns the address of b's bytes, of which there must be exactly size.
func array(b []byte, size int) unsafe.Pointer {
	if len(b) != size {
		wrongSize(len(b), size)
	}
	return unsafe.Pointer(unsafe.SliceData(b))
}

func wrongSize(got, want int) {
	panic(fmt.Sprintf("rivals: %d bytes where Config promised %d", got, want))
}

// view returns b as a string that shares its bytes.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// room returns the number of entries that a cache limited by number is told to
// hold: a quarter more than the run stores, so that nothing has to go.
func (c Config) room() int { return c.Entries + c.Entries/4 + 1024 }

// varies reports whether the limit has to be in bytes, because the run does
// not say how many entries of which size there will be.
func (c Config) varies() bool { return c.Entries == 0 || c.KeySize == 0 || c.ValueSize == 0 }

// entriesGuess is the number of entries expected, guessed from the budget when
// it is not known.
func (c Config) entriesGuess() int {
	if c.Entries > 0 {
		return c.Entries
	}
	return int(c.Bytes/256) + 1024
}
