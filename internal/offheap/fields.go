package offheap

import "unsafe"

// Fields is the memory of a value whose parts are found by their offsets, which
// package reflect gives. It keeps the value alive.
type Fields struct{ p unsafe.Pointer }

// FieldsOf is the memory of *v.
func FieldsOf[T any](v *T) Fields { return Fields{unsafe.Pointer(v)} }

// Bytes is the memory of size bytes at offset, which the caller knows to lie in
// the value and to hold no pointers.
func (f Fields) Bytes(offset, size uintptr) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(f.p, offset)), size)
}

// String is the string at offset. The caller knows that there is one.
func (f Fields) String(offset uintptr) *string { return (*string)(unsafe.Add(f.p, offset)) }
