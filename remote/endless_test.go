package remote

import (
	"math"
	"testing"
	"time"
)

// The longest durations mean no end, and not that all is over.
func TestEndless(t *testing.T) {
	tier := newTier(Options{Addrs: []string{"a:1"}, Namespace: "test", Staleness: math.MaxInt64, Timeout: math.MaxInt64})
	if d := tier.timeoutOf(1 << 20); d < time.Hour {
		t.Errorf("a long value is waited for %v", d)
	}
	h := newHeartbeat(tier.rhythm.bound)
	h.ping(bootNanos())
	h.pong()
	h.ping(bootNanos())
	if until := h.pong(); until < bootNanos() {
		t.Errorf("trusted until %d, which is over", until)
	}
}
