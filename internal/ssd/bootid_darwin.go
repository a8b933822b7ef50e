package ssd

import "golang.org/x/sys/unix"

// bootID tells one run of the machine's system from another, "" if it does not.
func bootID() string {
	s, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return s
}
