//go:build !firnheap && !race

package offheap

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"
)

// A core dump leaves a region out.
func TestDumpsLeaveRegionsOut(t *testing.T) {
	t.Parallel()
	r, err := Reserve(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Release() })
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	at, inside := uintptr(unsafe.Pointer(unsafe.SliceData(r.Bytes(0, 1)))), false
	for line := range strings.Lines(string(maps)) {
		var from, to uintptr
		if _, err := fmt.Sscanf(line, "%x-%x ", &from, &to); err == nil {
			inside = from <= at && at < to
		}
		if flags, ok := strings.CutPrefix(line, "VmFlags:"); ok && inside {
			if !strings.Contains(flags+" ", " dd ") {
				t.Errorf("flags %s: want dd among them", flags)
			}
			return
		}
	}
	t.Skip("the system tells no flags")
}
