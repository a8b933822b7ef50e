package files

import (
	"os"
	"strings"
)

// BootID tells one run of the machine's system from another, "" if it does not.
func BootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
