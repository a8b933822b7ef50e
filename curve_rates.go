package firn

import (
	"math"
	"sync"
	"time"

	"github.com/firncache/firn/internal/advice"
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
	bySSD      float64       // share of reads that the SSD has answered
	ssdBytes   int64         // of the bytes of both, those on the SSD
}

func ratesOf(from, to moment) (r rates) {
	seconds := float64(to.at-from.at) / 1000
	hits, misses := float64(less(to.hits, from.hits)), float64(less(to.misses, from.misses))
	ssd, shared := float64(less(to.ssdHits, from.ssdHits)), float64(less(to.sharedHits, from.sharedHits))
	r.reads = quotient(hits+misses, seconds)
	r.unanswered = quotient(max(misses-ssd-shared, 0), hits+misses)
	r.byShared = quotient(shared, hits+misses)
	r.bySSD = quotient(min(ssd, misses), hits+misses)
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
	s := SizeCurve{Reads: sim.Reads, Window: sim.Window, MissRatio: sim.Real, Simulated: sim.Control, Evicts: sim.Evicting}
	now := 0
	for i := range sim.Points {
		s.Points = append(s.Points, point(&sim.Points[i], bytes))
		if sim.Points[i].Factor == 1 {
			now = i
		}
	}
	present := s.Points[now]
	for i := range s.Points {
		if p := &s.Points[i]; p.State == CurveValid && present.State == CurveValid {
			r.below(&present, p, overSSD)
			p.Saved = seconds((r.loads(overSSD, &present) - p.Loads) * r.loadTime.Seconds() * 3600)
		}
	}
	return s
}

// point is one size's, without the rates.
func point(p *whatif.Point, bytes int64) CurvePoint {
	c := CurvePoint{Factor: p.Factor, Bytes: int64(p.Factor * float64(bytes)), State: CurveState(p.State), Filled: p.Filled, Keys: p.Keys}
	if c.State == CurveValid {
		c.MissRatio, c.Error, c.ByteMissRatio, c.Life = p.MissRatio, p.Error, p.ByteMissRatio, max(p.Life, 0)
	}
	return c
}

// below sets how many of the reads that miss at a point are answered by no tier, and by the SSD if
// it is below, a second. What a shared tier lacks now it lacks whatever there is above. Over an SSD the
// present size has what was measured, and another one the difference on top.
func (r *rates) below(now, p *CurvePoint, overSSD bool) {
	p.Loads = r.loads(overSSD, p)
	if overSSD {
		answered := r.bySSD + (p.MissRatio - now.MissRatio) - (p.Loads-r.loads(overSSD, now))/max(r.reads, 1e-9)
		p.SSDReads = max(answered, 0) * r.reads
	}
}

// loads is how many reads a second no tier answers at a point.
func (r *rates) loads(overSSD bool, p *CurvePoint) float64 {
	missed := p.MissRatio // by RAM and SSD
	if overSSD {
		missed = min(missed, r.missedByBoth(p))
	}
	if r.byShared > 0 {
		missed = min(missed, r.unanswered)
	}
	return missed * r.reads
}

// missedByBoth is the share of reads that RAM of a point's bytes and the SSD miss: as measured, and the
// difference that the curve of both tells. If that is not known they miss what they miss now.
func (r *rates) missedByBoth(p *CurvePoint) float64 {
	measured := r.unanswered + r.byShared
	if r.both != nil && p.Factor != 1 {
		now := int64(float64(p.Bytes) / p.Factor)
		there, ok := r.both.missedAt(p.Bytes + r.ssdBytes)
		here, known := r.both.missedAt(now + r.ssdBytes)
		if ok && known {
			return max(measured+there-here, 0)
		}
	}
	return measured
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

// seconds is a time of so many, as far as a Duration can tell.
func seconds(s float64) time.Duration {
	const most = float64(math.MaxInt64 / time.Second)
	return time.Duration(min(max(s, -most), most) * float64(time.Second))
}

// advise says what the curves mean. Over an SSD the loads at other sizes of RAM come from the curve of
// both tiers, and so does their doubt.
func (r *rates) advise(c *Curve, overSSD bool) {
	doubt := 0.0
	for i := range c.Both.Points {
		if p := &c.Both.Points[i]; p.Factor == 1 {
			doubt = p.Error * r.reads
		}
	}
	c.RAM.Advice = r.sentences(&c.RAM, advice.Curve{Memory: "RAM", Lower: overSSD, Doubt: doubt})
	if overSSD {
		c.Both.Advice = r.sentences(&c.Both, advice.Curve{Memory: "RAM and SSD"})
	}
}

func (r *rates) sentences(s *SizeCurve, of advice.Curve) []string {
	of.Evicts, of.Loads = s.Evicts, r.loadTime > 0
	of.Lacking = "Other sizes are not simulated: the cache is too small for that, or Options.WhatIf is off."
	for i := range s.Points {
		p := &s.Points[i]
		of.Points = append(of.Points, advice.Point{
			Factor: p.Factor, Bytes: p.Bytes, Valid: p.State == CurveValid, Filled: p.Filled, Keys: p.Keys,
			MissRatio: p.MissRatio, Error: p.Error, Loads: p.Loads, SSDReads: p.SSDReads, Saved: p.Saved,
		})
	}
	return of.Sentences()
}
