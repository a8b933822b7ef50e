package whatif

import (
	"math"
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

// Curve is the miss ratios at all factors, and what stands behind them.
type Curve struct {
	Points  [len(Factors)]Point
	Control float64 // the miss ratio of the miniature cache of the present size, as a check
	Real    float64 // that of the real cache, in the same time
	Reads   float64 // of the real cache that both are about
	Lost    uint64  // events
}

// Curve is the miss ratios by size.
func (s *Simulation) Curve() (curve Curve) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var heavy [len(Factors)]float64
	for i, f := range Factors {
		g := s.groups[0]
		if f > 1 {
			g = s.groups[1]
		}
		for n := range g.sizes {
			if g.sizes[n].factor == f {
				curve.Points[i], heavy[i] = g.point(&g.sizes[n]), g.sizes[n].heavy()
			}
		}
	}
	curve.addHeavy(&heavy)
	c := &s.groups[0].control.counts
	curve.Reads = c.real.reads()
	curve.Real = ratio(c.real.misses, curve.Reads)
	curve.Control = min(ratio(sum(&c.control), curve.Reads), 1)
	curve.Lost = s.lost.Load()
	return curve
}

// point is what a size says.
func (g *group) point(z *size) Point {
	c, entries := &z.counts, z.entries()
	reads := c.real.reads()
	p := Point{
		Factor: z.factor, State: Valid, Filled: z.filled(), Keys: int(entries), Reads: reads,
		Entries: float64(entries) / g.rate.share, Inserts: ratio(c.inserts, reads),
		Life: life(float64(entries)/g.rate.share, c.inserts, c.millis),
	}
	misses, deviation, off := c.estimate()
	misses = min(misses, reads)
	p.MissRatio = ratio(misses, reads)
	p.Error = errorOf(ratio(deviation, reads), ratio(off, reads), p.Keys)
	p.ByteMissRatio = byteRatio(misses, reads, ratio(c.insertBytes, c.inserts), ratio(c.hitBytes, c.hits))
	if z == g.control {
		p.MissRatio = ratio(c.real.misses, reads)
	}
	switch {
	case p.Filled < 1:
		p.State = Filling
	case p.Keys < fewKeys:
		p.State = FewKeys
	}
	return p
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
// far the control is off, by the keys behind it, and by what the cache does otherwise than any
// miniature. The factors are fitted to traces: see TestTraces.
func errorOf(deviation, off float64, keys int) float64 {
	return math.Sqrt(12*deviation*deviation + 1.3*off*off + 0.027/float64(max(keys, 1)) + 0.007*0.007)
}

// addHeavy adds to the errors what heavy records bring: that so few of them are in a sample that
// nobody knows what all of them take of the bytes.
func (c *Curve) addHeavy(heavy *[len(Factors)]float64) {
	for i := range c.Points {
		lower, upper := max(i-1, 0), min(i+1, len(Factors)-1)
		slope := (c.Points[lower].MissRatio - c.Points[upper].MissRatio) / math.Log(Factors[upper]/Factors[lower])
		c.Points[i].Error = min(math.Hypot(c.Points[i].Error, heavyError*heavy[i]*slope), 1)
	}
}

// heavyError is what an error of 1 in the part of the bytes that heavy records take beyond what counts
// of them is worth: fitted, too.
const heavyError = 1.2
