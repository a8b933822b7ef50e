package compare

import (
	"strings"
	"testing"

	"github.com/firncache/firn/bench/samples"
)

// run is firn beside a rival, eight turns each; firn takes the given times.
func run(factor float64) *samples.Run {
	r := &samples.Run{Suite: "ram"}
	for i := range 8 {
		drift := 1 + float64(i)/10
		r.Samples = append(r.Samples,
			samples.Sample{Name: "get", Cache: "firn", Against: "otter", Repeat: i, Value: factor * 100 * drift, Unit: "ns/op"},
			samples.Sample{Name: "get", Cache: "otter", Against: "firn", Repeat: i, Value: 200 * drift, Unit: "ns/op"},
			samples.Sample{Name: "overhead", Cache: "firn", Repeat: i, Value: 20, Unit: "B/entry"})
	}
	return r
}

func TestRuns(t *testing.T) {
	rows, err := Runs(run(1), run(0.5))
	if err != nil {
		t.Fatal(err)
	}
	deltas := make(map[string]string)
	for _, r := range rows {
		deltas[r.What()] = r.Delta()
		if r.Changed() != (r.Delta() != "~") && r.Name != "overhead" {
			t.Errorf("%s: changed %v, delta %s", r.What(), r.Changed(), r.Delta())
		}
	}
	for what, want := range map[string]string{
		"get firn over otter": "+100.00%", "get firn (beside otter)": "-50.00%", "get otter (beside firn)": "~", "overhead firn": "~",
	} {
		if deltas[what] != want {
			t.Errorf("%s: %s; expected %s", what, deltas[what], want)
		}
	}
	if text := Text(rows); !strings.Contains(text, "p=0.000 n=8") || !strings.Contains(text, "4 ×") {
		t.Errorf("no p value or ratio in:\n%s", text)
	}
}

func TestRefuses(t *testing.T) {
	other := run(1)
	other.Suite = "gc"
	if _, err := Runs(run(1), other); err == nil {
		t.Error("two suites were compared")
	}
	if _, err := Runs(run(1), &samples.Run{Suite: "ram"}); err == nil {
		t.Error("nothing in common, and no error")
	}
}
