package whatif

import "math"

// parts is how many parts a sample has, by which its error is estimated.
const parts = 16

// counts are the requests for the keys of one sample, as one cache has answered them. Each counts
// as many as it stands for.
type counts struct {
	requestBytes float64
	missBytes    float64
	inserts      float64
	misses       [parts]float64
}

func (c *counts) read(hash uint64, hit bool, weight float64, size uint32) {
	bytes := weight * float64(size)
	c.requestBytes += bytes
	if !hit {
		c.misses[mix(hash)%parts] += weight
		c.missBytes += bytes
	}
}

func (c *counts) missed() (sum float64) {
	for _, m := range c.misses {
		sum += m
	}
	return sum
}

// scale makes the counts those of a part of the time.
func (c *counts) scale(by float64) {
	c.requestBytes *= by
	c.missBytes *= by
	c.inserts *= by
	for i := range c.misses {
		c.misses[i] *= by
	}
}

// correct is the estimate of a cache's misses, and its standard error, given those of the control and
// what the control's should be.
func (c *counts) correct(control *counts, should float64) (misses, err float64) {
	misses, of := c.missed(), control.missed()
	beta := c.slope(control, misses, of)
	rest := 0.0
	for i := range parts {
		d := (c.misses[i] - misses/parts) - beta*(control.misses[i]-of/parts)
		rest += d * d
	}
	return max(misses+beta*(should-of), 0), math.Sqrt(rest * parts / (parts - 1))
}

// slope is by how much the misses of a part go up with the control's.
func (c *counts) slope(control *counts, misses, of float64) float64 {
	both, square := 0.0, 0.0
	for i := range parts {
		d := control.misses[i] - of/parts
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
