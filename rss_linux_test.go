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
	bytes, err := statusField(field)
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

func statusField(field string) (bytes int64, err error) {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(data)) {
		if name, rest, _ := strings.Cut(line, ":"); name == field {
			if _, err := fmt.Sscanf(rest, "%d kB", &bytes); err != nil {
				return 0, fmt.Errorf("%s: %w", line, err)
			}
			return bytes << 10, nil
		}
	}
	return 0, fmt.Errorf("/proc/self/status has no %s", field)
}

// residentNow is for a process without a test.
func residentNow() (int64, error) { return statusField("VmRSS") }

func resident(t testing.TB) int64     { return status(t, "VmRSS") }
func residentPeak(t testing.TB) int64 { return status(t, "VmHWM") }
func addressSpace(t testing.TB) int64 { return status(t, "VmSize") }
