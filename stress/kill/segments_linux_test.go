package kill

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// allSegments are the segments of shared memory of this IPC namespace, but for those
// that have been removed and go with the last process.
func allSegments() (all []segment) {
	list, _ := os.ReadFile("/proc/sysvipc/shm") // its first line has the names of the columns
	for line := range strings.Lines(string(list)) {
		var s segment
		var key, mode, last int
		const removed = 0o1000
		_, err := fmt.Sscanf(line, "%d %d %o %d %d %d %d", &key, &s.handle, &mode, &s.bytes, &s.maker, &last, &s.attached)
		if err == nil && mode&removed == 0 {
			all = append(all, s)
		}
	}
	return all
}

func removeSegment(handle int) { _, _ = unix.SysvShmCtl(handle, unix.IPC_RMID, nil) }
