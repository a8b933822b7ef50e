package curve

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/firncache/firn/stats"
)

// Table prints all that a curve says of each size, and then what it means.
func Table(w io.Writer, of *Named, style Style) {
	c := &of.Curve
	if of.Name != "" {
		fmt.Fprintln(w, of.Name)
	}
	for _, s := range []struct {
		title string
		curve *stats.SizeCurve
	}{{title(c) + " at other sizes of RAM", &c.RAM}, {"Reads that miss at other sizes of RAM and SSD", &c.Both}} {
		if len(s.curve.Points) > 0 {
			Prose(w, s.title+window(s.curve)+":", style)
			sizes(w, s.curve, style)
		}
		Prose(w, strings.Join(s.curve.Advice, " "), style)
	}
}

// sizes prints the table of one curve, and the check of the simulation below it.
func sizes(w io.Writer, c *stats.SizeCurve, style Style) {
	t := table.NewWriter()
	t.SetOutputMirror(w)
	t.SetStyle(style.Table())
	t.Style().Format.Header = text.FormatDefault
	header, shown := table.Row{strings.TrimSpace(mark(style)) + " is now"}, figures(c)
	configs := []table.ColumnConfig{{Number: 1, Align: text.AlignRight, AlignHeader: text.AlignRight}}
	for i := range shown {
		header = append(header, shown[i].title)
		configs = append(configs, table.ColumnConfig{Number: i + 2, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(configs)
	t.AppendHeader(header)
	for i := range c.Points {
		p := &c.Points[i]
		row := table.Row{label(p, style)}
		for j := range shown {
			switch {
			case valid(p):
				row = append(row, shown[j].show(p))
			case j == 0:
				row = append(row, state(p))
			}
		}
		t.AppendRow(row)
	}
	t.Render()
	if at := now(c); at >= 0 && valid(&c.Points[at]) {
		fmt.Fprintf(w, "measured %s %%; the simulation of the present size had %s %%\n", percents(c.MissRatio), percents(c.Simulated))
	}
}

// figures are the columns of a table: those that every point leaves empty are left out.
func figures(c *stats.SizeCurve) []column {
	all := []column{
		{title: "misses %\n± error", show: misses},
		{title: "of\nbytes %", show: func(p *stats.CurvePoint) string { return percents(p.ByteMissRatio) }},
		loadsColumn,
	}
	var reads, saved bool
	for i := range c.Points {
		reads = reads || c.Points[i].SSDReads > 0
		saved = saved || c.Points[i].Saved != 0
	}
	if reads {
		all = append(all, readsColumn)
	}
	all = append(all, column{title: "entry\nstays", show: life})
	if saved {
		all = append(all, column{title: "saves\nan hour", show: worth})
	}
	return all
}

// life is how long an entry stays.
func life(p *stats.CurvePoint) string {
	if p.Life == 0 {
		return "always"
	}
	return span(p.Life)
}

// worth is the time of the source that a size saves in an hour.
func worth(p *stats.CurvePoint) string {
	if p.Factor == 1 {
		return ""
	}
	return span(p.Saved)
}

// Table is the look of a table: lines, where they can be shown.
func (s Style) Table() table.Style {
	if s.Plain {
		return table.StyleDefault
	}
	return table.StyleLight
}

// column is one of the figures of a size.
type column struct {
	title string
	show  func(p *stats.CurvePoint) string
}

var (
	loadsColumn = column{"loads/s", func(p *stats.CurvePoint) string { return rate(p.Loads) }}
	readsColumn = column{"SSD\nreads/s", func(p *stats.CurvePoint) string { return rate(p.SSDReads) }}
)
