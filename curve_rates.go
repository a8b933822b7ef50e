package firn

import (
	"math"
	"sync"
	"time"

	"github.com/firncache/firn/internal/policy/whatif"
)

// moment is what was counted until a time.
type moment struct {
	at                                int64 // milliseconds of the store's clock
	hits, misses, ssdHits, sharedHits uint64
	loads                             uint64
	loading                           time.Duration // all loads together
}

// lately remembers two moments, so that rates are those of late, and not since Open, however
// often they are asked for.
type lately struct {
	mu        sync.Mutex
	from, mid moment
}

// window is how old a moment gets, in milliseconds, before it is followed by the next.
const window = 30_000

func (l *lately) open(now int64) { l.from.at, l.mid.at = now, now }

// since is a moment at least a window ago, or the first.
func (l *lately) since(now moment) moment {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.at-l.mid.at >= window {
		l.from, l.mid = l.mid, now
	}
	return l.from
}

// rates are what happened between two moments.
type rates struct {
	reads      float64       // in RAM, a second
	unanswered float64       // share of these that no tier has answered
	bySSD      float64       // share of the answers below RAM that came from the SSD
	loadTime   time.Duration // mean; 0: none was measured
	hasLower   bool          // something answered what RAM had not
}

func ratesOf(from, to moment) (r rates) {
	seconds := float64(to.at-from.at) / 1000
	hits, misses := float64(less(to.hits, from.hits)), float64(less(to.misses, from.misses))
	ssd, shared := float64(less(to.ssdHits, from.ssdHits)), float64(less(to.sharedHits, from.sharedHits))
	r.reads = quotient(hits+misses, seconds)
	r.unanswered = quotient(max(misses-ssd-shared, 0), hits+misses)
	r.bySSD = quotient(ssd, ssd+shared)
	r.hasLower = ssd+shared > 0
	if to.loads == from.loads { // of late there were none
		from = moment{}
	}
	r.loadTime = time.Duration(quotient(float64(to.loading-from.loading), float64(less(to.loads, from.loads))))
	return r
}

// less is a-b, 0 below 0: counters that are not synchronized may fall.
func less(a, b uint64) uint64 { return a - min(a, b) }

// quotient is a/b, 0 if that is no number or none that a can be above 0.
func quotient(a, b float64) float64 {
	if q := a / b; b > 0 && !math.IsNaN(q) && !math.IsInf(q, 0) {
		return q
	}
	return 0
}

// sizes is the curve of tiers of so many bytes in all.
func (r *rates) sizes(sim *whatif.Curve, bytes int64, overSSD bool) SizeCurve {
	s := SizeCurve{MissRatio: quotient(sim.Real, 1), Simulated: quotient(sim.Control, 1), Knee: -1}
	now := 0
	for i := range sim.Points {
		s.Points = append(s.Points, r.point(&sim.Points[i], bytes, overSSD))
		if sim.Points[i].Factor == 1 {
			now = i
		}
	}
	for i := range s.Points {
		s.Points[i].SavedPerGiB = r.saved(&s.Points[now], &s.Points[i])
	}
	s.Knee = knee(s.Points)
	return s
}

// minCurveKeys is how many keys of the sample a miniature cache has to have to tell something.
const minCurveKeys = 100

// confidence is how many standard errors an error is, for 19 of 20 cases.
const confidence = 1.96

// point is one size's.
func (r *rates) point(p *whatif.Point, bytes int64, overSSD bool) CurvePoint {
	c := CurvePoint{Factor: p.Factor, Bytes: int64(p.Factor * float64(bytes)), Keys: p.Keys}
	switch {
	case !p.Warm:
		c.State = CurveFilling
		return c
	case c.Keys < minCurveKeys || math.IsNaN(p.MissRatio) || math.IsNaN(p.Error):
		c.State = CurveFewKeys
		return c
	}
	c.Filled = 1
	c.MissRatio, c.Error, c.ByteMissRatio = quotient(p.MissRatio, 1), quotient(confidence*p.Error, 1), quotient(p.ByteMissRatio, 1)
	c.Loads, c.SSDReads = r.below(c.MissRatio, overSSD)
	c.Life = seconds(quotient(p.Entries, p.Inserts*r.reads))
	return c
}

// below is how many of the reads that miss are answered by no tier, and by the SSD, a second. What
// no tier answers now, a larger cache does not either, as long as it is not so large that fewer
// reads miss.
func (r *rates) below(missRatio float64, overSSD bool) (loads, ssdReads float64) {
	missed := missRatio * r.reads
	if !r.hasLower {
		return missed, 0
	}
	loads = min(missed, r.unanswered*r.reads)
	if overSSD {
		ssdReads = (missed - loads) * r.bySSD
	}
	return loads, ssdReads
}

// saved is CurvePoint.SavedPerGiB of a point beside that of the present size.
func (r *rates) saved(now, p *CurvePoint) time.Duration {
	if now.State != CurveValid || p.State != CurveValid {
		return 0
	}
	more := float64(p.Bytes-now.Bytes) / (1 << 30)
	if more == 0 {
		return 0
	}
	return seconds((now.Loads - p.Loads) * r.loadTime.Seconds() * 3600 / more)
}

// seconds is a time of so many, as far as a Duration can tell.
func seconds(s float64) time.Duration {
	const most = float64(math.MaxInt64 / time.Second)
	return time.Duration(min(max(s, -most), most) * float64(time.Second))
}
