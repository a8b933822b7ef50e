package store

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firncache/firn/internal/shared/sharedtest"
)

// After an interruption each copy is checked once, on the SSD and in RAM, however often they change
// places; one that was lost on its way, as the disk is slow, is fetched once.
func TestCopiesBetweenTiersAreCheckedOnce(t *testing.T) {
	p := begin(t, sharedtest.NewServer(), true, func(cfg *Config) { cfg.RAMBytes = 2 << 20 })
	const n = 4000
	value := strings.Repeat("v", 1000)
	for i := range n {
		p.set(fmt.Sprint(i), value)
	}
	pass := func() (checks int) {
		before := p.SharedStats()
		for i := range n {
			if v, ok := p.Get(nil, fmt.Append(nil, i)); !ok || string(v) != value {
				t.Fatalf("%d is %q, %v", i, v, ok)
			}
		}
		after := p.SharedStats()
		return int(after.Checks - before.Checks + after.Hits - before.Hits)
	}
	if checks := pass(); checks != 0 {
		t.Errorf("%d checks before the interruption", checks)
	}
	p.tier.Disconnect()
	if checks := pass(); checks != n {
		t.Errorf("%d checks after it: want %d", checks, n)
	}
	// A copy that moves while it is checked may be checked once more.
	if checks := pass(); checks > n/100 {
		t.Errorf("%d checks in the second pass", checks)
	}
}
