package whatif

import (
	"math"
	"slices"
	"time"
)

// State says whether a Point can be relied on.
type State uint8

// The states.
const (
	Valid   State = iota
	Filling       // not enough has flowed through: see Point.Filled
	FewKeys       // too few keys of the sample stand behind it
)

// Point is what a cache of another size would do.
type Point struct {
	Factor        float64 // of the present size
	State         State
	Filled        float64       // share, 0 to 1, of what has to flow through before it is valid
	MissRatio     float64       // reads that miss, of all
	Error         float64       // the true miss ratio is within ± this in 19 of 20 cases
	ByteMissRatio float64       // as MissRatio, of the bytes of records
	Inserts       float64       // per read
	Entries       float64       // that it would hold
	Life          time.Duration // that an entry stays, on average, from when it came in to when it is evicted, expires or is deleted; 0: none came in
	Keys          int           // of the sample that the miniature caches hold
	Reads         float64       // of the real cache that it is about; older ones weigh less
}

// Curve is the miss ratios at all factors, over the same requests, and what stands behind them.
type Curve struct {
	Points   [len(Factors)]Point
	Control  float64       // the miss ratio of the miniature cache of the present size, as a check
	Real     float64       // that of the real cache, in the same time
	Reads    float64       // of the real cache that all this is about, the latest
	Window   time.Duration // in which they were
	Evicting bool          // the real cache has evicted to make room
	Lost     uint64        // events
}

// Curve is the miss ratios by size.
func (s *Simulation) Curve() (curve Curve) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.firstCounted()
	var heavy [len(Factors)]float64
	for i, f := range Factors {
		curve.Points[i] = Point{Factor: f, State: FewKeys, Filled: 1} // where it is not simulated
		g := s.groups[0]
		if f > 1 {
			g = s.groups[1]
		}
		for n := range g.sizes {
			if g.sizes[n].factor == f {
				curve.Points[i], heavy[i] = g.point(&g.sizes[n], &s.ring, first), g.sizes[n].heavy()
			}
		}
	}
	curve.addHeavy(&heavy)
	curve.order()
	real, control := s.ring.since(first), &s.groups[0].control.tallies
	curve.Reads = real.reads()
	curve.Window = time.Duration(min(real.millis*1e6, math.MaxInt64/2))
	curve.Real = ratio(real.misses, curve.Reads)
	measured := countsOf(control, control, &s.ring, first)
	curve.Control = min(ratio(sum(&measured.misses), curve.Reads), 1)
	curve.Evicting, curve.Lost = s.evicting, s.lost.Load()
	return curve
}

// firstCounted is the first window that a curve is about: from it on all sizes were warm that have
// been so for long enough.
func (s *Simulation) firstCounted() int {
	first := s.ring.oldest()
	for _, g := range s.groups {
		for n := range g.sizes {
			if z := &g.sizes[n]; z.warm && g.countedSince(z.since, &s.ring) >= 1 {
				first = max(first, z.since)
			}
		}
	}
	return first
}

// countedSince is how many of the requests that a group needs for a figure came since the start
// of a window: a share, with 1 or more for all.
func (g *group) countedSince(first int, r *ring) float64 {
	return g.eventsSince(max(first, r.oldest()), r) / max(enoughReads, enoughEvents*float64(g.table.used))
}

const (
	enoughReads  = 1000 // requests of a sample from which a size has a figure
	enoughEvents = 0.5  // and those for each key that is in it
)

// filled is the share, 0 to 1, of what a size still needs for a figure.
func (g *group) filled(z *size, r *ring) float64 {
	return 0.9*z.flow() + 0.1*min(g.countedSince(z.since, r), 1)
}

