package vfs

// SegmentNames are those that the segments of a directory may have.
func SegmentNames(dir string) ([4]int, error) {
	d, err := osFS(dir).directory()
	return d.names(), err
}

// SegmentHeaderSize is how many bytes of the first page the header has.
const SegmentHeaderSize = segmentHeader

// SegmentHeader is what the first page of a directory's segment begins with.
func SegmentHeader(dir string, key uint64, segment []byte) ([]byte, error) {
	d, err := osFS(dir).directory()
	return d.header(key, segment), err
}

// NotePlace writes into a segment where its directory is.
func NotePlace(dir string, segment []byte) { directory{path: dir}.notePlace(segment) }
