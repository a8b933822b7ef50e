package ram

import (
	"flag"
	"testing"

	"github.com/firncache/firn/internal/invariants"
)

var long = flag.Bool("long", false, "models of every size, many steps of each: minutes instead of seconds")

// sized is how much of something a test does: usual, or with -long all of it.
func sized(usual, all int) int {
	if *long {
		return all
	}
	return usual
}

// modelSizes are the budgets in bytes that a model is tried with. A machine over
// megabytes takes long for each step.
func modelSizes(mask uint64) []int64 {
	if mask == 0 || mask == 3 || *long {
		return []int64{64 << 10, 256 << 10, 2 << 20}
	}
	return []int64{64 << 10}
}

// modelSteps is how many steps a machine takes over so many bytes.
func modelSteps(bytes int64) int {
	if bytes > 64<<10 {
		return sized(30, 1000)
	}
	return sized(200, 2000)
}

// oneGoroutine skips a test under the race detector, which finds nothing in one goroutine. The
// heap arenas that it needs are tested without it: .ci/run tags.
func oneGoroutine(t *testing.T) {
	t.Helper()
	if invariants.Race {
		t.Skip("one goroutine, and much to do for the race detector")
	}
}
