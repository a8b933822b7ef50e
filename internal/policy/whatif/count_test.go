package whatif

import (
	"math"
	"testing"
)

// A size shares the control's error as far as chance explains that, and no further.
func TestEstimate(t *testing.T) {
	t.Parallel()
	c := &counts{}
	for i := range parts {
		c.control[i] = 100 + float64(i%4)*10 - 15
		c.misses[i] = c.control[i] / 2
	}
	deviation := math.Sqrt(125.0 * parts * parts / (parts - 1)) // of the control's misses
	for _, test := range []struct{ off, want float64 }{
		{0, 800}, {deviation, 800 + deviation/2}, {-deviation, 800 - deviation/2},
		{100 * deviation, 800 + mostChance*deviation/2}, {-100 * deviation, 800 - mostChance*deviation/2},
	} {
		c.real.misses = 1600 + test.off
		got, own, off := c.estimate()
		if math.Abs(got-test.want) > 1e-6 || own > 1e-6 || math.Abs(off-test.off) > 1e-6 {
			t.Errorf("a control that is off by %.1f: %.1f ± %.1f, off by %.1f; want %.1f ± 0", test.off, got, own, off, test.want)
		}
	}
	c.misses[0] += 40
	if _, own, _ := c.estimate(); own < 30 || own > 50 {
		t.Errorf("a part with 40 more than the control tells: ± %.1f, want about 40", own)
	}
}

// Bytes of misses are those of the records that came in, of hits those that were hit.
func TestByteRatio(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ misses, reads, missBytes, hitBytes, want float64 }{
		{0, 0, 0, 0, 0}, {10, 10, 0, 0, 0}, {10, 10, 5, 0, 1}, {50, 100, 10, 10, 0.5}, {50, 100, 30, 10, 0.75}, {50, 100, 0, 10, 0.5},
	} {
		if got := byteRatio(test.misses, test.reads, test.missBytes, test.hitBytes); got != test.want {
			t.Errorf("%+v: %g", test, got)
		}
	}
}
