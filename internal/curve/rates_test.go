package curve

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/firncache/firn/internal/policy/whatif"
	"github.com/firncache/firn/stats"
)

// simulatedCurve is a simulation's, with these miss ratios; one of 1 is not valid.
func simulatedCurve(missRatios ...float64) *whatif.Curve {
	c := &whatif.Curve{Real: missRatios[2], Control: missRatios[2]}
	for i, m := range missRatios {
		c.Points[i] = whatif.Point{Factor: whatif.Factors[i], MissRatio: m, Filled: 1, Keys: 1000}
		if m == 1 {
			c.Points[i].State = whatif.Filling
		}
	}
	return c
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-6*math.Abs(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// What memory saves are the loads that it spares in an hour, times what one takes: also, as a
// cost, below the present size.
func TestCurveSavings(t *testing.T) {
	t.Parallel()
	r := rates{reads: 1000, loadTime: 10 * time.Millisecond}
	s := r.sizes(simulatedCurve(.5, .4, .3, .2, 1, .1), 1<<30, false)
	for i, want := range []float64{-200, -100, 0, 100, 0, 200} { // loads a second
		near(t, "saved", s.Points[i].Saved.Seconds(), want*.010*3600)
	}
	near(t, "loads", s.Points[3].Loads, 200)
	r.reads, r.loadTime = 1e9, time.Hour
	if s := r.sizes(simulatedCurve(.5, .4, .3, .2, .1, .1), 64<<10, false); s.Points[3].Saved != math.MaxInt64/time.Second*time.Second {
		t.Errorf("what a Duration cannot tell is %v", s.Points[3].Saved)
	}
}

// The present size over an SSD shows what was measured, and others that and the difference: what RAM
// misses more is read from the SSD, but for what both miss more, as their curve says. What a shared
// tier lacks now it lacks at any size.
func TestCurveOverSSD(t *testing.T) {
	t.Parallel()
	const gib = 1 << 30
	r := rates{reads: 1000, unanswered: .2, bySSD: .11} // of late; over the curve's window RAM missed .3
	s := r.sizes(simulatedCurve(.5, .4, .3, .25, .1, .05), gib, true)
	for i, want := range []float64{200, 200, 200, 200, 100, 50} {
		near(t, "loads", s.Points[i].Loads, want)
	}
	for i, want := range []float64{310, 210, 110, 60, 10, 10} {
		near(t, "reads of the SSD", s.Points[i].SSDReads, want)
	}
	both := r.sizes(simulatedCurve(.4, .3, .21, .1, 1, .05), 4*gib, false)
	r.both, r.ssdBytes = &both, 3*gib
	s = r.sizes(simulatedCurve(.5, .4, .3, .28, .1, .05), gib, true)
	for i, want := range []float64{290 - 90*math.Log2(3.25/2), 290 - 90*math.Log2(3.5/2), 200, 200 - 110*math.Log2(5./4), 100, 50} {
		near(t, "loads with the curve of both", s.Points[i].Loads, want)
	}
	near(t, "reads of the SSD", s.Points[2].SSDReads, 110)
	r.unanswered, r.byShared = .05, .15
	s = r.sizes(simulatedCurve(.5, .4, .3, .28, .1, .04), gib, true)
	near(t, "loads with a shared tier", s.Points[0].Loads, 50)
	near(t, "loads with a shared tier", s.Points[5].Loads, 40)
}

// Over an SSD no fewer loads are promised than the errors of both curves and of the point allow.
func TestDoubtOverSSD(t *testing.T) {
	t.Parallel()
	const gib = 1 << 30
	ram, both := simulatedCurve(.5, .4, .38, .36, .2, .1), simulatedCurve(.4, .3, 1, .1, 1, .05)
	for i := range ram.Points {
		ram.Points[i].Error, both.Points[i].Error = .01, .03
	}
	ram.Evicting = true
	r := rates{reads: 1000, unanswered: .37, bySSD: .01}
	c := stats.Curve{RAM: r.sizes(ram, gib, true), Both: r.sizes(both, 9*gib, false)}
	r.both = &c.Both
	for i, want := range []string{
		"36.0 ± 1.0 %: 10.0 fewer misses a second, 10.0 fewer reads of the SSD a second.",
		"36.0 ± 1.0 %: 10.0 fewer reads of the SSD a second.", // .37 - .36 is within .011
		"36.0 ± 1.0 %: 10.0 fewer reads of the SSD a second.", // and within .03 of both
	} {
		switch i {
		case 1:
			c.RAM.Points[3].Error = .011
		case 2:
			c.RAM.Points[3].Error, c.Both.Points[2].Error = .01, .03
		}
		r.advise(&c, true)
		if got := c.RAM.Advice[0]; !strings.HasSuffix(strings.Replace(got, "1.1", "1.0", 1), want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// Rates are those of a window at least, however often they are asked for, and are numbers whatever
// the clock and the counters do.
func TestRatesOfLate(t *testing.T) {
	t.Parallel()
	var l Recent
	l.Open(1000)
	at := func(seconds int64, hits uint64) rates {
		m := Counts{At: 1000 + 1000*seconds, Hits: hits, Misses: hits / 4, Loads: hits, Loading: time.Duration(hits) * time.Second}
		return ratesOf(l.Since(m), m)
	}
	near(t, "reads at once", at(0, 0).reads, 0)
	near(t, "reads since Open", at(10, 800).reads, 100)
	near(t, "reads since Open", at(30, 800).reads, 1000./30)
	near(t, "reads since Open", at(50, 800).reads, 1000./50)
	near(t, "reads of late", at(60, 1600).reads, 1000./30)
	r := at(120, 1600)
	near(t, "reads of late", r.reads, 0)
	near(t, "time of a load, when there were none of late", r.loadTime.Seconds(), 1)
	near(t, "reads with a clock that was set back", at(2, 2000).reads, 0)
	near(t, "reads with counters that fell", at(121, 10).reads, 0)
	at(-5000, 3000)
	near(t, "reads after a clock that was set back", at(-4990, 3800).reads, 100)
}