// point is what a size says of the windows from the first on.
func (g *group) point(z *size, r *ring, first int) Point {
	entries, c := z.entries(), countsOf(&z.tallies, &g.control.tallies, r, first)
	reads := c.real.reads()
	p := Point{
		Factor: z.factor, State: Valid, Filled: g.filled(z, r), Keys: int(entries),
		Entries: float64(entries) / g.rate.share, Inserts: ratio(c.inserts, reads),
		Life: life(float64(entries)/g.rate.share, c.inserts, c.real.millis),
	}
	misses, deviation, off := c.estimate()
	misses = min(misses, reads)
	p.MissRatio = ratio(misses, reads)
	p.Error = errorOf(ratio(deviation, reads), ratio(off, reads), p.MissRatio-ratio(c.real.misses, reads), p.Keys)
	if z.pieces[0].tuner == untuned && z != g.control {
		p.Error = math.Hypot(p.Error, choiceError)
	}
	p.ByteMissRatio = byteRatio(misses, reads, ratio(c.insertBytes, c.inserts), ratio(c.hitBytes, c.hits))
	if z == g.control {
		p.MissRatio = ratio(c.real.misses, reads)
	}
	switch {
	case p.Filled < 1 || z.since > first:
		p.State = Filling
	case p.Keys < fewKeys && z != g.control: // that is measured
		p.State = FewKeys
	}
	return p
}

// order lets no larger size miss more than a smaller one, beginning with the present one, which is
// measured.
func (c *Curve) order() {
	present := slices.Index(Factors[:], 1)
	bound := c.Points[present].MissRatio
	for i := present - 1; i >= 0; i-- {
		bound = c.Points[i].keepTo(bound, math.Inf(1))
	}
	bound = c.Points[present].MissRatio
	for i := present + 1; i < len(c.Points); i++ {
		bound = c.Points[i].keepTo(0, bound)
	}
}

// keepTo has a point that is valid lie between two bounds, and returns what bounds the next one.
func (p *Point) keepTo(least, most float64) (next float64) {
	if p.State == Valid {
		p.MissRatio = min(max(p.MissRatio, least), most)
		return p.MissRatio
	}
	if math.IsInf(most, 1) {
		return least
	}
	return most
}

// life is how long entries stay: by Little's law their number divided by how many come in.
func life(entries, inserts, millis float64) time.Duration {
	if inserts == 0 || millis == 0 {
		return 0
	}
	return time.Duration(min(entries/inserts*millis*1e6, math.MaxInt64/2))
}

// byteRatio is the share of missed bytes, with the mean bytes of a record that is missed and of one
// that is hit. What misses and is never stored has no size.
func byteRatio(misses, reads, missBytes, hitBytes float64) float64 {
	if missBytes == 0 {
		missBytes = hitBytes
	}
	missBytes *= misses
	return ratio(missBytes, missBytes+(reads-misses)*hitBytes)
}

// errorOf is the error of a miss ratio in 19 of 20 cases: by its standard deviation over the parts, by how
// far the control is off, by how far it is from what the cache itself misses, by the keys behind it, and
// by what the cache does otherwise than any miniature. The factors are fitted to traces: see TestTraces.
func errorOf(deviation, off, gap float64, keys int) float64 {
	return math.Sqrt(25*deviation*deviation + 0.5*off*off + 0.018*gap*gap + 0.024/float64(max(keys, 1)) + 0.01*0.01)
}

// choiceError is for a size that has the setting of the cache, and would choose another one perhaps:
// fitted, too.
const choiceError = 0.0175

// addHeavy adds to the errors what heavy records bring: that so few of them are in a sample that
// their share of the bytes is not known.
func (c *Curve) addHeavy(heavy *[len(Factors)]float64) {
	for i := range c.Points {
		lower, upper := max(i-1, 0), min(i+1, len(Factors)-1)
		if upper == len(Factors)-1 && c.Points[upper].Keys == 0 { // it is not simulated
			upper = i
		}
		slope := (c.Points[lower].MissRatio - c.Points[upper].MissRatio) / math.Log(Factors[upper]/Factors[lower])
		c.Points[i].Error = min(math.Hypot(c.Points[i].Error, heavyError*heavy[i]*slope), 1)
	}
}

// heavyError is what an error of 1 in the part of the bytes that heavy records take beyond what counts
// of them is worth: fitted, too.
const heavyError = 1.1
