// Package chart draws the report's charts as SVG: lines over a numeric axis,
// and bars by name. gonum/plot does the drawing. It was chosen because it needs
// no script in the page, knows logarithmic axes and error bars, and measures
// text; the libraries that draw in the browser would have to be copied into
// every report, a megabyte each.
//
// A drawing is 400 units wide, so that at its natural size it fits a narrow
// screen. It carries no font: any sans serif of common width will do.
package chart

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"regexp"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Sizes in units of the drawing.
const (
	width      = 400
	margin     = 4
	textWidth  = 350 // of titles: other fonts may be wider than the one that is measured
	titleSize  = 13
	labelSize  = 11
	rowHeight  = 21
	lineHeight = 260 // of a chart with lines, without title and legend
)

// A Chart can be drawn.
type Chart interface {
	// SVG returns the drawing as an element to put into a page.
	SVG() string
}

// A Point is a value with the range that it varied in, at one place of the
// axis. Where nothing was repeated, Low and High are Y.
type Point struct{ X, Y, Low, High float64 }

// A Tick is a labelled place on an axis.
type Tick struct {
	At    float64
	Label string
}

var fonts = font.NewCache(liberation.Collection())

// style is how text of a size looks, in units of the drawing.
func style(size float64, t tone) text.Style {
	return text.Style{
		Color: t.placeholder(), Handler: text.Plain{Fonts: fonts},
		Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: font.Length(size)},
	}
}

// newPlot is an empty plot in the theme's colours.
func newPlot() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Color = faint.placeholder()
		a.LineStyle.Color, a.LineStyle.Width = faint.placeholder(), 0.8
		a.Tick.LineStyle.Color, a.Tick.LineStyle.Width = faint.placeholder(), 0.6
		a.Tick.Length = 3
		align := a.Tick.Label
		a.Tick.Label = style(labelSize, faint)
		a.Tick.Label.XAlign, a.Tick.Label.YAlign = align.XAlign, align.YAlign
		align = a.Label.TextStyle
		a.Label.TextStyle = style(labelSize, ink)
		a.Label.TextStyle.XAlign, a.Label.TextStyle.YAlign, a.Label.TextStyle.Rotation = align.XAlign, align.YAlign, align.Rotation
		a.Padding = 4
	}
	return p
}

// canvas is a drawing of the given height, with a title; the rest is in area.
type canvas struct {
	svg  *vgsvg.Canvas
	area draw.Canvas
	name string
}

func newCanvas(title string, height float64) *canvas {
	lines := wrap(title, style(titleSize, ink), textWidth)
	svg := vgsvg.New(width, vg.Length(height+float64(len(lines))*(titleSize+4)+2*margin))
	c := &canvas{svg: svg, area: draw.Crop(draw.New(svg), margin, -margin, margin, -margin), name: title}
	for _, line := range lines {
		c.area.FillText(style(titleSize, ink), vg.Point{X: c.area.Min.X, Y: c.area.Max.Y - titleSize}, line)
		c.area.Max.Y -= titleSize + 4
	}
	return c
}

// wrap breaks text into lines that are no wider than the limit.
func wrap(s string, st text.Style, limit vg.Length) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		longer := strings.TrimSpace(line + " " + word)
		if line != "" && st.Width(longer) > limit {
			lines = append(lines, line)
			longer = word
		}
		line = longer
	}
	return append(lines, line)
}

var (
	prelude  = regexp.MustCompile(`(?s)^.*?<svg width="[^"]*" height="[^"]*" viewBox="([^"]*)"[^>]*>`)
	fontName = regexp.MustCompile(`font-family:[^;]*;font-variant:[^;]*;font-weight:[^;]*;font-style:[^;"]*`)
)

// family is the font that a browser looks for, in place of the one that is measured.
const family = "Liberation Sans,Arial,Helvetica,sans-serif"

// finish returns the drawing, with a name for those who cannot see it.
func (c *canvas) finish() string {
	var b bytes.Buffer
	if _, err := c.svg.WriteTo(&b); err != nil {
		panic(err) // a bytes.Buffer takes everything
	}
	name := html.EscapeString(c.name)
	svg := prelude.ReplaceAllString(b.String(), `<svg xmlns="http://www.w3.org/2000/svg" viewBox="$1" role="img"><title>`+name+`</title>`)
	return themed(fontName.ReplaceAllString(svg, "font-family:"+family))
}

// Standalone is a chart's drawing as a file of its own, which follows the
// viewer's wish for light or dark.
func Standalone(c Chart) string { return compact(c.SVG()) }

// logTicks labels the powers of ten, and where there are few of them also
// twice and five times those. Where there are many, nothing is between them.
type logTicks struct{}

func (logTicks) Ticks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	first, last := math.Floor(math.Log10(low)), math.Ceil(math.Log10(high))
	for e := first; e <= last; e++ {
		for _, m := range []float64{1, 2, 3, 4, 5, 6, 7, 8, 9} {
			v := m * math.Pow(10, e)
			if v < low*0.999 || v > high*1.001 || m > 1 && last-first > 5 {
				continue
			}
			label := ""
			if m == 1 || last-first <= 2 && (m == 2 || m == 5) {
				label = Number(v)
			}
			ticks = append(ticks, plot.Tick{Value: v, Label: label})
		}
	}
	return ticks
}

// plainTicks are gonum's, labelled with Number.
type plainTicks struct{}

func (plainTicks) Ticks(low, high float64) []plot.Tick {
	ticks := plot.DefaultTicks{}.Ticks(low, high)
	for i := range ticks {
		if ticks[i].Label != "" {
			ticks[i].Label = Number(ticks[i].Value)
		}
	}
	return ticks
}

// Number prints a figure short enough for a chart: three digits, thousands as
// k, millions as M.
func Number(v float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if math.Abs(v) >= unit.size {
			return strconv.FormatFloat(round(v/unit.size), 'f', -1, 64) + unit.name
		}
	}
	return strconv.FormatFloat(round(v), 'f', -1, 64)
}

// round keeps three digits.
func round(v float64) float64 {
	if v == 0 {
		return 0
	}
	r, err := strconv.ParseFloat(fmt.Sprintf("%.3g", v), 64)
	if err != nil {
		return v
	}
	return r
}
