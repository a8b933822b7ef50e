package firn_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// measuresMemory says that residentPeak and addressSpace measure.
const measuresMemory = true

// status is a field of /proc/self/status in bytes.
func status(t testing.TB, field string) (bytes int64) {
	t.Helper()
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if name, rest, _ := strings.Cut(line, ":"); name == field {
			if _, err := fmt.Sscanf(rest, "%d kB", &bytes); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			return bytes << 10
		}
	}
	t.Fatalf("/proc/self/status has no %s", field)
	return 0
}

func resident(t testing.TB) int64     { return status(t, "VmRSS") }
func residentPeak(t testing.TB) int64 { return status(t, "VmHWM") }
func addressSpace(t testing.TB) int64 { return status(t, "VmSize") }
