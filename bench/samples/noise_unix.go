//go:build unix

package samples

import "syscall"

// OwnSeconds is the processor time of this process and of its children that
// have ended.
func OwnSeconds() (seconds float64) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			for _, t := range []syscall.Timeval{u.Utime, u.Stime} {
				seconds += float64(t.Sec) + float64(t.Usec)/1e6
			}
		}
	}
	return seconds
}
