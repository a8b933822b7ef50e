package whatif

import "math"

// parts is how many parts a sample has, by which its error is estimated. A piece has some of them
// for itself.
const parts = 16

// partOf is the part that a key belongs to, by its mixed hash.
func partOf(mixed uint64) int { return int(mixed % parts) }

// tally is what a size answered in a window. Each request counts as many as it stands for.
type tally struct {
	misses               [parts]float32 // in a window no part has 2²⁴ of them, from where on a float32 stands still
	hits, hitBytes       float64
	inserts, insertBytes float64
}

// read counts a request.
func (t *tally) read(part int, hit bool, weight float64, size uint32) {
	if hit {
		t.hits += weight
		t.hitBytes += weight * float64(size)
	} else {
		t.misses[part] += float32(weight)
	}
}

// insert counts a record that came in.
func (t *tally) insert(weight float64, size uint32) {
	t.inserts += weight
	t.insertBytes += weight * float64(size)
}

// counts are the tallies of a size and of its control over some windows, beside what the cache itself
// did in these.
type counts struct {
	real    realTally
	misses  [parts]float64
	control [parts]float64 // misses

	hits, hitBytes       float64
	inserts, insertBytes float64
}

// tallies are those of a size, one for each window.
type tallies [windows]tally

// countsOf adds up the tallies of a size and of its control over the windows from the first on.
func countsOf(size, control *tallies, r *ring, first int) (c counts) {
	c.real = r.since(first)
	for n := first; n <= r.number; n++ {
		own, other := &size[n%windows], &control[n%windows]
		for i := range parts {
			c.misses[i] += float64(own.misses[i])
			c.control[i] += float64(other.misses[i])
		}
		c.hits += own.hits
		c.hitBytes += own.hitBytes
		c.inserts += own.inserts
		c.insertBytes += own.insertBytes
	}
	return c
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
