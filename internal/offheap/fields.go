package offheap

import (
	"reflect"
	"unsafe"
)

// Fields is the memory of a value whose parts are found by their offsets, which
// package reflect gives. It keeps the value alive.
type Fields struct{ p unsafe.Pointer }

// FieldsOf is the memory of *v.
func FieldsOf[T any](v *T) Fields { return Fields{unsafe.Pointer(v)} }

// FieldsAt is the memory that a pointer leads to.
func FieldsAt(pointer reflect.Value) Fields { return Fields{pointer.UnsafePointer()} }

// Bytes is the memory of size bytes at offset, which the caller knows to lie in
// the value and to hold no pointers.
func (f Fields) Bytes(offset, size uintptr) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(f.p, offset)), size)
}

// String is the string at offset. The caller knows that there is one.
func (f Fields) String(offset uintptr) *string { return (*string)(unsafe.Add(f.p, offset)) }

// At is the memory from offset on.
func (f Fields) At(offset uintptr) Fields { return Fields{unsafe.Add(f.p, offset)} }

// As is a T at the beginning of the memory. The caller knows that there is one.
func As[T any](f Fields) *T { return (*T)(f.p) }

// Value is what lies at offset, of type t. The caller knows that it is one.
func (f Fields) Value(t reflect.Type, offset uintptr) reflect.Value {
	return reflect.NewAt(t, unsafe.Add(f.p, offset)).Elem()
}

// Pointer is what the pointer at offset leads to. It reports false of a nil one.
func (f Fields) Pointer(offset uintptr) (to Fields, ok bool) {
	p := *(*unsafe.Pointer)(unsafe.Add(f.p, offset))
	return Fields{p}, p != nil
}

// SetPointer makes the pointer at offset lead to to, which is of its type.
func (f Fields) SetPointer(offset uintptr, to Fields) {
	*(*unsafe.Pointer)(unsafe.Add(f.p, offset)) = to.p
}

// slice is how Go lays out a slice.
type slice struct {
	data     unsafe.Pointer
	len, cap int
}

// Slice is the elements of the slice at offset, and their number. It reports false of
// a nil one.
func (f Fields) Slice(offset uintptr) (elements Fields, n int, ok bool) {
	s := (*slice)(unsafe.Add(f.p, offset))
	return Fields{s.data}, s.len, s.data != nil
}

// SetSlice makes the slice at offset one of n elements without pointers, which lie in mem.
// The slice does not grow in its place. mem is not empty, all of its own allocation, and
// as long as a multiple of the elements' alignment: so it is aligned as they are.
func (f Fields) SetSlice(offset uintptr, mem []byte, n int) {
	*(*slice)(unsafe.Add(f.p, offset)) = slice{unsafe.Pointer(unsafe.SliceData(mem)), n, n}
}
