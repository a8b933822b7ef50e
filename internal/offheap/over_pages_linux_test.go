//go:build !firnheap && !race

package offheap

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"
)

// The pages of shared memory go back to the system.
func TestOverDecommitGivesBack(t *testing.T) {
	t.Parallel()
	r := Over(shared(t, 1<<20))
	if err := r.Decommit(100, 1<<20-200); err != nil {
		t.Fatal(err)
	}
	if kb := residentKB(t, r.Bytes(0, 1)); kb > 2*os.Getpagesize()>>10 {
		t.Errorf("%d KB are still there: want the two pages at the ends", kb)
	}
}

// residentKB is how much of a mapping lies in memory.
func residentKB(t *testing.T, b []byte) (kb int) {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	at, inside := uintptr(unsafe.Pointer(unsafe.SliceData(b))), false
	for line := range strings.Lines(string(maps)) {
		var from, to uintptr
		if _, err := fmt.Sscanf(line, "%x-%x ", &from, &to); err == nil {
			inside = from <= at && at < to
		}
		if _, err := fmt.Sscanf(line, "Rss: %d kB", &kb); err == nil && inside {
			return kb
		}
	}
	t.Fatal("the mapping is not in smaps")
	return 0
}
