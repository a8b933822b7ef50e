package servertest

import "golang.org/x/sys/unix"

// awaitStopped waits until a child has stopped: the signal alone may come after what it answers
// next.
func awaitStopped(pid int) error {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WSTOPPED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err
		}
	}
}
