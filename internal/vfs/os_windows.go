package vfs

import "golang.org/x/sys/windows"

// openDirect opens a file without buffering. Its alignment is the sector's: 512
// or 4096 bytes.
func openDirect(path string, flag int) (File, error) {
	f, err := openRegular(path, flag|windows.O_FILE_FLAG_NO_BUFFERING, checkRegular)
	if err != nil {
		return nil, err
	}
	return &osFile{file: f, align: 4096}, nil
}

// allocate sets the length: NTFS reserves the clusters of a file that is not
// sparse, and fails if there are not enough.
func allocate(f *osFile, _, size int64) error { return f.Truncate(size) }

// syncDir has nothing to do: Windows syncs no directories, NTFS keeps a journal
// of them.
func syncDir(string) error { return nil }

func free(dir string) (int64, error) {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var available uint64
	if err := windows.GetDiskFreeSpaceEx(path, &available, nil, nil); err != nil {
		return 0, err
	}
	return int64(available), nil
}
