package bytes

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
)

// The error of SetRAMBytes names the call, what it was given and what it wants.
func TestSetRAMBytesSaysItsBounds(t *testing.T) {
	t.Parallel()
	c := harness.OpenSmall(t, func(o *firn.Options) { o.MaxRAMBytes = 2 << 20 })
	for _, n := range []int64{-1, 1, 1 << 40} {
		err := c.SetRAMBytes(n)
		if err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("firn: SetRAMBytes(%d): want ", n)) || strings.Contains(err.Error(), "ram:") {
			t.Errorf("SetRAMBytes(%d): %v", n, err)
		}
	}
}
