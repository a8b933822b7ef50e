package offheap

import (
	"encoding/binary"
	"fmt"
	"unsafe"
)

// The functions below look at values of types whose underlying type is known,
// whatever their names: a switch over types finds only the unnamed ones, and
// package reflect allocates. The caller has checked the kind.

// AppendPlain appends a number or a bool of at most eight bytes to dst, in
// little-endian order.
func AppendPlain[T any](dst []byte, v *T) []byte {
	p := unsafe.Pointer(v)
	switch n := unsafe.Sizeof(*v); n {
	case 1:
		return append(dst, *(*byte)(p))
	case 2:
		return binary.LittleEndian.AppendUint16(dst, *(*uint16)(p))
	case 4:
		return binary.LittleEndian.AppendUint32(dst, *(*uint32)(p))
	case 8:
		return binary.LittleEndian.AppendUint64(dst, *(*uint64)(p))
	default:
		panic(fmt.Sprintf("offheap: a number of %d bytes", n))
	}
}

// LoadPlain is the reverse of AppendPlain. The caller has checked that src is
// as long as a T.
func LoadPlain[T any](v *T, src []byte) {
	p := unsafe.Pointer(v)
	switch n := unsafe.Sizeof(*v); n {
	case 1:
		*(*byte)(p) = src[0]
	case 2:
		*(*uint16)(p) = binary.LittleEndian.Uint16(src)
	case 4:
		*(*uint32)(p) = binary.LittleEndian.Uint32(src)
	case 8:
		*(*uint64)(p) = binary.LittleEndian.Uint64(src)
	default:
		panic(fmt.Sprintf("offheap: a number of %d bytes", n))
	}
}

// ArrayOf is the memory of an array of bytes.
func ArrayOf[T any](v *T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v))
}

// StringOf is a T whose underlying type is string, as such.
func StringOf[T any](v *T) *string { return (*string)(unsafe.Pointer(v)) }

// StringIn is a string that lies in b: it changes as b does.
func StringIn(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// BytesOf is a T whose underlying type is []byte, as such.
func BytesOf[T any](v *T) *[]byte { return (*[]byte)(unsafe.Pointer(v)) }
