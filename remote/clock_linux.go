package remote

import (
	"time"

	"golang.org/x/sys/unix"
)

// bootNanos is a clock that is never set, and that goes on while the machine is suspended: what
// was trusted before is not afterwards.
func bootNanos() int64 {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return int64(time.Since(started))
	}
	return now.Nano()
}

var started = time.Now()
