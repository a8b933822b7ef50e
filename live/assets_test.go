package live

import (
	"net/http"
	"path"
	"regexp"
	"strings"
	"testing"
)

// The page with everything that it loads is at most 80 KB, as it is sent.
func TestSizeOfPage(t *testing.T) {
	h, sum := Handler(open(t)), 0
	for name := range assets() {
		w := get(h, "/"+name, "Accept-Encoding", "gzip")
		if w.Header().Get("Content-Encoding") != "gzip" {
			t.Errorf("%s is not compressed", name)
		}
		sum += w.Body.Len()
	}
	t.Logf("%d bytes", sum)
	if sum > 80_000 {
		t.Errorf("the page takes %d bytes, want at most 80,000", sum)
	}
}

// Every file has a type, and nothing in the page is against its own policy.
func TestFilesOfPage(t *testing.T) {
	for name, a := range assets() {
		if a.kind == "" {
			t.Errorf("%s: no type for %s: say it in kinds", name, path.Ext(name))
		}
	}
	html := string(assets()["index.html"].plain)
	for _, banned := range []string{`<style`, `\sstyle=`, `\son[a-z]+=`, `<script[^>]*>[^<]`, `https?://`, `"data:`, `<base`} {
		if found := regexp.MustCompile(banned).FindString(html); found != "" {
			t.Errorf("index.html has %q", found)
		}
	}
}

// Browsers keep what the page names with a version, and ask for the rest whether it changed.
func TestVersions(t *testing.T) {
	h := Handler(open(t))
	html := text(t, get(h, "/"))
	for _, name := range []string{"app.js", "style.css"} {
		link := regexp.MustCompile(`"(` + regexp.QuoteMeta(name) + `\?v=[0-9a-f]{12})"`).FindStringSubmatch(html)
		if link == nil {
			t.Fatalf("the page does not name %s with a version", name)
		}
		w := get(h, "/"+link[1])
		if cache := w.Header().Get("Cache-Control"); w.Code != http.StatusOK || !strings.Contains(cache, "immutable") {
			t.Errorf("%s: %d, %s", link[1], w.Code, cache)
		}
		if cache := get(h, "/"+name+"?v=000000000000").Header().Get("Cache-Control"); cache != "no-cache" {
			t.Errorf("%s of another version: %s", name, cache)
		}
	}
	for _, path := range []string{"/", "/app.js", "/style.css"} {
		tag := get(h, path).Header().Get("ETag")
		for known, want := range map[string]int{tag: http.StatusNotModified, `"x", W/` + tag: http.StatusNotModified, `"x"`: http.StatusOK, "": http.StatusOK} {
			w := get(h, path, "If-None-Match", known)
			if w.Code != want || want == http.StatusNotModified && w.Body.Len() > 0 || w.Header().Get("ETag") != tag {
				t.Errorf("%s, known is %s: %d, want %d", path, known, w.Code, want)
			}
		}
		if w := get(h, path, "Range", "bytes=1-3"); w.Code != http.StatusOK {
			t.Errorf("%s, a range: %d", path, w.Code)
		}
	}
}
