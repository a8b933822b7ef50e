// Package advice says in sentences what the curve of a cache means. The live page, firn plan and
// firn replay print them as they are.
//
// It recommends no smaller size: a cache that is larger than it needs to be costs memory, one that is
// too small costs the source. Sizes whose errors overlap are called so, with both figures.
package advice

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Curve is the miss ratio of a cache at some sizes.
type Curve struct {
	Memory  string  // that changes with the size: "RAM", or "RAM and SSD"
	Lower   bool    // there is a tier below Memory: what misses Memory is not yet a load
	Evicts  bool    // the cache has evicted something to make room
	Loads   bool    // misses are loads, and their time is known
	Points  []Point // by rising size; one of them has Factor 1
	Lacking string  // why there are no points
}

// Point is a cache of another size.
type Point struct {
	Factor float64 // of the present size
	Bytes  int64
	Valid  bool
	Filled float64 // share, 0 to 1, of what a point has to see before it is valid
	Keys   int     // of the sample that stand behind it; a valid one has EnoughKeys

	MissRatio, Error float64       // 0 to 1; the present size's MissRatio is measured
	Loads, SSDReads  float64       // a second
	Doubt            float64       // loads a second that a difference to the present size has to exceed
	Saved            time.Duration // of the source, in an hour, beside the present size
}

// EnoughKeys is how many keys of the sample a size needs for a figure.
const EnoughKeys = 100

// Sentences is what the curve means.
func (c *Curve) Sentences() []string {
	now := c.present()
	switch {
	case now == nil:
		return []string{c.Lacking}
	case !c.Evicts:
		return []string{fmt.Sprintf("Everything fits: nothing was evicted from %s so far, and more %s would change nothing.", Size(now.Bytes), c.Memory)}
	case !now.Valid:
		return []string{fmt.Sprintf("Other sizes cannot be judged yet: %s.", reason(now))}
	}
	said := []string{c.larger(now), c.largest(now), c.smaller(now)}
	n := 0
	for _, s := range said {
		if s != "" {
			said[n] = s
			n++
		}
	}
	return said[:n]
}

func (c *Curve) present() *Point { return c.at(1) }

// at is the point of a factor, nil if there is none.
func (c *Curve) at(factor float64) *Point {
	for i := range c.Points {
		if c.Points[i].Factor == factor {
			return &c.Points[i]
		}
	}
	return nil
}

// differs reports whether a valid point differs from the present size by more than its error.
func differs(now, p *Point) bool {
	return p.Valid && math.Abs(now.MissRatio-p.MissRatio) > p.Error
}

// reason says why a point is not valid, and what would help.
func reason(p *Point) string {
	if p.Filled < 1 {
		return fmt.Sprintf("the simulation of %s has seen %.0f %% of the requests that it needs", Size(p.Bytes), math.Floor(100*p.Filled))
	}
	return fmt.Sprintf("the simulation of %s holds %d keys and needs %d", Size(p.Bytes), p.Keys, EnoughKeys)
}

// larger is about the next larger size that is valid.
func (c *Curve) larger(now *Point) string {
	p := c.next(now)
	if p == nil {
		if first := c.at(2); first != nil {
			return fmt.Sprintf("Larger sizes cannot be judged yet: %s.", reason(first))
		}
		return ""
	}
	step := fmt.Sprintf("%s the %s, %s,", times(p.Factor), c.Memory, Size(p.Bytes))
	if !differs(now, p) {
		return fmt.Sprintf("%s cannot be told apart from the present size: %s of reads would %s, and %s do.",
			step, Misses(p), c.miss(), Percent(now.MissRatio))
	}
	return fmt.Sprintf("%s would lower the reads that %s from %s to %s%s.", step, c.miss(), Percent(now.MissRatio), Misses(p), c.saves(now, p))
}

// next is the smallest valid size above the present one, nil if there is none.
func (c *Curve) next(now *Point) *Point {
	for i := range c.Points {
		if p := &c.Points[i]; p.Valid && p.Factor > now.Factor {
			return p
		}
	}
	return nil
}

// largest is about the largest size that is valid, if it is worth more than the next larger one.
func (c *Curve) largest(now *Point) string {
	next, last := c.next(now), &c.Points[len(c.Points)-1]
	for !last.Valid && last.Factor > 1 {
		last = &c.Points[c.index(last)-1]
	}
	if next == nil || last.Factor <= next.Factor || next.MissRatio-last.MissRatio <= math.Hypot(next.Error, last.Error) {
		return ""
	}
	return fmt.Sprintf("%s as much, %s, would leave %s.", times(last.Factor), Size(last.Bytes), Misses(last))
}

func (c *Curve) index(p *Point) int {
	i := 0
	for &c.Points[i] != p {
		i++
	}
	return i
}

// smaller is about half of the present size. It is a figure, and no advice.
func (c *Curve) smaller(now *Point) string {
	half := c.at(.5)
	switch {
	case half == nil || !half.Valid:
		return ""
	case differs(now, half):
		return fmt.Sprintf("At half of it, %s, %s of reads would %s%s.", Size(half.Bytes), Misses(half), c.miss(), c.costs(now, half))
	}
	return fmt.Sprintf("Half of it, %s, cannot be told apart from the present size: %s and %s.", Size(half.Bytes), Misses(half), Percent(now.MissRatio))
}

// miss is what reads do that are not answered from the memory that changes.
func (c *Curve) miss() string {
	if c.Lower {
		return "miss " + c.Memory
	}
	return "miss"
}

// saves is what a better point is worth, as the rest of a sentence.
func (c *Curve) saves(now, p *Point) string {
	parts := c.difference(now, p, "fewer", p.Doubt)
	if hourly := p.Saved; hourly > 0 && loads(now, p, p.Doubt) > 0 {
		parts = append(parts, Span(hourly)+" of the source's time an hour")
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}

// costs is what a worse point costs, as the rest of a sentence.
func (c *Curve) costs(now, p *Point) string {
	if parts := c.difference(p, now, "more", p.Doubt); len(parts) > 0 {
		return ": " + strings.Join(parts, ", ")
	}
	return ""
}

// difference is how many loads and reads of the SSD a second a worse point has more than a better one.
func (c *Curve) difference(worse, better *Point, how string, doubt float64) (parts []string) {
	if n := loads(worse, better, doubt); n > 0 {
		name := "misses"
		if c.Loads {
			name = "loads"
		}
		parts = append(parts, fmt.Sprintf("%s %s %s a second", Rate(n), how, name))
	}
	if n := worse.SSDReads - better.SSDReads; n >= leastRate {
		parts = append(parts, fmt.Sprintf("%s %s reads of the SSD a second", Rate(n), how))
	}
	return parts
}

// loads is how many loads a second more a worse point has; 0 if they may be none.
func loads(worse, better *Point, doubt float64) float64 {
	if n := worse.Loads - better.Loads; n >= max(leastRate, doubt) {
		return n
	}
	return 0
}

// leastRate is the smallest rate that is mentioned.
const leastRate = .005
