package curve

import (
	"fmt"
	"io"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/firncache/firn/stats"
)

// Style is what a place to print on can show.
type Style struct {
	Columns int
	Plain   bool // neither bars of blocks nor boxes
}

const (
	fewestColumns = 60
	mostColumns   = 80
)

// Room is how many columns to print on: some terminals go on to the next line in the last one.
func (s Style) Room() int { return min(max(s.Columns, fewestColumns), mostColumns) - 1 }

// Chart asks whether another amount of RAM would do, draws a bar for the misses of each size that is
// known, and says what they mean.
func Chart(w io.Writer, c *stats.Curve, style Style) {
	if at := now(&c.RAM); at >= 0 && valid(&c.RAM.Points[at]) && c.RAM.Evicts {
		Prose(w, fmt.Sprintf("Would another amount of RAM do? %s%s:", title(c), window(&c.RAM)), style)
		bars(w, &c.RAM, style)
		fmt.Fprintln(w)
	}
	Prose(w, strings.Join(c.RAM.Advice, " "), style)
}

// title is what the curve of RAM is about.
func title(c *stats.Curve) string {
	if len(c.Both.Points) > 0 {
		return "Reads that miss RAM"
	}
	return "Reads that miss"
}

// window is which reads a curve is about.
func window(c *stats.SizeCurve) string {
	if c.Reads == 0 {
		return ""
	}
	return fmt.Sprintf(", of the last %s (%s)", rate(c.Reads), span(c.Window))
}

// Prose prints a paragraph. It may come from another machine.
func Prose(w io.Writer, paragraph string, style Style) {
	paragraph = strings.Map(printable, paragraph)
	if paragraph == "" {
		return
	}
	for line := range strings.SplitSeq(text.WrapSoft(paragraph, style.Room()), "\n") {
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

func printable(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return -1
}

const (
	labelWidth = 10 // of "» 1023 MiB"
	missWidth  = 13 // of "100.0 ± 10.0 %"
	gap        = 2
)

// bars draws the sizes that are known, and says what the others lack.
func bars(w io.Writer, c *stats.SizeCurve, style Style) {
	room := style.Room() - labelWidth - missWidth - len("  measured") - 2*gap
	most := highest(c)
	for i := 0; i < len(c.Points); i++ {
		p := &c.Points[i]
		if !valid(p) {
			last := i
			for last+1 < len(c.Points) && !valid(&c.Points[last+1]) {
				last++
			}
			fmt.Fprintln(w, unknown(c, i, last))
			i = last
			continue
		}
		line := fmt.Sprintf("%s  %s  ", label(p, style), bar(p.MissRatio/most, room, style))
		if p.Factor == 1 {
			line += fmt.Sprintf("%-*s  measured", missWidth, percents(p.MissRatio)+" %")
		} else {
			line += misses(p) + " %"
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

// unknown says why neighbouring sizes have no bars.
func unknown(c *stats.SizeCurve, first, last int) string {
	sizes := size(c.Points[first].Bytes)
	switch {
	case first == last:
	case last == len(c.Points)-1:
		sizes += " and more"
	case first == 0:
		sizes = size(c.Points[last].Bytes) + " and less"
	default:
		sizes += " to " + size(c.Points[last].Bytes)
	}
	if c.Points[first].State == stats.CurveFewKeys {
		return fmt.Sprintf("  %s: too few keys to tell", sizes)
	}
	return fmt.Sprintf("  %s: too few requests to tell yet", sizes)
}

// label is the size of a point, marked if it is the present one.
func label(p *stats.CurvePoint, style Style) string {
	of := " "
	if p.Factor == 1 {
		of = mark(style)
	}
	return fmt.Sprintf("%s %*s", of, labelWidth-2, size(p.Bytes))
}

// mark is beside the present size.
func mark(style Style) string {
	if style.Plain {
		return ">"
	}
	return "»"
}

// state says why a point has no figures.
func state(p *stats.CurvePoint) string {
	if p.State == stats.CurveFewKeys {
		return fmt.Sprintf("few keys: %d", p.Keys)
	}
	return fmt.Sprintf("filling %.0f %%", math.Floor(100*p.Filled))
}

// highest is the highest miss ratio of the valid points, above 0.
func highest(c *stats.SizeCurve) float64 {
	most := 1e-9
	for i := range c.Points {
		if valid(&c.Points[i]) {
			most = max(most, c.Points[i].MissRatio)
		}
	}
	return most
}

// bar is a bar of a share of the width, to the eighth of a column, padded to all of it.
func bar(share float64, width int, style Style) string {
	const parts = "▏▎▍▌▋▊▉"
	full, part := "█", int(share*float64(8*width)+.5)
	if style.Plain {
		full, part = "#", part/8*8
	}
	text := strings.Repeat(full, part/8)
	if part %= 8; part > 0 {
		text += string([]rune(parts)[part-1])
	}
	return text + strings.Repeat(" ", width-utf8.RuneCountInString(text))
}
