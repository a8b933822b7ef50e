package browsertest

import (
	"bytes"
	"fmt"
	"image"
	_ "image/png"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/firncache/firn"
)

// widths are those of a telephone, a laptop and a large screen.
var widths = []int64{360, 1280, 2560}

// full is a page that has everything to show: all tiers in use, history, a curve.
func full(t *testing.T) (w *world, url string, seq uint64) {
	t.Helper()
	w, url = serve(t, spec{ram: 32 << 20, ssd: 48 << 20, direct: firn.DirectOff, work: workload{keys: 40_000, requests: 1000, bytes: 2400}})
	must(t, w.tick(60))
	return w, url, w.seq()
}

// Nothing is cut, lies on something else, is too faint to read, or makes the page scroll sideways.
func TestLayout(t *testing.T) {
	t.Parallel()
	_, url, seq := full(t)
	b := open(t, url, view{})
	wait[bool](b, drawn(seq))
	for _, dark := range []bool{false, true} {
		for _, width := range widths {
			t.Run(theme(dark, width), func(t *testing.T) {
				b.look(view{width: width, height: 1000, dark: dark})
				if stale := eval[[]string](b, stalePictures); len(stale) > 0 {
					t.Fatalf("%v are drawn for another width", stale)
				}
				b.want(t, "overlaps", "cut", "scrolls", "faint")
			})
		}
	}
}

// stalePictures are the charts over time whose axis does not reach the right end.
const stalePictures = `[...document.querySelectorAll("[data-chart] .plot > svg")].filter(e => e.checkVisibility() && e.querySelector(".rule.base")).
	filter(e => { const own = e.getBoundingClientRect(), axis = [...e.querySelectorAll(".rule.base")].map(r => r.getBoundingClientRect().right); return Math.abs(own.right - Math.max(...axis)) > 40; }).map(e => e.getAttribute("aria-label"))`

func theme(dark bool, width int64) string {
	if dark {
		return fmt.Sprintf("dark-%d", width)
	}
	return fmt.Sprintf("light-%d", width)
}

// wanted are the charts, in the order in which a reader needs them.
var wanted = []string{"flow", "hits", "curve", "memory", "age", "evictions", "loads", "policy", "namespaces", "keys", "segments", "writes", "above", "gc", "health"}

// Every chart is there, in order, and has something in it, in both themes.
func TestChartsAreDrawn(t *testing.T) {
	t.Parallel()
	_, url, seq := full(t)
	b := open(t, url, view{width: 1280})
	wait[bool](b, drawn(seq))
	found := eval[[]string](b, `[...document.querySelectorAll("[data-chart]")].map(e => e.dataset.chart)`)
	if fmt.Sprint(found) != fmt.Sprint(wanted) {
		t.Errorf("the page has the charts %v, want %v", found, wanted)
	}
	for _, dark := range []bool{false, true} {
		b.look(view{width: 1280, dark: dark})
		for _, name := range found {
			if name == "namespaces" || name == "keys" || name == "above" { // there are none
				continue
			}
			if share := ink(t, b.picture(t, fmt.Sprintf(`[data-chart="%s"]`, name))); share < 0.01 {
				t.Errorf("%s, dark %v: %.2f %% of its pixels differ from the rest: it is blank", name, dark, 100*share)
			}
		}
		for _, complaint := range eval[[]string](b, blankPictures) {
			t.Errorf("dark %v: %s", dark, complaint)
		}
	}
}

// blankPictures are the pictures of charts that have no mark in them, apart from text and rules.
const blankPictures = `[...document.querySelectorAll("[data-chart] svg[role], [data-chart] canvas")].filter(p => {
	if (p.localName === "canvas") {
		const data = new Uint32Array(p.getContext("2d").getImageData(0, 0, p.width, p.height).data.buffer);
		return data.every(pixel => pixel === data[0]);
	}
	return ![...p.querySelectorAll("path, rect, circle, line, polyline")].some(e => !e.matches(".rule, .cursor, .bed") && Math.max(e.getBoundingClientRect().width, e.getBoundingClientRect().height) > 0);
}).map(p => p.closest("[data-chart]").dataset.chart + " has an empty picture")`

// picture is a screenshot of an element.
func (b *tab) picture(t *testing.T, selector string) []byte {
	t.Helper()
	type box struct{ X, Y, Width, Height float64 }
	r := eval[box](b, fmt.Sprintf(`(r => ({X: r.x + scrollX, Y: r.y + scrollY, Width: r.width, Height: r.height}))(document.querySelector(%q).getBoundingClientRect())`, selector))
	beyond := true
	result := call(b, page.CaptureScreenshot, page.CaptureScreenshotParams{
		Clip:                  &page.Viewport{X: r.X, Y: r.Y, Width: r.Width, Height: r.Height, Scale: 1},
		CaptureBeyondViewport: &beyond,
	})
	return result.Data
}

// ink is the share of a picture's pixels that have not its most frequent colour.
func ink(t *testing.T, file []byte) float64 {
	t.Helper()
	picture, _, err := image.Decode(bytes.NewReader(file))
	must(t, err)
	colours, all, most := map[[3]uint32]int{}, 0, 0
	for y := picture.Bounds().Min.Y; y < picture.Bounds().Max.Y; y++ {
		for x := picture.Bounds().Min.X; x < picture.Bounds().Max.X; x++ {
			r, g, b, _ := picture.At(x, y).RGBA()
			colours[[3]uint32{r, g, b}]++
			most = max(most, colours[[3]uint32{r, g, b}])
			all++
		}
	}
	return 1 - float64(most)/float64(all)
}

// Every axis says what it counts: a chart over time, the curve, and each of their scales.
func TestAxesHaveUnits(t *testing.T) {
	t.Parallel()
	_, url, seq := full(t)
	b := open(t, url, view{})
	wait[bool](b, drawn(seq))
	type axes struct{ Chart, Unit string }
	for _, a := range eval[[]axes](b, `[...document.querySelectorAll("[data-chart]:not([hidden])")].map(c => ({Chart: c.dataset.chart, Unit: [...c.querySelectorAll("[data-unit]")].map(e => e.dataset.unit).join(" ")}))`) {
		if a.Unit == "" && a.Chart != "health" {
			t.Errorf("%s names no unit", a.Chart)
		}
	}
}
