package firn

import (
	"github.com/firncache/firn/internal/ssd"
	"github.com/firncache/firn/internal/vfs"
)

// On makes the SSD tier use a file system instead of a directory.
func (o SSDOptions) On(fs vfs.FS) SSDOptions {
	o.fs = fs
	return o
}

// With changes what the SSD tier is opened with.
func (o SSDOptions) With(change func(*ssd.Config)) SSDOptions {
	o.cfg = change
	return o
}
