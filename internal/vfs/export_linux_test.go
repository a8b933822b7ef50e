package vfs

// SegmentNames are those that the segments of a directory may have.
func SegmentNames(dir string) ([4]int, error) {
	d, err := osFS(dir).directory()
	return d.names(), err
}

// SegmentHeader is what the first page of a directory's segment begins with.
func SegmentHeader(dir string, key uint64, segment []byte) ([]byte, error) {
	d, err := osFS(dir).directory()
	return d.header(key, segment), err
}
