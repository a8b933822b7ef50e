package browsertest

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
)

var (
	pictures = flag.String("pictures", "", "the `directory` to write screenshots to, at each width and in both themes")
	update   = flag.Bool("update", false, "write the README's picture, docs/img/live.webp")
)

// shop is a cache that works hard, for the pictures.
var shop = spec{ram: 64 << 20, ssd: 256 << 20, work: workload{keys: 500_000, requests: 6000, bytes: 900, source: 3 * time.Millisecond}}

// busy is the page of that after a quarter of an hour of its clock.
func busy(t *testing.T) (url string, seq uint64) {
	t.Helper()
	w, url := serve(t, shop)
	must(t, w.tick(900))
	return url, w.seq()
}

// TestPictures writes screenshots, to look at.
func TestPictures(t *testing.T) {
	if *pictures == "" {
		t.Skip("no -pictures: they are for somebody to look at")
	}
	must(t, os.MkdirAll(*pictures, 0o755))
	url, seq := busy(t)
	b := open(t, url, view{})
	wait[bool](b, drawn(seq))
	for _, dark := range []bool{false, true} {
		for _, width := range widths {
			b.look(view{width: width, height: 1000, dark: dark})
			file := filepath.Join(*pictures, theme(dark, width)+".png")
			must(t, os.WriteFile(file, b.picture(t, "html"), 0o644))
		}
	}
}

// TestReadmePicture writes the README's first picture: the top of the page, down to the curve.
func TestReadmePicture(t *testing.T) {
	if !*update {
		t.Skip("no -update: docs/img/live.webp stays as it is")
	}
	url, seq := busy(t)
	b := open(t, url, view{width: 1280, height: 1000, scale: 1.5, dark: true})
	wait[bool](b, drawn(seq))
	bottom := eval[float64](b, `document.querySelector('[data-chart="curve"]').getBoundingClientRect().bottom + 12`)
	quality := int64(80)
	result := call(b, page.CaptureScreenshot, page.CaptureScreenshotParams{
		Format: page.CaptureScreenshotFormatWebp, Quality: &quality, Clip: &page.Viewport{Width: 1280, Height: bottom, Scale: 1},
	})
	if n := len(result.Data); n > 150_000 {
		t.Errorf("the picture has %d bytes, want at most 150,000", n)
	}
	must(t, os.WriteFile("../../docs/img/live.webp", result.Data, 0o644))
}
