package remote

import (
	"math"
	"testing"
	"time"

	"github.com/firncache/firn/internal/clock"
)

// The longest durations mean no end, and not that all is over.
func TestEndless(t *testing.T) {
	common := newTier(Options{Addrs: []string{"a:1"}, Namespace: "test", Staleness: math.MaxInt64, Timeout: math.MaxInt64}).common
	if d := common.TimeoutOf(1 << 20); d < time.Hour {
		t.Errorf("a long value is waited for %v", d)
	}
	if now := clock.Boot(); now+int64(common.Rhythm.Bound) < now+int64(time.Hour) {
		t.Errorf("trusted until %d, which is over", now+int64(common.Rhythm.Bound))
	}
}
