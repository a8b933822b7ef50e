package report

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"

	"github.com/firncache/firn/bench/chart"
	"github.com/firncache/firn/bench/curve"
	"github.com/firncache/firn/bench/samples"
)

// CurveCell is a cell of the suite curve: of which trace, and who predicts.
type CurveCell struct {
	By, Trace string
	curve.Cell
}

var curveName = regexp.MustCompile(`^([a-z]+)/trace=([^/]+)/size=([0-9.]+)/factor=([0-9.]+)/(predicted|bar|real|keys)$`)

// CurveCells puts the samples of cells together again, in their order.
func CurveCells(all []samples.Sample) (cells []CurveCell) {
	at := make(map[string]int)
	for _, s := range all {
		m := curveName.FindStringSubmatch(s.Name)
		if m == nil {
			continue
		}
		name := s.Name[:len(s.Name)-len(m[5])]
		i, ok := at[name]
		if !ok {
			i = len(cells)
			at[name] = i
			cells = append(cells, CurveCell{m[1], m[2], curve.Cell{Size: number(m[3]), Factor: number(m[4])}})
		}
		switch c := &cells[i]; m[5] {
		case "predicted":
			c.Predicted = s.Value / 100
		case "bar":
			c.Bar = s.Value / 100
		case "real":
			c.Real = s.Value / 100
		case "keys":
			c.Keys = int(s.Value)
		}
	}
	return cells
}

// number is one that the expression has found to be one.
func number(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic(err)
	}
	return v
}

// curveTitles are the charts' of the predictors.
var curveTitles = map[string]string{
	"policy": "What the simulation says of ½, 2 and 4 times the size, and the truth",
	"cache":  "What Cache.Curve says of ½, 2 and 4 times the size, and the truth",
}

// curveFigures is a chart for each predictor.
func curveFigures(all []samples.Sample) (figures []Figure) {
	cells := CurveCells(all)
	for _, p := range curve.Predictors {
		panels := chart.Panels{
			Title: curveTitles[p.Name], YLabel: "Misses, %; from", XLabel: "size, % of the working set",
			XTicks: []chart.Tick{{At: 0.25}, {At: 1, Label: "1"}, {At: 10, Label: "10"}, {At: 100, Label: "100"}, {At: 165}},
		}
		for _, size := range curve.Sizes {
			panels.Marks = append(panels.Marks, chart.Number(size)+" %")
		}
		for _, c := range cells {
			if c.By == p.Name {
				panels.Panels = addCell(panels.Panels, c)
			}
		}
		panels.Panels = slices.DeleteFunc(panels.Panels, func(p chart.Panel) bool { return len(p.Dots) == 0 })
		for i := range panels.Panels {
			panels.Panels[i].Line = means(panels.Panels[i].Line)
		}
		if len(panels.Panels) > 0 {
			figures = append(figures, Figure{ID: "curve-" + p.Name, Suite: "curve", Chart: panels, Main: true})
		}
	}
	return figures
}

// addCell puts a cell into its trace's panel.
func addCell(panels []chart.Panel, c CurveCell) []chart.Panel {
	i := slices.IndexFunc(panels, func(p chart.Panel) bool { return p.Name == c.Trace })
	if i < 0 {
		i = len(panels)
		panels = append(panels, chart.Panel{Name: c.Trace})
	}
	x, p := c.Size*c.Factor, &panels[i]
	p.Line = append(p.Line, chart.Point{X: x, Y: 100 * c.Real})
	if c.Counts() && slices.Contains(curve.Near, c.Factor) {
		p.Dots = append(p.Dots, chart.Dot{
			Point: chart.Point{X: x, Y: 100 * c.Predicted, Low: 100 * (c.Predicted - c.Bar), High: 100 * (c.Predicted + c.Bar)},
			Mark:  slices.Index(curve.Sizes, c.Size),
		})
	}
	return panels
}

// means is a point for each place, from left to right: the truths of a size differ a little, as they
// are of the requests that the predictions are about.
func means(points []chart.Point) (line []chart.Point) {
	slices.SortStableFunc(points, func(a, b chart.Point) int { return cmp.Compare(a.X, b.X) })
	for len(points) > 0 {
		n, sum := 0, 0.0
		for ; n < len(points) && points[n].X == points[0].X; n++ {
			sum += points[n].Y
		}
		line = append(line, chart.Point{X: points[0].X, Y: sum / float64(n)})
		points = points[n:]
	}
	return line
}
