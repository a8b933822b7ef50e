package hybrid

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// DropCache writes the page cache's pages of the files in dir to the disk and
// makes the system forget them, where it can be made to: pages that an earlier
// process brought there do not count against the memory of the next.
func DropCache(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), forget(f), f.Close())
	})
}
