package chart

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Row is one bar.
type Row struct {
	Name   string
	Color  int
	Y      Point  // the value; X does not count
	Detail string // printed behind the value
}

// Bars is a chart with a horizontal bar for each row, the first on top.
type Bars struct {
	Title, XLabel string
	Log           bool // a logarithmic axis; values it cannot show begin at its left end
	Rows          []Row
}

// SVG draws the chart.
func (b Bars) SVG() string {
	c := newCanvas(b.Title, float64(len(b.Rows))*rowHeight+40)
	p := newPlot()
	p.X.Label.Text = b.XLabel
	p.Y.LineStyle.Width, p.Y.Tick.Length = 0, 0
	p.Y.Tick.Label.Color = ink.placeholder()
	p.X.Tick.Marker = plainTicks{}
	var names plot.ConstantTicks
	for i, row := range b.Rows {
		names = append(names, plot.Tick{Value: -float64(i), Label: row.Name})
	}
	p.Y.Tick.Marker = names
	p.Add(barPlotter(b))
	b.setRange(p)
	p.Draw(c.area)
	return c.finish()
}

// setRange leaves room behind the longest bar for its figure.
func (b Bars) setRange(p *plot.Plot) {
	p.Y.Min, p.Y.Max = -float64(len(b.Rows))+0.5, 0.5
	low, high := math.Inf(1), 0.0
	for _, row := range b.Rows {
		high = max(high, row.Y.High, row.Y.Y)
		if row.Y.Y > 0 {
			low = min(low, row.Y.Y)
		}
	}
	if b.Log {
		low, high = logRange(low, max(high, low))
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, logTicks{}
		p.X.Min, p.X.Max = low, high*math.Pow(high/low, 0.3)
		return
	}
	p.X.Min, p.X.Max = 0, max(high*1.35, 1e-9)
}

// barPlotter draws rows: a bar, the range of the value, and its figure.
type barPlotter Bars

func (b barPlotter) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	at := func(v float64) vg.Length { return toX(min(max(v, p.X.Min), p.X.Max)) }
	for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
		if t.Label != "" {
			c.StrokeLine2(draw.LineStyle{Color: gridColor, Width: 0.6}, toX(t.Value), c.Min.Y, toX(t.Value), c.Max.Y)
		}
	}
	for i, row := range b.Rows {
		y, half := toY(-float64(i)), vg.Length(rowHeight)*0.32
		fill := tone(row.Color % SeriesColors).placeholder()
		x0, x1 := at(p.X.Min), at(row.Y.Y)
		c.FillPolygon(fill, []vg.Point{{X: x0, Y: y - half}, {X: x1, Y: y - half}, {X: x1, Y: y + half}, {X: x0, Y: y + half}})
		low, high := at(row.Y.Low), at(row.Y.High)
		whisker := draw.LineStyle{Color: ink.placeholder(), Width: 1}
		if high-low > 1 {
			c.StrokeLine2(whisker, low, y, high, y)
			c.StrokeLine2(whisker, low, y-3, low, y+3)
			c.StrokeLine2(whisker, high, y-3, high, y+3)
		}
		c.FillText(style(labelSize, ink), vg.Point{X: max(x1, high) + 5, Y: y - 4}, Number(row.Y.Y)+row.Detail)
	}
}

// DataRange is set by setRange.
func (b barPlotter) DataRange() (xmin, xmax, ymin, ymax float64) { return 0, 1, -1, 1 }
