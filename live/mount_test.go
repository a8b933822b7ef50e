package live

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// mounts are ways to mount a page, and the path of the page there.
func mounts(h http.Handler) map[string]struct {
	handler http.Handler
	path    string
} {
	mux := func(pattern string, h http.Handler) http.Handler {
		m := http.NewServeMux()
		m.Handle(pattern, h)
		return m
	}
	both := http.NewServeMux()
	both.Handle("/x/y", h)
	both.Handle("/x/y/", h)
	return map[string]struct {
		handler http.Handler
		path    string
	}{
		"alone":                {h, "/"},
		"at the root":          {mux("/", h), "/"},
		"usual":                {mux("/debug/firn/", h), "/debug/firn/"},
		"with and without /":   {both, "/x/y/"},
		"GET of a host":        {mux("GET example.com/p/", h), "/p/"},
		"StripPrefix":          {mux("/a/b/", http.StripPrefix("/a/b", h)), "/a/b/"},
		"StripPrefix, slashed": {mux("/a/b/", http.StripPrefix("/a/b/", h)), "/a/b/"},
		"StripPrefix, no mux":  {http.StripPrefix("/a", h), "/a/"},
		"behind a proxy":       {http.StripPrefix("/ops/one", mux("/debug/firn/", h)), "/ops/one/debug/firn/"},
		"odd characters":       {mux("/a(b/c:d/", h), "/a%28b/c:d/"},
		"a wildcard's subtree": {mux("/{service}/firn/", h), "/users/firn/"},
	}
}

// Everything is found below the path where the page is, wherever that is.
func TestMounts(t *testing.T) {
	for name, m := range mounts(Handler(open(t))) {
		for end, want := range map[string]string{
			"": "text/html; charset=utf-8", "app.js": "text/javascript; charset=utf-8", "style.css": "text/css; charset=utf-8",
			"history.json": "application/json", "stats.json": "application/json", "metrics": "text/plain; version=0.0.4; charset=utf-8",
			"stats.json?x=%ff&y=../..": "application/json", "?": "text/html; charset=utf-8",
		} {
			w := get(m.handler, m.path+end)
			if kind := w.Header().Get("Content-Type"); w.Code != http.StatusOK || kind != want || w.Body.Len() == 0 {
				t.Errorf("%s: %s%s is %d %s, want %s", name, m.path, end, w.Code, kind, want)
			}
		}
		for _, end := range []string{"nothing", "app.js.map", "web/index.html/x", "%2fpasswd", strings.Repeat("x", 1<<16), "%00", "stats.JSON"} {
			if w := get(m.handler, m.path+end); w.Code != http.StatusNotFound || w.Body.Len() > 200 {
				t.Errorf("%s: %.40s is %d, want 404", name, end, w.Code)
			}
		}
	}
}

// A page that is asked for without the slash redirects by a relative path, which the prefix of
// a proxy survives.
func TestRedirects(t *testing.T) {
	h := Handler(open(t))
	for name, m := range mounts(h) {
		if strings.HasSuffix(name, "/") || name == "StripPrefix, no mux" {
			w := get(m.handler, strings.TrimSuffix(m.path, "/"))
			parts := strings.Split(m.path, "/")
			if want := "./" + parts[len(parts)-2] + "/"; w.Code != http.StatusTemporaryRedirect || w.Header().Get("Location") != want {
				t.Errorf("%s: %d to %q, want 307 to %q", name, w.Code, w.Header().Get("Location"), want)
			}
		}
	}
	r := httptest.NewRequest(http.MethodGet, "//evil.com", nil)
	r.RequestURI, r.URL.Path = "//evil.com", ""
	if w := ask(h, r); !strings.HasPrefix(w.Header().Get("Location"), "./") {
		t.Errorf("redirected to %q", w.Header().Get("Location"))
	}
}

// Nothing but GET and HEAD is answered, and HEAD without a body.
func TestMethods(t *testing.T) {
	h := Handler(open(t))
	for _, path := range []string{"/", "/app.js", "/events", "/history.json", "/stats.json", "/metrics", "/nothing"} {
		for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get"} {
			w := ask(h, httptest.NewRequest(method, path, nil))
			if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: %d, allowed %q", method, path, w.Code, w.Header().Get("Allow"))
			}
		}
		if path == "/events" || path == "/nothing" {
			continue
		}
		all, head := get(h, path), ask(h, httptest.NewRequest(http.MethodHead, path, nil))
		if head.Code != http.StatusOK || head.Body.Len() != 0 || head.Header().Get("Content-Type") != all.Header().Get("Content-Type") || head.Header().Get("Content-Length") == "" {
			t.Errorf("HEAD %s: %d %v", path, head.Code, head.Header())
		}
	}
}

// Every answer forbids browsers what the page does not need.
func TestHeaders(t *testing.T) {
	h := Handler(open(t))
	for _, path := range []string{"/", "/app.js", "/history.json", "/stats.json", "/metrics", "/nothing"} {
		header := get(h, path).Header()
		for name, want := range map[string]string{
			"Content-Security-Policy":      "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
			"X-Content-Type-Options":       "nosniff",
			"Referrer-Policy":              "no-referrer",
			"Cross-Origin-Resource-Policy": "same-origin",
			"Cross-Origin-Opener-Policy":   "same-origin",
		} {
			if got := header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
		if header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s lets other sites read it", path)
		}
	}
	for path, want := range map[string]string{"/": "no-cache", "/app.js": "no-cache", "/stats.json": "no-store", "/history.json": "no-store", "/metrics": "no-store"} {
		if got := get(h, path).Header().Get("Cache-Control"); got != want {
			t.Errorf("%s: Cache-Control is %q, want %q", path, got, want)
		}
	}
}
