package hybrid

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// IO counts the bytes that this process made the device read and write so far,
// as the kernel counts them: pages that were written back later are counted when
// they became dirty.
type IO struct {
	Read, Written int64
	Known         bool
}

// ReadIO returns the counters, not known where the system has none.
func ReadIO() (io IO) {
	body, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return io
	}
	for line := range strings.Lines(string(body)) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), ": ")
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			continue
		}
		switch name {
		case "read_bytes":
			io.Read, io.Known = n, true
		case "write_bytes":
			io.Written = n
		}
	}
	return io
}

// FreeDisk returns the bytes that can be written to the file system of dir, and
// 0 where the system has none.
func FreeDisk(dir string) int64 {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil {
		return 0
	}
	return int64(s.Bavail) * int64(s.Bsize) //nolint:unconvert // the types differ between systems
}
