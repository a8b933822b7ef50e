package curve

import (
	"math"
	"time"

	"github.com/firncache/firn/internal/advice"
	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/policy/whatif"
	"github.com/firncache/firn/stats"
)

// Of is the curve of a cache that simulates itself, with the rates of the time between since and
// now.
func Of(sim *local.Simulated, since, now Counts, overSSD bool) stats.Curve {
	r := ratesOf(since, now)
	c := stats.Curve{RAM: stats.SizeCurve{Points: []stats.CurvePoint{}}, Both: stats.SizeCurve{Points: []stats.CurvePoint{}}, Reads: r.reads, LoadTime: r.loadTime}
	if sim.HasBoth {
		c.Both = r.sizes(&sim.Both, sim.RAMBytes+sim.SSDBytes, false)
		r.both, r.ssdBytes = &c.Both, sim.SSDBytes
	}
	if sim.HasRAM {
		c.RAM = r.sizes(&sim.RAM, sim.RAMBytes, overSSD)
	}
	r.advise(&c, overSSD)
	return c
}

// sizes is the curve of tiers of so many bytes in all.
func (r *rates) sizes(sim *whatif.Curve, bytes int64, overSSD bool) stats.SizeCurve {
	s := stats.SizeCurve{Reads: sim.Reads, Window: sim.Window, MissRatio: sim.Real, Simulated: sim.Control, Evicts: sim.Evicting}
	now := 0
	for i := range sim.Points {
		s.Points = append(s.Points, point(&sim.Points[i], bytes))
		if sim.Points[i].Factor == 1 {
			now = i
		}
	}
	present := s.Points[now]
	for i := range s.Points {
		if p := &s.Points[i]; p.State == stats.CurveValid && present.State == stats.CurveValid {
			r.below(&present, p, overSSD)
			p.Saved = seconds((r.loads(overSSD, &present) - p.Loads) * r.loadTime.Seconds() * 3600)
		}
	}
	return s
}

var states = [...]stats.CurveState{whatif.Valid: stats.CurveValid, whatif.Filling: stats.CurveFilling, whatif.FewKeys: stats.CurveFewKeys}

// point is one size's, without the rates.
func point(p *whatif.Point, bytes int64) stats.CurvePoint {
	c := stats.CurvePoint{Factor: p.Factor, Bytes: int64(p.Factor * float64(bytes)), State: states[p.State], Filled: p.Filled, Keys: p.Keys}
	if c.State == stats.CurveValid {
		c.MissRatio, c.Error, c.ByteMissRatio, c.Life = p.MissRatio, p.Error, p.ByteMissRatio, max(p.Life, 0)
	}
	return c
}

// below sets how many of the reads that miss at a point are answered by no tier, and by the SSD if
// it is below, a second. What a shared tier lacks now it lacks whatever there is above. Over an SSD the
// present size has what was measured, and another one the difference on top.
func (r *rates) below(now, p *stats.CurvePoint, overSSD bool) {
	p.Loads = r.loads(overSSD, p)
	if overSSD {
		answered := r.bySSD + (p.MissRatio - now.MissRatio) - (p.Loads-r.loads(overSSD, now))/max(r.reads, 1e-9)
		p.SSDReads = max(answered, 0) * r.reads
	}
}

// loads is how many reads a second no tier answers at a point.
func (r *rates) loads(overSSD bool, p *stats.CurvePoint) float64 {
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
// difference by the curve of both. Where that is not known, it is the present share.
func (r *rates) missedByBoth(p *stats.CurvePoint) float64 {
	measured := r.unanswered + r.byShared
	if r.both != nil && p.Factor != 1 {
		now := int64(float64(p.Bytes) / p.Factor)
		there, ok := missedAt(r.both, p.Bytes+r.ssdBytes)
		here, known := missedAt(r.both, now+r.ssdBytes)
		if ok && known {
			return max(measured+there-here, 0)
		}
	}
	return measured
}

// missedAt is the miss ratio at a size between two valid points: of its logarithm it is a line.
func missedAt(s *stats.SizeCurve, bytes int64) (missRatio float64, ok bool) {
	for i := range s.Points[1:] {
		a, b := &s.Points[i], &s.Points[i+1]
		if a.Bytes <= bytes && bytes <= b.Bytes && a.State == stats.CurveValid && b.State == stats.CurveValid {
			part := math.Log(float64(bytes)/float64(a.Bytes)) / math.Log(float64(b.Bytes)/float64(a.Bytes))
			return a.MissRatio + part*(b.MissRatio-a.MissRatio), true
		}
	}
	return 0, false
}

// seconds is a time of so many, or the longest Duration.
func seconds(s float64) time.Duration {
	const most = float64(math.MaxInt64 / time.Second)
	return time.Duration(min(max(s, -most), most) * float64(time.Second))
}

// advise says what the curves mean.
func (r *rates) advise(c *stats.Curve, overSSD bool) {
	c.RAM.Advice = r.sentences(&c.RAM, advice.Curve{Memory: "RAM", Lower: overSSD})
	if overSSD {
		c.Both.Advice = r.sentences(&c.Both, advice.Curve{Memory: "RAM and SSD"})
	}
}

// doubt is how many loads a second a point may be off by. Over an SSD they come from the curve of both tiers,
// or are bounded by the point's own misses: the errors of both are theirs.
func (r *rates) doubt(p *stats.CurvePoint) float64 {
	doubt := p.Error
	if r.both != nil {
		for i := range r.both.Points {
			if b := &r.both.Points[i]; b.Factor == 1 {
				doubt = max(doubt, b.Error)
			}
		}
	}
	return doubt * r.reads
}

func (r *rates) sentences(s *stats.SizeCurve, of advice.Curve) []string {
	of.Evicts, of.Loads = s.Evicts, r.loadTime > 0
	of.Lacking = "Other sizes are not simulated: RAMBytes is below 6.3 MiB, or Options.WhatIf is off."
	for i := range s.Points {
		p, doubt := &s.Points[i], 0.0
		if of.Lower {
			doubt = r.doubt(p)
		}
		of.Points = append(of.Points, advice.Point{
			Factor: p.Factor, Bytes: p.Bytes, Valid: p.State == stats.CurveValid, Filled: p.Filled, Keys: p.Keys,
			MissRatio: p.MissRatio, Error: p.Error, Loads: p.Loads, SSDReads: p.SSDReads, Saved: p.Saved, Doubt: doubt,
		})
	}
	return of.Sentences()
}
