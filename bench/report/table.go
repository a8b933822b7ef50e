package report

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/firncache/firn/bench/chart"
	"github.com/firncache/firn/bench/rivals"
	"github.com/firncache/firn/bench/samples"
)

// A table answers one question with figures of one suite: by default with a row
// for each measurement and a column for each cache.
type table struct {
	suite, question, text string
	rows, columns         []part
	byCache               bool   // a row for each cache, a column for each measurement
	byName                bool   // of firn alone: a row for each first part of the measurements' names, a column for each last one
	chart                 string // the name of its chart in docs/img; empty: none
}

// A part is a row or a column.
type part struct {
	label string
	match *regexp.Regexp // the whole names of the measurements or caches; the first sample decides which one
}

// named is the part with the label and the expression that its names match.
func named(label, expression string) part {
	return part{label, regexp.MustCompile(`^(?:` + expression + `)$`)}
}

// caches are parts that have the caches' names as labels.
func caches(names ...string) []part {
	var parts []part
	for _, name := range names {
		parts = append(parts, named(name, regexp.QuoteMeta(name)))
	}
	return parts
}

// shows reports whether the table has a place for the sample.
func (t table) shows(s samples.Sample) bool {
	name, cache := t.rows, t.columns
	if t.byCache {
		name, cache = cache, name
	}
	if t.byName {
		s.Name, s.Cache = cutName(s.Name)
	}
	has := func(parts []part, text string) bool {
		return slices.ContainsFunc(parts, func(p part) bool { return p.match.MatchString(text) })
	}
	return has(name, s.Name) && (has(cache, s.Cache) || s.Cache == rivals.Firn && has(cache, s.Against))
}

func (t table) head() []string {
	head := []string{""}
	for _, c := range t.columns {
		head = append(head, c.label)
	}
	return head
}

// cutName cuts a measurement's name at its last slash.
func cutName(name string) (first, last string) {
	at := max(strings.LastIndexByte(name, '/'), 0)
	return name[:at], strings.TrimPrefix(name[at:], "/")
}

// render returns the rows that have figures.
func (t table) render(all []samples.Sample) [][]string {
	var rows [][]string
	for _, r := range t.rows {
		row, found := []string{r.label}, false
		for _, c := range t.columns {
			name, cache := r.match, c.match
			if t.byCache {
				name, cache = cache, name
			}
			cell := none
			if t.byName {
				cell = figure(under(all, name), cache, ofFirn)
			} else {
				cell = figure(all, name, cache)
			}
			found = found || cell != none
			row = append(row, cell)
		}
		if found {
			rows = append(rows, row)
		}
	}
	return rows
}

// ofFirn matches firn's samples.
var ofFirn = regexp.MustCompile("^" + rivals.Firn + "$")

// under returns the samples whose names begin with a part, without that.
func under(all []samples.Sample, first *regexp.Regexp) (rest []samples.Sample) {
	for _, s := range all {
		name, last := cutName(s.Name)
		if first.MatchString(name) {
			s.Name = last
			rest = append(rest, s)
		}
	}
	return rest
}

const none = "–"

// figure prints the median of one cache's samples, and beside a time how many
// times as many operations a second firn did.
func figure(all []samples.Sample, name, cache *regexp.Regexp) string {
	var own, firn []samples.Sample
	for _, s := range all {
		switch {
		case !name.MatchString(s.Name):
		case cache.MatchString(s.Cache):
			own = append(own, s)
		case s.Cache == rivals.Firn:
			firn = append(firn, s)
		}
	}
	if len(own) == 0 {
		return none
	}
	v := samples.Values(own)
	text := quantity(v.Median, own[0].Unit)
	if own[0].Cache == rivals.Firn || !strings.HasPrefix(own[0].Unit, "ns") {
		return text
	}
	ratio := samples.Ratio(all, own[0].Suite, own[0].Name, own[0].Cache)
	switch {
	case ratio.Median > 0:
		text += " " + mark(ratio.Median)
		if ratio.High > 1.2*ratio.Low {
			text += fmt.Sprintf(" (%s–%s)", factor(ratio.Low), factor(ratio.High))
		}
	case len(firn) > 0:
		text += " " + mark(v.Median/samples.Values(firn).Median)
	}
	return text + lost(own)
}

// mark prints a ratio, in bold where firn is the slower one.
func mark(ratio float64) string {
	if ratio < 0.995 {
		return "**" + factor(ratio) + "×**"
	}
	return factor(ratio) + "×"
}

// factor prints three digits.
func factor(v float64) string { return fmt.Sprintf("%.*f", max(0, 2-int(math.Log10(max(v, 1)))), v) }

// lost says of a cache that dropped entries how many of its Gets hit.
func lost(own []samples.Sample) string {
	if hit, ok := meanHit(own); ok && hit > 0 && hit < 0.995 {
		return fmt.Sprintf(", %.0f %% hits", 100*hit)
	}
	return ""
}

// meanHit returns the mean hit ratio of the samples that have one.
func meanHit(all []samples.Sample) (mean float64, ok bool) {
	count := 0
	for _, s := range all {
		if s.Hit != nil {
			mean += *s.Hit
			count++
		}
	}
	return mean / float64(max(count, 1)), count > 0
}

// units are those of time, each a thousand of the one before.
var units = []string{"ns", "µs", "ms", "s"}

// quantity prints a value with its unit, times in one that suits them.
func quantity(v float64, unit string) string {
	unit, per, _ := strings.Cut(unit, "/")
	if i := slices.Index(units, unit); i >= 0 {
		for ; v >= 1e3 && i < len(units)-1; i++ {
			v /= 1e3
		}
		unit = units[i]
	}
	if unit == "cells" || unit == "points" || unit == "bytes" && per != "" { // the table's text says what of
		return chart.Number(v)
	}
	return chart.Number(v) + " " + unit
}
