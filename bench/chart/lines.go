package chart

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Series is one line.
type Series struct {
	Name   string
	Color  int  // below SeriesColors
	Strong bool // drawn thicker: the one to look at
	Points []Point
}

// Lines is a chart with a line for each series.
type Lines struct {
	Title, XLabel, YLabel string
	LogX, LogY            bool
	XTicks                []Tick // nil: by value
	Series                []Series
}

// shapes tell lines apart for those who do not see their colours.
var shapes = []draw.GlyphDrawer{
	draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.RingGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.PlusGlyph{}, draw.CrossGlyph{},
}

var dashes = [][]vg.Length{nil, {5, 2}, {2, 2}, {7, 2, 2, 2}}

func (s Series) line() draw.LineStyle {
	l := draw.LineStyle{Color: tone(s.Color % SeriesColors).placeholder(), Width: 1.3}
	if s.Strong {
		l.Width = 2.6
	} else {
		l.Dashes = dashes[s.Color%len(dashes)]
	}
	return l
}

func (s Series) glyph() draw.GlyphStyle {
	return draw.GlyphStyle{Color: tone(s.Color % SeriesColors).placeholder(), Radius: 2.8, Shape: shapes[s.Color%len(shapes)]}
}

// SVG draws the chart. Points that a logarithmic axis cannot show are left out.
func (l Lines) SVG() string {
	rows := l.legendRows()
	c := newCanvas(l.Title, lineHeight+float64(len(rows))*(labelSize+5))
	for _, row := range rows {
		l.drawLegendRow(c, row)
	}
	c.area.Max.Y -= legendGap
	p := newPlot()
	p.X.Label.Text, p.Y.Label.Text = l.XLabel, l.YLabel
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = gridColor, gridColor
	grid.Horizontal.Width, grid.Vertical.Width = 0.6, 0.6
	p.Add(grid)
	for i := len(l.Series) - 1; i >= 0; i-- { // the first on top
		l.add(p, l.Series[i])
	}
	l.setAxes(p)
	p.Draw(c.area)
	return c.finish()
}

var gridColor = grid.placeholder()

// add puts one series into the plot.
func (l Lines) add(p *plot.Plot, s Series) {
	var points plotter.XYs
	var ranges plotter.YErrors
	for _, pt := range s.Points {
		if l.LogX && pt.X <= 0 || l.LogY && pt.Low <= 0 {
			continue
		}
		points = append(points, plotter.XY{X: pt.X, Y: pt.Y})
		ranges = append(ranges, struct{ Low, High float64 }{pt.Y - pt.Low, pt.High - pt.Y})
	}
	if len(points) == 0 {
		return
	}
	line, err := plotter.NewLine(points)
	must(err)
	scatter, err := plotter.NewScatter(points)
	must(err)
	bars, err := plotter.NewYErrorBars(struct {
		plotter.XYs
		plotter.YErrors
	}{points, ranges})
	must(err)
	line.LineStyle, scatter.GlyphStyle = s.line(), s.glyph()
	bars.LineStyle = draw.LineStyle{Color: s.line().Color, Width: 0.8}
	bars.CapWidth = 4
	p.Add(bars, line, scatter)
}

// must is for errors that only infinite figures cause, which JSON cannot hold.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

func (l Lines) setAxes(p *plot.Plot) {
	p.X.Tick.Marker, p.Y.Tick.Marker = plainTicks{}, plainTicks{}
	if l.XTicks != nil {
		var ticks plot.ConstantTicks
		for _, t := range l.XTicks {
			ticks = append(ticks, plot.Tick{Value: t.At, Label: t.Label})
			p.X.Min, p.X.Max = math.Min(p.X.Min, t.At), math.Max(p.X.Max, t.At)
		}
		p.X.Tick.Marker = ticks
	}
	if l.LogX {
		p.X.Scale = plot.LogScale{}
		if l.XTicks == nil {
			p.X.Tick.Marker = logTicks{}
		}
	}
	if p.X.Min == p.X.Max {
		p.X.Min, p.X.Max = p.X.Min/2, p.X.Max*2
	}
	if l.LogY {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, logTicks{}
		p.Y.Min, p.Y.Max = logRange(p.Y.Min, p.Y.Max)
		return
	}
	p.Y.Min = min(p.Y.Min, 0)
	p.Y.Max = max(p.Y.Max*1.05, p.Y.Min+1e-9)
}

// logRange widens a range so that it contains labelled ticks.
func logRange(low, high float64) (float64, float64) {
	if !(low > 0) || math.IsInf(low, 0) || !(high > 0) || math.IsInf(high, 0) {
		return 1, 10
	}
	if high/low < 20 {
		return low / 2, high * 2
	}
	return math.Pow(10, math.Floor(math.Log10(low))), math.Pow(10, math.Ceil(math.Log10(high)))
}

// legendGap is between legend and plot.
const legendGap = 6

// legendSample is the length of the line beside a name.
const legendSample = 22

// legendRows breaks the legend into rows that fit.
func (l Lines) legendRows() [][]Series {
	var rows [][]Series
	left := vg.Length(-1)
	for _, s := range l.Series {
		w := legendWidth(s)
		if w > left {
			rows = append(rows, nil)
			left = textWidth + 20
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], s)
		left -= w
	}
	return rows
}

func legendWidth(s Series) vg.Length {
	return legendSample + 4 + style(labelSize, ink).Width(s.Name) + 12
}

// drawLegendRow draws a row at the top of the rest of c, and takes it off.
func (l Lines) drawLegendRow(c *canvas, row []Series) {
	x, y := c.area.Min.X, c.area.Max.Y-labelSize+2
	for _, s := range row {
		c.area.StrokeLine2(s.line(), x, y, x+legendSample, y)
		c.area.DrawGlyph(s.glyph(), vg.Point{X: x + legendSample/2, Y: y})
		c.area.FillText(style(labelSize, ink), vg.Point{X: x + legendSample + 4, Y: y - 4}, s.Name)
		x += legendWidth(s)
	}
	c.area.Max.Y -= labelSize + 5
}
