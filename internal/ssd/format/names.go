package format

import (
	"slices"
	"strings"
)

// The files of a directory.
const (
	LockName         = "lock"
	SuperblockName   = "superblock"
	LogName          = "log"
	SnapshotName     = "snapshot"
	SnapshotTempName = "snapshot.new" // while it is written
)

// HasMagic reports whether b begins with one of the magics, or is all that is left
// of one.
func HasMagic(b []byte) bool {
	head := string(b[:min(len(b), len(SuperblockMagic))])
	return slices.ContainsFunc([]string{SuperblockMagic, SegmentMagic, SnapshotMagic}, func(magic string) bool {
		return strings.HasPrefix(magic, head)
	})
}
