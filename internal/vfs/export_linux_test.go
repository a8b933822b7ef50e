package vfs

import "runtime"

// ScanForLost is the scan that NewMemory begins, without those that have begun.
func ScanForLost() { removeLeft(lost) }

// SetLost has scans that begin from now on judge by f, until undo. None is under way.
func SetLost(f func(page []byte) bool) (undo func()) {
	for scanning.Load() {
		runtime.Gosched()
	}
	isLost = f
	return func() { isLost = lost }
}

// Scanning reports whether a scan is under way.
func Scanning() bool { return scanning.Load() }

// SegmentHeaderSize is how many bytes of the first page the header has.
const SegmentHeaderSize = segmentHeader

// SegmentHeader is what the first page of a directory's segment begins with.
func SegmentHeader(dir string, key uint64, segment []byte) ([]byte, error) {
	d, err := osFS(dir).directory()
	return d.header(key, len(segment)), err
}

// NotePlace writes into a segment where its directory is.
func NotePlace(dir string, segment []byte) { directory{path: dir}.notePlace(segment) }
