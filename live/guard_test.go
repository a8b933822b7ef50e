package live

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A name that is none of this machine's is refused where a browser may have been sent by a site
// of that name.
func TestHosts(t *testing.T) {
	open, named := Handler(open(t)), New(Options{Caches: unnamed1(t), Hosts: []string{"Ops.Example.com", "other"}})
	for _, test := range []struct {
		local, host    string
		allowed, named bool
	}{
		{"127.0.0.1:8080", "localhost:8080", true, true},
		{"127.0.0.1:8080", "LOCALHOST", true, true},
		{"127.0.0.1:8080", "app.localhost:80", true, true},
		{"127.0.0.1:8080", "127.0.0.1:8080", true, true},
		{"127.0.0.1:8080", "", true, true},
		{"[::1]:8080", "[::1]:8080", true, true},
		{"[::1]:8080", "[::1]", true, true},
		{"[::ffff:127.0.0.1]:8080", "evil.com", false, false},
		{"127.0.0.1:8080", "10.1.2.3:8080", true, true},
		{"127.0.0.1:8080", "evil.com", false, false},
		{"127.0.0.1:8080", "evil.com:8080", false, false},
		{"127.0.0.1:8080", "localhost.evil.com", false, false},
		{"127.0.0.1:8080", "evil-localhost", false, false},
		{"127.0.1.1:8080", strings.ToUpper(machine()) + ":8080", true, true},
		{"127.0.1.1:8080", machine() + ".evil.com", false, false},
		{"127.0.0.1:8080", "127.0.0.1.evil.com", false, false},
		{"127.1.2.3:8080", "evil.com", false, false},
		{"[::1]:8080", "evil.com:8080", false, false},
		{"127.0.0.1:8080", "ops.example.com.", false, true},
		{"127.0.0.1:8080", "ops.example.com:443", false, true},
		{"10.0.0.7:8080", "pod-7.cluster.local:8080", true, false},
		{"10.0.0.7:8080", "OPS.example.com", true, true},
		{"/run/app.sock", "evil.com", true, false},
		{"", "evil.com", true, false},
	} {
		for h, want := range map[http.Handler]bool{open: test.allowed, named: test.named} {
			r := httptest.NewRequest(http.MethodGet, "/stats.json", nil)
			if test.local != "" {
				r = r.WithContext(context.WithValue(t.Context(), http.LocalAddrContextKey, address(test.local)))
			}
			r.Host = test.host
			w := ask(h, r)
			if (w.Code == http.StatusOK) != want || !want && w.Code != http.StatusForbidden {
				t.Errorf("to %s by %q, %v: %d", test.local, test.host, want, w.Code)
			}
			if test.host != "" && !want && strings.Contains(w.Body.String()+headers(w), test.host) {
				t.Errorf("%q is told back: %s", test.host, w.Body)
			}
		}
	}
}

// address is that of a listener.
func address(text string) net.Addr {
	if strings.HasPrefix(text, "/") {
		return &net.UnixAddr{Name: text, Net: "unix"}
	}
	a, err := net.ResolveTCPAddr("tcp", text)
	if err != nil {
		panic(err)
	}
	return a
}

func headers(w *httptest.ResponseRecorder) string {
	var b strings.Builder
	_ = w.Header().Write(&b)
	return b.String()
}

// What a page of another site asks for is refused; a link there may be followed.
func TestOrigins(t *testing.T) {
	h := Handler(open(t))
	for _, test := range []struct {
		headers []string
		allowed bool
	}{
		{nil, true},
		{[]string{"Origin", "http://example.com"}, true},
		{[]string{"Origin", "https://EXAMPLE.com"}, true},
		{[]string{"Origin", "http://evil.com"}, false},
		{[]string{"Origin", "http://example.com.evil.com"}, false},
		{[]string{"Origin", "http://example.com:81"}, false},
		{[]string{"Origin", "null"}, false},
		{[]string{"Origin", "%"}, false},
		{[]string{"Sec-Fetch-Site", "same-origin"}, true},
		{[]string{"Sec-Fetch-Site", "none"}, true},
		{[]string{"Sec-Fetch-Site", "same-origin", "Origin", "https://behind.a.proxy"}, true},
		{[]string{"Sec-Fetch-Site", "cross-site"}, false},
		{[]string{"Sec-Fetch-Site", "same-site"}, false},
		{[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "script"}, false},
		{[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "cors", "Sec-Fetch-Dest", "empty"}, false},
		{[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, false},
		{[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, true},
	} {
		for _, path := range []string{"/", "/app.js", "/history.json", "/stats.json", "/metrics"} {
			w := get(h, path, test.headers...)
			if want := map[bool]int{true: http.StatusOK, false: http.StatusForbidden}[test.allowed]; w.Code != want {
				t.Errorf("%s with %q: %d, want %d", path, test.headers, w.Code, want)
			}
			if strings.Contains(headers(w), "evil") || w.Code != http.StatusOK && strings.Contains(w.Body.String(), "evil") {
				t.Errorf("%s with %q: told back", path, test.headers)
			}
		}
	}
}
