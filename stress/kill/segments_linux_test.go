package kill

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// allSegments are the segments of shared memory of this IPC namespace, but for those
// that have been removed and go with the last process: which process has made each.
func allSegments() map[int]int {
	makers := map[int]int{}
	list, _ := os.ReadFile("/proc/sysvipc/shm") // its first line has the names of the columns
	for line := range strings.Lines(string(list)) {
		var key, handle, mode, size, maker int
		const removed = 0o1000
		if _, err := fmt.Sscanf(line, "%d %d %o %d %d", &key, &handle, &mode, &size, &maker); err == nil && mode&removed == 0 {
			makers[handle] = maker
		}
	}
	return makers
}

func removeSegment(handle int) { _, _ = unix.SysvShmCtl(handle, unix.IPC_RMID, nil) }
