package files

import "golang.org/x/sys/unix"

// BootID identifies this run of the machine's system; "" if the system does not.
func BootID() string {
	s, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return s
}
