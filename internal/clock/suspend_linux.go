package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// lookAtClocks reads the clock of the machine and the monotonic one, in milliseconds. It reads
// them from the system, as a bubble of testing/synctest has a monotonic time of its own.
func lookAtClocks() (machine, monotonic int64) {
	var boot, mono unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot) != nil || unix.ClockGettime(unix.CLOCK_MONOTONIC, &mono) != nil {
		return 0, 0
	}
	const milli = 1_000_000
	return boot.Nano() / milli, mono.Nano() / milli
}

// Boot is the time of the machine since it was started, or of this process where the system has no
// such clock, in nanoseconds: it is never set, and goes on while the machine is suspended.
func Boot() int64 {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return int64(time.Since(started))
	}
	return now.Nano()
}

var started = time.Now()
