package report

import "testing"

// TestCurveTables: a row for each load, a column for each target; single points are not kept.
func TestCurveTables(t *testing.T) {
	text := render(t, "curve",
		value("curve", "targets/steady/points", "firn", "points", 9), value("curve", "targets/steady/mean", "firn", "points", 0.41),
		value("curve", "targets/changing/within", "firn", "%", 94),
	)
	want(t, text, "| steady | 9 | – | 0.41 |", "| changing | – | 94 % |")
	shown := Shown(run("curve", value("curve", "targets/steady/mean", "firn", "points", 1), value("curve", "load=scan/trace=a/size=5/factor=2/at=5000/real", "firn", "%", 50)))
	if len(shown.Samples) != 1 {
		t.Errorf("%+v are kept; expected the sums alone", shown.Samples)
	}
}
