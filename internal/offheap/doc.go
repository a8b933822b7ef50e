// Package offheap owns memory that Go's garbage collector never scans, and is
// the only package of firn that uses unsafe or maps memory, except internal/uring,
// which shares some with the kernel, and internal/vfs, which attaches some that
// outlives the process.
//
// A Region is a contiguous range of anonymous memory, reserved at once and
// backed by physical pages only where it was touched; or, made by Over, memory
// that its owner gave. Everything else in the package is a way to look at a
// Region's bytes: At and Bytes give typed views, CopyIn, CopyOut and Equal move
// bytes that another goroutine may overwrite at the same moment, and the fences
// order those copies against the checks for torn ones. Apart
// from that, plain.go looks at Go values of plain types, because unsafe has no
// other home.
//
// # Builds
//
// On Linux, macOS, the BSDs and Windows a Region is mapped. Under -race, with
// the build tag firnheap, and on every other system it is an ordinary Go
// allocation: the race detector does not see mapped memory, so race tests need
// the heap. In race builds the byte copies are made of atomic word operations,
// because a seqlock's reader and writer race on purpose.
package offheap
