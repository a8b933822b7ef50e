package offheap

import "unsafe"

// String is b as a string, which is one word shorter to pass on. It must not be
// kept: it changes when b does.
func String(b []byte) string { return *(*string)(unsafe.Pointer(&b)) }

// Bytes is the reverse of String. What it returns must not be written to.
func Bytes(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
