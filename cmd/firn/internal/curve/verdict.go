package curve

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/firncache/firn"
)

// Verdict says in sentences which size of RAM is worth its memory, what the next GiB
// brings; and in another paragraph the same of RAM and SSD as one cache if there is an SSD tier.
func Verdict(c *firn.Curve) (paragraphs []string) {
	w := gain{load: c.LoadTime}
	if len(c.Both.Points) == 0 {
		return []string{verdict(ofRAM, &c.RAM, w)}
	}
	over := w
	if at := now(&c.Both); at >= 0 {
		over.doubt = c.Both.Points[at].Error * c.Reads
	}
	return []string{verdict(ofRAM, &c.RAM, over), verdict(ofBoth, &c.Both, w)}
}

// gain is what tells what fewer loads are worth.
type gain struct {
	load  time.Duration // of one
	doubt float64       // loads a second that could be none: over an SSD they come from the curve of both tiers, and that has an error
}

// What a curve is about.
const (
	ofRAM  = "RAM"
	ofBoth = "RAM and SSD"
)

func verdict(of string, c *firn.SizeCurve, w gain) string {
	return strings.TrimSpace(knee(of, c) + " " + next(of, c, w) + doubt(c))
}

// doubt is a warning, if the errors could hide what is to be told: steps of a tenth of the misses.
func doubt(c *firn.SizeCurve) string {
	for i := range c.Points {
		if p := &c.Points[i]; valid(p) && p.Error > p.MissRatio/10 && p.Error > .005 {
			return " The errors are large as yet: more requests would tell more."
		}
	}
	return ""
}

// knee says where the knee is, or why that is not known.
func knee(of string, c *firn.SizeCurve) string {
	at := now(c)
	switch {
	case at < 0:
		return "There is not enough data: the cache is too small to be simulated, or is not (Options.WhatIf)."
	case !valid(&c.Points[at]):
		return fmt.Sprintf("There is not enough data of %s: the simulation of the present size %s.", of, reason(&c.Points[at]))
	case c.Knee < 0 && alone(c):
		return fmt.Sprintf("There is not enough data of %s: nothing can be told of sizes other than the present one.", of)
	case c.Knee < 0 && !falls(c):
		return fmt.Sprintf("Where the knee of %s is cannot be told: what twice the memory removes is less than the errors.", of)
	case c.Knee < 0 && largest(c) <= at:
		return fmt.Sprintf("The misses of %s still fall at the present size, %s, and no larger one can be told: the knee may be beyond it.", of, size(c.Points[at].Bytes))
	case c.Knee < 0:
		last := c.Points[largest(c)].Bytes
		return fmt.Sprintf("The misses of %s still fall at %s, the largest size that can be told: the knee is beyond it. %s or more would be right.",
			of, size(last), right(of, last))
	}
	k := c.Points[c.Knee]
	known := ""
	if c.Knee < at && !slices.ContainsFunc(c.Points[:c.Knee], func(p firn.CurvePoint) bool { return valid(&p) }) {
		known = ", or below"
	}
	if last := largest(c); last < len(c.Points)-1 {
		known += ", as far as can be told, up to " + size(c.Points[last].Bytes)
	}
	said := fmt.Sprintf("The knee of %s is at %s%s: beyond it, twice the memory removes less than a tenth of the misses.", of, size(k.Bytes), known)
	change := fmt.Sprintf("the misses would go from %s to %s %%.", percents(c.Points[at].MissRatio), percents(k.MissRatio))
	switch {
	case c.Knee == at:
		return said + " That is the present size."
	case c.Knee > at:
		return said + fmt.Sprintf(" %s would be right: %s", right(of, k.Bytes), change)
	}
	return said + fmt.Sprintf(" %s would make the most of its memory: %s", right(of, k.Bytes), change)
}

// reason says why a point is not valid, as the end of a sentence about the simulation.
func reason(p *firn.CurvePoint) string {
	if p.State == firn.CurveFewKeys {
		return fmt.Sprintf("has too few keys (%d)", p.Keys)
	}
	return fmt.Sprintf("is filled to %s %%", percents(p.Filled))
}

