package browsertest

import (
	_ "embed"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

//go:embed checks.js
var checks string

// complaints is what a check of checks.js finds.
func (b *tab) complaints(check string) []string {
	b.Helper()
	return eval[[]string](b, "("+checks+")."+check+"()")
}

// want fails for what some checks find.
func (b *tab) want(t *testing.T, list ...string) {
	t.Helper()
	for _, check := range list {
		for _, complaint := range b.complaints(check) {
			t.Errorf("%s: %s", check, complaint)
		}
	}
}

// bad is a page with one of each fault.
const bad = `<!doctype html><title>bad</title><link rel="stylesheet" href="bad.css">
<figure data-chart="one"><svg width="200" height="40"><text x="10" y="20">first</text><text x="14" y="22">second</text><text x="190" y="30">third</text></svg></figure>
<figure data-chart="two"><p class="cut">a long line that is not wholly there</p></figure>
<p class="faint">nearly white</p><p class="wide">wide</p>
<script>inline()</script><script src="bad.js"></script>`

const badCSS = `body { background: white } .faint { color: #ddd } .wide { width: 3000px }
.cut { width: 40px; overflow: hidden; white-space: nowrap }`

const badJS = `console.error("an error of the page");
document.body.append(Object.assign(new Image(), {src: "https://example.invalid/x.png"}));
setTimeout(() => { document.body.dataset.done = "yes"; throw new Error("thrown"); });`

// The checks see what they are for.
func TestChecksSeeFaults(t *testing.T) {
	needBrowser(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'self'")
		switch r.URL.Path {
		case "/bad.css":
			w.Header().Set("Content-Type", "text/css")
			_, _ = w.Write([]byte(badCSS))
		case "/bad.js":
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = w.Write([]byte(badJS))
		default:
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte(bad))
		}
	}))
	defer server.Close()
	b := open(t, server.URL, view{width: 360, faulty: true})
	wait[bool](b, `document.body.dataset.done === "yes"`)
	for check, want := range map[string]string{
		"overlaps": `"second" lies on "first"`,
		"cut":      `"third" is cut`,
		"scrolls":  "3008 pixels wide",
		"faint":    `"nearly white" has a contrast of 1.4`,
	} {
		if found := strings.Join(b.complaints(check), "\n"); !strings.Contains(found, want) {
			t.Errorf("%s found %q, want %s", check, found, want)
		}
	}
	if found := strings.Join(b.complaints("cut"), "\n"); !strings.Contains(found, `"a long line that is not wholly there" is cut`) {
		t.Errorf("cut found %q, want the long line", found)
	}
	found := strings.Join(b.waitProblems(t, 4), "\n")
	for _, want := range []string{"an error of the page", "securitypolicyviolation: script-src-elem inline", "securitypolicyviolation: img-src", "thrown"} {
		if !strings.Contains(found, want) {
			t.Errorf("the browser reports\n%s\nwant %s", found, want)
		}
	}
}

// waitProblems waits until the browser has reported at least n problems, and takes them.
func (b *tab) waitProblems(t *testing.T, n int) (taken []string) {
	t.Helper()
	for begun := time.Now(); len(taken) < n && time.Since(begun) < hang; {
		eval[int](b, "1") // events come before the answer
		taken = append(taken, b.takeProblems()...)
	}
	return taken
}
