package whatif

import "math"

// parts is how many parts a sample has, by which its error is estimated. A piece has some of them
// for itself.
const parts = 16

// partOf is the part that a key belongs to, by its mixed hash.
func partOf(mixed uint64) int { return int(mixed % parts) }

// counts are the requests of some time, as a size and its control have answered them. Each counts as
// many as it stands for, and older ones weigh less.
type counts struct {
	events  float64 // reads that were counted, each once
	misses  [parts]float64
	control [parts]float64 // misses
	real    missCount

	hits, hitBytes       float64
	inserts, insertBytes float64
	millis               float64 // that have passed
}

// missCount is how often the cache itself had what was asked for, and how often it had not.
type missCount struct{ hits, misses float64 }

func (m missCount) reads() float64 { return m.hits + m.misses }

// read counts a request.
func (c *counts) read(part int, hit, controlHit bool, weight float64, size uint32) {
	c.events++
	if hit {
		c.hits += weight
		c.hitBytes += weight * float64(size)
	} else {
		c.misses[part] += weight
	}
	if !controlHit {
		c.control[part] += weight
	}
}

// insert counts a record that came in.
func (c *counts) insert(weight float64, size uint32) {
	c.inserts += weight
	c.insertBytes += weight * float64(size)
}

// tell adds what the cache itself has answered in some time.
func (c *counts) tell(real missCount, millis float64) {
	c.real.hits += real.hits
	c.real.misses += real.misses
	c.millis += millis
}

// fade lets what was counted weigh half.
func (c *counts) fade() {
	for _, f := range []*float64{
		&c.events, &c.real.hits, &c.real.misses, &c.hits, &c.hitBytes, &c.inserts, &c.insertBytes, &c.millis,
	} {
		*f /= 2
	}
	for i := range parts {
		c.misses[i] /= 2
		c.control[i] /= 2
	}
}

func sum(of *[parts]float64) (s float64) {
	for _, m := range of {
		s += m
	}
	return s
}

// estimate is what the counts say of a size's misses: a regression estimator. The control's error is
// known, and the size shares it, as far as their misses go up and down together over the parts. What
// chance does not explain of the control's error is no error of the sample, but another choice
// of its tuners: that the size does not share.
func (c *counts) estimate() (misses, deviation, off float64) {
	misses, of := sum(&c.misses), sum(&c.control)
	beta, rest, chance := c.slope(misses, of), 0.0, 0.0
	for i := range parts {
		own, control := c.misses[i]-misses/parts, c.control[i]-of/parts
		rest += (own - beta*control) * (own - beta*control)
		chance += control * control
	}
	most := mostChance * math.Sqrt(chance*parts/(parts-1))
	off = c.real.misses - of
	return max(misses+beta*min(max(off, -most), most), 0), math.Sqrt(rest * parts / (parts - 1)), off
}

// mostChance is how many standard deviations of the control's error are put down to chance.
const mostChance = 2

// slope is by how much the misses of a part go up with the control's.
func (c *counts) slope(misses, of float64) float64 {
	both, square := 0.0, 0.0
	for i := range parts {
		d := c.control[i] - of/parts
		both += d * (c.misses[i] - misses/parts)
		square += d * d
	}
	if square == 0 {
		return 1
	}
	return min(max(both/square, 0), mostSlope)
}

// mostSlope bounds what chance can make of a slope.
const mostSlope = 1.2

// ratio is a/b, 0 for nothing of nothing.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
