package curve

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/firncache/firn/stats"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

// read reads a curve that a test has as a file: of RAM, or of both tiers.
func read(t *testing.T, name string) stats.Curve {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	curves, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return curves[0].Curve
}

// The chart at the widths that terminals have.
func TestChart(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for _, name := range []string{"tiers.json", "ram.json"} {
		c := read(t, name)
		for _, columns := range []int{20, 60, 80, 120} {
			var out strings.Builder
			Chart(&out, &c, Style{columns, columns == 60})
			fmt.Fprintf(&all, "%s, %d columns\n%s\n", name, columns, &out)
			for line := range strings.Lines(out.String()) {
				if n := utf8.RuneCountInString(line) - 1; n >= max(columns, 60) {
					t.Errorf("%s: a line of %d in a terminal of %d: %s", name, n, columns, line)
				}
			}
		}
	}
	golden(t, "chart.txt", all.String())
}

func TestTable(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	Table(&out, &Named{"two tiers", read(t, "tiers.json")}, Style{80, false})
	Table(&out, &Named{"", read(t, "ram.json")}, Style{80, true})
	Table(&out, &Named{"too small", stats.Curve{RAM: stats.SizeCurve{Advice: []string{"Not \x1b[31msimulated."}}}}, Style{80, false})
	for line := range strings.Lines(out.String()) {
		if n := utf8.RuneCountInString(line) - 1; n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	golden(t, "table.txt", out.String())
}

func TestWords(t *testing.T) {
	t.Parallel()
	if got := span(-90 * time.Minute); got != "-1h30m" {
		t.Errorf("got %s, want -1h30m", got)
	}
	for p, want := range map[stats.CurvePoint]string{
		{MissRatio: .3824, Error: .00341}: "38.2 ± 0.4", {MissRatio: .0042, Error: .0001}: "0.42 ± 0.01", {}: "0.0 ± 0.0", {MissRatio: 1, Error: .1}: "100.0 ± 10.0",
	} {
		if got := misses(&p); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
