package chart

import (
	"math"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Panels is a chart of small charts with the same axes: in each a line, and points beside it. The
// horizontal axis is logarithmic, the vertical one from 0 to 100 %.
type Panels struct {
	Title, XLabel, YLabel string
	XTicks                []Tick   // of the first and last panels: the ends of the axis are the first and the last
	Marks                 []string // names of the marks, by number
	Panels                []Panel
}

// Panel is one small chart.
type Panel struct {
	Name string
	Line []Point // from left to right
	Dots []Dot
}

// Dot is a value with its range, drawn beside the line.
type Dot struct {
	Point
	Mark int // in Panels.Marks
}

const (
	panelColumns = 4
	panelHeight  = 78 // with the name
	panelTitle   = 13
	panelGap     = 7
	leastRange   = 3.0 // a range is drawn so high, at least
	dotStep      = 1.2 // between dots of neighbouring marks at one place
)

// SVG draws the chart. What lies beyond the axes is left out.
func (p Panels) SVG() string {
	rows := (len(p.Panels) + panelColumns - 1) / panelColumns
	c := newCanvas(p.Title, vgHeight(rows))
	p.legend(c)
	left := c.area.Min.X + 26
	wide := (c.area.Max.X - left - (panelColumns-1)*panelGap) / panelColumns
	var frames []frame
	for i, panel := range p.Panels {
		x := left + vg.Length(i%panelColumns)*(wide+panelGap)
		top := c.area.Max.Y - vg.Length(i/panelColumns)*panelHeight
		frames = append(frames, frame{
			Panel: panel, c: c.area, ticks: p.XTicks, first: i%panelColumns == 0, last: i+panelColumns >= len(p.Panels),
			at: vg.Rectangle{Min: vg.Point{X: x, Y: top - panelHeight + 5}, Max: vg.Point{X: x + wide, Y: top - panelTitle}},
		})
	}
	for _, part := range []func(frame){frame.words, frame.grid, frame.line} { // what has one style in all panels becomes one path
		for _, f := range frames {
			part(f)
		}
	}
	for mark := range p.Marks {
		for _, f := range frames {
			f.dots(mark)
		}
	}
	c.area.FillText(style(labelSize, ink), vg.Point{X: left, Y: c.area.Min.Y}, p.XLabel)
	return c.finish()
}

// vgHeight is that of so many rows of panels, the legend above and the axis below.
func vgHeight(rows int) float64 { return float64(rows)*panelHeight + 2*(labelSize+5) + 16 }

// legend names the marks and takes their line off the area.
func (p Panels) legend(c *canvas) {
	x, y := c.area.Min.X, c.area.Max.Y-labelSize+2
	text := func(s string) {
		c.area.FillText(style(labelSize, ink), vg.Point{X: x, Y: y - 4}, s)
		x += style(labelSize, ink).Width(s) + 9
	}
	text(p.YLabel)
	for i, name := range p.Marks {
		c.area.StrokeLine2(markStyle(i), x, y-5, x, y+5)
		x += 4
		text(name)
	}
	c.area.Max.Y -= labelSize + 8
}

func markStyle(mark int) draw.LineStyle {
	return draw.LineStyle{Color: tone([]int{1, 3, 2, 0}[mark%4]).placeholder(), Width: 1.8}
}

// frame is the place of one panel.
type frame struct {
	Panel
	c           draw.Canvas
	at          vg.Rectangle
	ticks       []Tick
	first, last bool // of its row, of its column
}

func (f frame) x(v float64) vg.Length {
	low, high := math.Log(f.ticks[0].At), math.Log(f.ticks[len(f.ticks)-1].At)
	return f.at.Min.X + vg.Length((math.Log(v)-low)/(high-low))*(f.at.Max.X-f.at.Min.X)
}

func (f frame) y(v float64) vg.Length {
	return f.at.Min.Y + vg.Length(min(max(v, 0), 100)/100)*(f.at.Max.Y-f.at.Min.Y)
}

func (f frame) inside(v float64) bool {
	return v >= f.ticks[0].At && v <= f.ticks[len(f.ticks)-1].At
}

// words are the panel's name, and at the edges of the chart the labels of the axes.
func (f frame) words() {
	st := style(labelSize-1, ink)
	name := []rune(f.Name)
	for st.Width(string(name)) > f.at.Max.X-f.at.Min.X {
		name = append(name[:len(name)-2], '…')
	}
	f.c.FillText(st, vg.Point{X: f.at.Min.X, Y: f.at.Max.Y + 2}, string(name))
	for _, v := range []float64{0, 100} {
		if f.first {
			f.label(Number(v), f.at.Min.X-3, f.y(v)-3, draw.XRight)
		}
	}
	for _, t := range f.ticks {
		if t.Label != "" && f.last {
			f.label(t.Label, f.x(t.At), f.at.Min.Y-11, draw.XCenter)
		}
	}
}

func (f frame) grid() {
	for _, v := range []float64{0, 50, 100} {
		f.c.StrokeLine2(draw.LineStyle{Color: gridColor, Width: 0.6}, f.at.Min.X, f.y(v), f.at.Max.X, f.y(v))
	}
}

func (f frame) line() {
	var line []vg.Point
	for _, p := range f.Line {
		if f.inside(p.X) {
			line = append(line, vg.Point{X: f.x(p.X), Y: f.y(p.Y)})
		}
	}
	if len(line) > 1 {
		f.c.StrokeLines(draw.LineStyle{Color: faint.placeholder(), Width: 0.9}, line)
	}
}

// dots draws those of one mark.
func (f frame) dots(mark int) {
	for _, d := range f.Dots {
		if d.Mark != mark || !f.inside(d.X) {
			continue
		}
		x, low, high := f.x(d.X)+vg.Length(float64(mark)-1.5)*dotStep, f.y(d.Low), f.y(d.High)
		if short := leastRange - high + low; short > 0 {
			low, high = low-short/2, high+short/2
		}
		f.c.StrokeLine2(markStyle(mark), x, low, x, high)
	}
}

func (f frame) label(s string, x, y vg.Length, align text.XAlignment) {
	st := style(labelSize-2, faint)
	st.XAlign = align
	f.c.FillText(st, vg.Point{X: x, Y: y}, s)
}
