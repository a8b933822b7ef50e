package tables

import (
	"io"
	"math"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	if err := Run("none", io.Discard); err == nil || !strings.Contains(err.Error(), "want gctrace, readall, slices, thousand") {
		t.Error(err)
	}
}

// The error of ten values is half of the interval of 99.9 %.
func TestMeanOf(t *testing.T) {
	mean, halfwidth := meanOf([]float64{1, 3, 1, 3, 1, 3, 1, 3, 1, 3})
	if want := 4.781 * math.Sqrt(10./9/10); mean != 2 || math.Abs(halfwidth-want) > 1e-9 {
		t.Errorf("%v ± %v, want 2 ± %v", mean, halfwidth, want)
	}
}
