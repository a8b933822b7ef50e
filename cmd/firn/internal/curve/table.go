package curve

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/firncache/firn"
)

// lineWidth is that of lines of prose.
const lineWidth = 79

// Table prints all that a curve says of each size, and then what it means.
func Table(w io.Writer, of *Named) {
	c := &of.Curve
	if of.Name != "" {
		fmt.Fprintln(w, of.Name)
	}
	if len(c.RAM.Points) > 0 {
		sizes(w, title(c), &c.RAM)
	}
	if len(c.Both.Points) > 0 {
		sizes(w, titleBoth, &c.Both)
	}
	printProse(w, Verdict(c), lineWidth)
}

// sizes prints the table of one curve, and the check of the simulation below it.
func sizes(w io.Writer, title string, c *firn.SizeCurve) {
	fmt.Fprintln(w, title)
	t := table.NewWriter()
	t.SetOutputMirror(w)
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	header, shown := table.Row{"» is now"}, figures(c)
	configs := []table.ColumnConfig{{Number: 1, Align: text.AlignRight, AlignHeader: text.AlignRight}}
	for i := range shown {
		header = append(header, shown[i].title)
		configs = append(configs, table.ColumnConfig{Number: i + 2, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(configs)
	t.AppendHeader(header)
	for i := range c.Points {
		p := &c.Points[i]
		row := table.Row{label(p)}
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
func figures(c *firn.SizeCurve) []column {
	all := []column{
		{title: "misses %\n± error", show: misses},
		{title: "of\nbytes %", show: func(p *firn.CurvePoint) string { return percents(p.ByteMissRatio) }},
		loadsColumn,
	}
	var reads, saved bool
	for i := range c.Points {
		reads = reads || c.Points[i].SSDReads > 0
		saved = saved || c.Points[i].SavedPerGiB != 0
	}
	if reads {
		all = append(all, column{title: "SSD\nreads/s", show: readsColumn.show})
	}
	all = append(all, column{title: "entry\nstays", show: life})
	if saved {
		all = append(all, column{title: "a GiB\nsaves/h", show: worth})
	}
	return all
}

// life is how long an entry stays.
func life(p *firn.CurvePoint) string {
	if p.Life == 0 {
		return "always"
	}
	return span(p.Life)
}

// worth is the time of the source that a GiB saves in an hour.
func worth(p *firn.CurvePoint) string {
	if p.Factor == 1 {
		return ""
	}
	return span(p.SavedPerGiB)
}
