package files

import (
	"os"
	"strings"
)

// BootID identifies this run of the machine's system; "" if the system does not.
func BootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
