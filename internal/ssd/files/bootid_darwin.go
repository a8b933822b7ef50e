package files

import "golang.org/x/sys/unix"

// BootID tells one run of the machine's system from another, "" if it does not.
func BootID() string {
	s, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return s
}
