package curve

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/firncache/firn"
)

// Chart draws the curve below something else, with a bar for the misses of each size, and says
// what it means, on lines of at most so many columns, within reason.
func Chart(w io.Writer, c *firn.Curve, columns int) {
	columns = min(max(columns, 40), 80) - 1 // some terminals go on to the next line in the last one
	if drawn(&c.RAM) {
		fmt.Fprintf(w, "\n%s\n", title(c))
		chart(w, &c.RAM, len(c.Both.Points) > 0, columns)
	}
	if drawn(&c.Both) {
		fmt.Fprintf(w, "\n%s\n", titleBoth)
		chart(w, &c.Both, false, columns)
	}
	fmt.Fprintln(w)
	printProse(w, Verdict(c), columns)
}

// title is that of the curve of RAM.
func title(c *firn.Curve) string {
	if len(c.Both.Points) > 0 {
		return "RAM at other sizes, SSD as it is"
	}
	return "RAM at other sizes"
}

const titleBoth = "RAM and SSD at other sizes, as one"

// drawn reports whether there is anything to draw.
func drawn(c *firn.SizeCurve) bool { return largest(c) >= 0 }

// printProse prints paragraphs on lines of at most so many columns.
func printProse(w io.Writer, paragraphs []string, columns int) {
	for _, p := range paragraphs {
		for line := range strings.SplitSeq(text.WrapSoft(p, columns), "\n") {
			fmt.Fprintln(w, strings.TrimRight(line, " "))
		}
	}
}

// column is one of the figures to the right of the bars.
type column struct {
	title string
	width int
	show  func(p *firn.CurvePoint) string
}

var (
	missColumn  = column{"% ± error", 12, misses}
	loadsColumn = column{"loads/s", 7, func(p *firn.CurvePoint) string { return rate(p.Loads) }}
	readsColumn = column{"SSD reads/s", 11, func(p *firn.CurvePoint) string { return rate(p.SSDReads) }}
)

const (
	labelWidth = 10 // of "» 1023 MiB"
	leastBar   = 10
	gap        = 2
)

// chart draws one curve: a size, its bar, and as many figures as there is room for.
func chart(w io.Writer, c *firn.SizeCurve, ssd bool, columns int) {
	room := columns - labelWidth - gap
	var shown []column
	for _, f := range []column{missColumn, loadsColumn, readsColumn} {
		if (f.title != readsColumn.title || ssd) && room-gap-f.width >= leastBar {
			shown, room = append(shown, f), room-gap-f.width
		}
	}
	header := fmt.Sprintf("%-*s%-*s", labelWidth+gap, "» is now", room, "misses")
	for _, f := range shown {
		header += fmt.Sprintf("%*s", gap+f.width, f.title)
	}
	fmt.Fprintln(w, header)
	most := highest(c)
	for i := range c.Points {
		p := &c.Points[i]
		line := label(p) + strings.Repeat(" ", gap)
		if !valid(p) {
			fmt.Fprintln(w, line+state(p))
			continue
		}
		line += bar(p.MissRatio/most, room)
		for _, f := range shown {
			line += fmt.Sprintf("%*s", gap+f.width, f.show(p))
		}
		fmt.Fprintln(w, line)
	}
}

// label is the size of a point, marked if it is the present one.
func label(p *firn.CurvePoint) string {
	mark := " "
	if p.Factor == 1 {
		mark = "»"
	}
	return fmt.Sprintf("%s %*s", mark, labelWidth-2, size(p.Bytes))
}

// state says why a point has no figures.
func state(p *firn.CurvePoint) string {
	if p.State == firn.CurveFewKeys {
		return fmt.Sprintf("few keys: %d", p.Keys)
	}
	return fmt.Sprintf("filling %.0f %%", 100*p.Filled)
}

// highest is the highest miss ratio of the valid points, above 0.
func highest(c *firn.SizeCurve) float64 {
	most := 1e-9
	for i := range c.Points {
		if valid(&c.Points[i]) {
			most = max(most, c.Points[i].MissRatio)
		}
	}
	return most
}

// bar is a bar of a share of the width, to the eighth of a column, padded to all of it.
func bar(share float64, width int) string {
	const parts = "▏▎▍▌▋▊▉"
	eighths := int(share*float64(8*width) + .5)
	text := strings.Repeat("█", eighths/8)
	if part := eighths % 8; part > 0 {
		text += string([]rune(parts)[part-1])
	}
	return text + strings.Repeat(" ", width-utf8.RuneCountInString(text))
}