// right is a size as one has to write it.
func right(of string, bytes int64) string {
	if of == ofRAM {
		return fmt.Sprintf("RAMBytes %d", bytes)
	}
	return size(bytes)
}

// largest is the index of the largest valid point, -1 if there is none.
func largest(c *firn.SizeCurve) int {
	for i := len(c.Points) - 1; i >= 0; i-- {
		if valid(&c.Points[i]) {
			return i
		}
	}
	return -1
}

// falls reports whether the largest valid size misses less than the one before, by more than the
// error.
func falls(c *firn.SizeCurve) bool {
	var from, to *firn.CurvePoint
	for i := range c.Points {
		if valid(&c.Points[i]) {
			from, to = to, &c.Points[i]
		}
	}
	return from != nil && from.MissRatio-to.MissRatio > math.Hypot(from.Error, to.Error)
}

// alone reports whether no more than one point is valid.
func alone(c *firn.SizeCurve) bool {
	n := 0
	for i := range c.Points {
		if valid(&c.Points[i]) {
			n++
		}
	}
	return n <= 1
}

// next says what a GiB more brings, or less than that if the largest valid size is nearer.
func next(of string, c *firn.SizeCurve, w gain) string {
	at, last := now(c), largest(c)
	if at < 0 || !valid(&c.Points[at]) {
		return ""
	}
	from := &c.Points[at]
	if last <= at && alone(c) {
		return ""
	}
	if last <= at {
		return "What the next GiB brings cannot be told yet: no larger size has enough data."
	}
	more := min(c.Points[last].Bytes-from.Bytes, 1<<30)
	to := between(c, from.Bytes+more)
	step := "the next GiB"
	if more < 1<<30 {
		step = "the next " + size(more)
	}
	if from.MissRatio-to.MissRatio <= math.Hypot(from.Error, to.Error) {
		return fmt.Sprintf("What %s of %s would bring is less than the error of the estimate.", step, of)
	}
	return fmt.Sprintf("%s of %s would lower the misses from %s to %s %%%s.",
		strings.ToUpper(step[:1])+step[1:], of, percents(from.MissRatio), percents(to.MissRatio), w.saved(from, &to))
}

// saved says what the difference of two points is worth a second, and in time of the source.
func (w gain) saved(from, to *firn.CurvePoint) (text string) {
	var parts []string
	if n := from.SSDReads - to.SSDReads; n > 0 {
		parts = append(parts, rate(n)+" reads of the SSD a second")
	}
	loads := from.Loads - to.Loads
	if loads < w.doubt {
		loads = 0
	}
	if loads > 0 {
		parts = append(parts, rate(loads)+" loads a second")
	}
	if len(parts) > 0 {
		text = " and save " + strings.Join(parts, ", ")
	}
	if hourly := loads * float64(w.load) * 3600; hourly > 0 && hourly < math.MaxInt64 {
		text += ": " + span(time.Duration(hourly)) + " of the source's time an hour"
	}
	return text
}

// between is the point of a size within the valid ones, on the straight line between two of them.
func between(c *firn.SizeCurve, bytes int64) firn.CurvePoint {
	var below *firn.CurvePoint
	for i := range c.Points {
		p := &c.Points[i]
		switch {
		case !valid(p):
		case p.Bytes < bytes:
			below = p
		case p.Bytes == bytes || below == nil:
			return *p
		default:
			return mixed(below, p, float64(bytes-below.Bytes)/float64(p.Bytes-below.Bytes))
		}
	}
	return *below
}

// mixed is the point at a share of the way between two.
func mixed(a, b *firn.CurvePoint, share float64) firn.CurvePoint {
	mix := func(a, b float64) float64 { return a + share*(b-a) }
	return firn.CurvePoint{
		MissRatio: mix(a.MissRatio, b.MissRatio), Error: mix(a.Error, b.Error),
		Loads: mix(a.Loads, b.Loads), SSDReads: mix(a.SSDReads, b.SSDReads),
	}
}
