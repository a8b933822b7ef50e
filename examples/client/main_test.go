package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/firncache/firn"
)

// The second run has the responses of the first: the fresh one as it is, the other one once it is confirmed.
func TestTwoRuns(t *testing.T) {
	sent := 0
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/fresh" {
			w.Header().Set("Cache-Control", "private, max-age=3600")
		}
		w.Header().Set("Etag", `"a"`)
		if r.Header.Get("If-None-Match") == `"a"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		sent++
		_, _ = io.WriteString(w, "hello")
	}))
	defer origin.Close()
	o := firn.Options{RAMBytes: 1 << 20, SSD: firn.SSDOptions{Dir: t.TempDir(), Bytes: 16 << 20}}
	for _, want := range [][]string{{"fwd=uri-miss; stored", "fwd=uri-miss; stored"}, {"client; hit; ttl=", "fwd-status=304"}} {
		var out strings.Builder
		if err := get(&out, o, origin.URL+"/fresh", origin.URL+"/confirmed"); err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
			if !strings.Contains(line, want[i]) {
				t.Errorf("%s: want %q in it", line, want[i])
			}
		}
	}
	if sent != 2 {
		t.Errorf("the origin sent %d bodies, want 2", sent)
	}
}
