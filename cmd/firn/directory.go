package main

import (
	"fmt"
	"io"

	"os"

	"github.com/dustin/go-humanize"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/vfs"
)

// directory is where the SSD tier of one replay has its files.
type directory struct {
	options   firn.SSDOptions // Dir empty: no SSD tier
	temporary bool
}

// makeDirectory prepares what o requires: nothing, the directory that it names,
// or a temporary one. If there is too little space for that, it says so on stderr
// and does without.
func makeDirectory(o firn.SSDOptions, stderr io.Writer) (directory, error) {
	d := directory{options: o}
	if o.Bytes == 0 {
		return d, nil
	}
	if o.Dir != "" {
		return d, nil
	}
	if free, ok := freeSpace(os.TempDir()); ok && free < o.Bytes {
		fmt.Fprintf(stderr, "firn: no SSD tier: it takes %s, and %s has %s left; RAM goes on alone (-dir names another place, -ssd another size)\n",
			humanize.IBytes(uint64(o.Bytes)), os.TempDir(), humanize.IBytes(uint64(free)))
		d.options = firn.SSDOptions{}
		return d, nil
	}
	var err error
	d.options.Dir, err = temporary.make("firn-replay-")
	d.temporary = true
	return d, err
}

// freeSpace is the free space of a directory's file system, in bytes, where the
// system says.
func freeSpace(dir string) (bytes int64, ok bool) {
	fs, err := vfs.OSExisting(dir)
	if err != nil {
		return 0, false
	}
	bytes, err = fs.Free()
	return bytes, err == nil
}

// remove removes a temporary directory.
func (d *directory) remove() error {
	if !d.temporary {
		return nil
	}
	return temporary.remove(d.options.Dir)
}
