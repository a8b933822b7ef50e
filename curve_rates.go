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
	loads                             uint64        // in values
	loading                           time.Duration // all calls of loaders together
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
	switch {
	case now.at < l.mid.at-window: // the clock was set back
		l.from, l.mid = now, now
	case now.at-l.mid.at >= window:
		l.from, l.mid = l.mid, now
	}
	return l.from
}

// rates are what happened between two moments.
type rates struct {
	reads      float64       // in RAM, a second
	unanswered float64       // share of these that no tier has answered
	byShared   float64       // share of these that the shared tier has answered
	loadTime   time.Duration // mean of a value; 0: none was measured
	both       *SizeCurve    // of RAM and SSD as one cache; nil: not known
	ssdBytes   int64         // of its bytes, those on the SSD
}

func ratesOf(from, to moment) (r rates) {
	seconds := float64(to.at-from.at) / 1000
	hits, misses := float64(less(to.hits, from.hits)), float64(less(to.misses, from.misses))
	ssd, shared := float64(less(to.ssdHits, from.ssdHits)), float64(less(to.sharedHits, from.sharedHits))
	r.reads = quotient(hits+misses, seconds)
	r.unanswered = quotient(max(misses-ssd-shared, 0), hits+misses)
	r.byShared = quotient(shared, hits+misses)
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
	s := SizeCurve{MissRatio: sim.Real, Simulated: sim.Control}
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

// point is one size's.
func (r *rates) point(p *whatif.Point, bytes int64, overSSD bool) CurvePoint {
	c := CurvePoint{Factor: p.Factor, Bytes: int64(p.Factor * float64(bytes)), State: CurveState(p.State), Filled: p.Filled, Keys: p.Keys}
	if c.State != CurveValid {
		return c
	}
	c.Reads, c.MissRatio, c.Error, c.ByteMissRatio, c.Life = p.Reads, p.MissRatio, p.Error, p.ByteMissRatio, max(p.Life, 0)
	c.Loads, c.SSDReads = r.below(&c, overSSD)
	return c
}

// below is how many of the reads that miss at a point are answered by no tier, and by the SSD if
// it is below, a second. What a shared tier lacks now it lacks whatever there is above.
func (r *rates) below(c *CurvePoint, overSSD bool) (loads, ssdReads float64) {
	missed := c.MissRatio // by RAM and SSD
	if overSSD {
		missed = min(missed, r.missedByBoth(c.Bytes))
		ssdReads = (c.MissRatio - missed) * r.reads
	}
	if r.byShared > 0 {
		missed = min(missed, r.unanswered)
	}
	return missed * r.reads, ssdReads
}

// missedByBoth is the share of reads that RAM of so many bytes and the SSD miss. If that is not
// known they miss what they miss now.
func (r *rates) missedByBoth(ram int64) float64 {
	if r.both != nil {
		if m, ok := r.both.missedAt(ram + r.ssdBytes); ok {
			return m
		}
	}
	return r.unanswered + r.byShared
}

// missedAt is the miss ratio at a size between two valid points: of its logarithm it is a line.
func (s *SizeCurve) missedAt(bytes int64) (missRatio float64, ok bool) {
	for i := range s.Points[1:] {
		a, b := &s.Points[i], &s.Points[i+1]
		if a.Bytes <= bytes && bytes <= b.Bytes && a.State == CurveValid && b.State == CurveValid {
			part := math.Log(float64(bytes)/float64(a.Bytes)) / math.Log(float64(b.Bytes)/float64(a.Bytes))
			return a.MissRatio + part*(b.MissRatio-a.MissRatio), true
		}
	}
	return 0, false
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
