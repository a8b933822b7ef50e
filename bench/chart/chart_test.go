package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
)

var lines = Lines{
	Title: "A & B, over <goroutines> with a title that is longer than one line can hold at this width", XLabel: "goroutines", YLabel: "ns", LogX: true, LogY: true,
	XTicks: []Tick{{1, "1"}, {64, "64"}},
	Series: []Series{
		{Name: "firn", Strong: true, Points: []Point{{1, 10, 9, 12}, {64, 2000, 1900, 2100}}},
		{Name: "zero", Color: 1, Points: []Point{{1, 0, 0, 0}, {64, 5, 5, 5}}},
	},
}

var bars = Bars{
	Title: "Bars", XLabel: "ms", Log: true,
	Rows: []Row{{Name: "firn", Y: Point{Y: -0.1, Low: -0.2, High: 0}}, {Name: "other", Color: 13, Y: Point{Y: 7000, Low: 6500, High: 7100}, Detail: " (worst 8k)"}},
}

// TestWellFormed: drawings are XML, with every colour a variable of the theme
// and nothing that has to be fetched.
func TestWellFormed(t *testing.T) {
	for name, svg := range map[string]string{
		"lines": lines.SVG(), "bars": bars.SVG(),
		"one point": Lines{Series: []Series{{Name: "a", Points: []Point{{3, 4, 4, 4}}}}}.SVG(),
		"empty":     Lines{LogX: true, LogY: true}.SVG(), "no bars": Bars{Log: true}.SVG(),
	} {
		d := xml.NewDecoder(strings.NewReader(svg))
		for {
			_, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v in %s", name, err, svg)
			}
		}
		if bad := regexp.MustCompile(`fill:#|stroke:#|NaN|Inf|href|url\(|http://[^w]`).FindString(svg); bad != "" {
			t.Errorf("%s contains %q:\n%s", name, bad, svg)
		}
	}
}

func TestContents(t *testing.T) {
	for _, want := range []string{">goroutines<", ">ns<", ">firn<", ">zero<", ">64<", "<title>A &amp; B", "var(--c0,#0b5fff)"} {
		if !strings.Contains(lines.SVG(), want) {
			t.Errorf("no %q in the lines", want)
		}
	}
	for _, want := range []string{">ms<", ">other<", ">7k (worst 8k)<", ">-0.1<", "var(--c1,"} {
		if !strings.Contains(bars.SVG(), want) {
			t.Errorf("no %q in the bars", want)
		}
	}
}

// TestStandalone: a file of its own is well-formed, has both colours of what it
// shows, and is small.
func TestStandalone(t *testing.T) {
	for _, c := range []Chart{lines, bars} {
		svg := Standalone(c)
		if err := xml.Unmarshal([]byte(svg), new(struct{})); err != nil {
			t.Errorf("%v in %s", err, svg)
		}
		if bad := regexp.MustCompile(`var\(|style="|\d\.\d\d|NaN|Inf|href|url\(`).FindString(svg); bad != "" {
			t.Errorf("%q in %s", bad, svg)
		}
		if own := c.SVG(); len(svg) > len(own) {
			t.Errorf("%d bytes, not small beside the %d in a page", len(svg), len(own))
		}
	}
	svg := Standalone(lines)
	for _, want := range []string{"stroke:#0b5fff", "prefers-color-scheme:dark", "stroke:#6ea8ff", ">zero</text>", "<title>A &amp; B"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %q in %s", want, svg)
		}
	}
}

// TestPaths: neighbours of one style are one path, in the order of the drawing.
func TestPaths(t *testing.T) {
	got := joined(`<g><path d="M1,2L3,2" class="a"/><path d="M1,2L1,9" class="a"/><path d="M5,5L5,5" class="a"/><path d="M1,1L2,3A2,2 0 1 1 4,3L9,3Z" class="b"/><text/><path d="M1,2L3,2" class="b"/></g>`)
	if want := `<g><path d="M1,2H3M1,2V9" class="a"/><path d="M1,1L2,3A2,2 0 1 1 4,3H9Z" class="b"/><text/><path d="M1,2H3" class="b"/></g>`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.0625: "0.0625", 1234: "1.23k", 999: "999", 5e7: "50M", -0.1: "-0.1", 2.5e9: "2.5G"} {
		if got := Number(v); got != want {
			t.Errorf("Number(%v) = %q; expected %q", v, got, want)
		}
	}
}
