package report

import (
	"strings"
	"testing"

	"github.com/firncache/firn/bench/chart"
	"github.com/firncache/firn/bench/samples"
)

// TestCurveTables: a row for each group of predictions, a column for each figure of it.
func TestCurveTables(t *testing.T) {
	text := render(t, "curve",
		value("curve", "policy/near/cells", "firn", "cells", 9), value("curve", "policy/near/mean", "firn", "points", 0.41),
		value("curve", "cache/far/within", "firn", "%", 94), value("curve", "cache/twelve/within", "firn", "%", 1),
	)
	want(t, text, "| Simulation, ½, 2 and 4 times the size | 9 | 0.41 | – | – | – | – |", "| ¼ and 8 | – | – | – | – | – | 94 % |")
	for _, bad := range []string{"twelve", "| 2 |", "| 1 % |"} {
		if strings.Contains(text, bad) {
			t.Errorf("%q in:\n%s", bad, text)
		}
	}
	shown := Shown(run("curve", value("curve", "policy/near/mean", "firn", "points", 1), value("curve", "policy/trace=a/size=1/factor=2/real", "firn", "%", 50)))
	if len(shown.Samples) != 1 {
		t.Errorf("%+v are kept; expected the errors alone", shown.Samples)
	}
}

// TestCurveFigures: a panel for each trace, the mean truth of each size on its line, and the
// predictions that count beside it.
func TestCurveFigures(t *testing.T) {
	cell := func(at string, predicted, bar, real, keys float64) (all []samples.Sample) {
		for name, v := range map[string]float64{"predicted": predicted, "bar": bar, "real": real, "keys": keys} {
			all = append(all, value("curve", "cache/"+at+"/"+name, "firn", "%", v)...)
		}
		return all
	}
	r := run("curve",
		cell("trace=a/size=1/factor=4", 50, 2, 49, 1000), cell("trace=a/size=1/factor=2", 60, 2, 61, 999), cell("trace=a/size=5/factor=0.5", 60, 2, 62, 4000),
		cell("trace=a/size=10/factor=0.4", 50, 2, 51, 4000), cell("trace=b/size=10/factor=2", 50, 2, 51, 1000),
	)
	figures := Figures([]*samples.Run{r})
	if len(figures) != 1 || figures[0].ID != "curve-cache" || !figures[0].Main {
		t.Fatalf("%+v; expected the chart of the cache", figures)
	}
	panels := figures[0].Chart.(chart.Panels).Panels
	if len(panels) != 2 || panels[0].Name != "a" || len(panels[0].Line) != 3 || len(panels[0].Dots) != 2 || len(panels[1].Dots) != 1 {
		t.Fatalf("%+v; expected two panels", panels)
	}
	if p := panels[0].Line[2]; p != (chart.Point{X: 4, Y: 50}) {
		t.Errorf("%+v; expected the mean of both truths", p)
	}
	if d := panels[0].Dots[0]; d.Mark != 0 || d.Low != 48 || d.High != 52 || d.X != 4 {
		t.Errorf("%+v; expected a prediction from 1 %%", d)
	}
}
