package httpcache_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/firncache/firn/httpcache"
)

// A server of HTTP/2 gives each request a Body, of GET too.
func TestHTTP2(t *testing.T) {
	c := open(t, httpcache.Options{})
	o := &sized{bytes: patterned(3000), etag: `"a"`}
	s := httptest.NewUnstartedServer(c.Handler(o))
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	for i, want := range []string{"test; fwd=uri-miss; stored", "test; hit; ttl="} {
		resp, body := fetch(t, s.Client(), s.URL)
		if got := resp.Header.Get("Cache-Status"); body != string(o.bytes) || resp.ProtoMajor != 2 || !strings.HasPrefix(got, want) {
			t.Errorf("request %d by %s: %d bytes, Cache-Status %q: want %q", i, resp.Proto, len(body), got, want)
		}
	}
	if n := o.asked.Load(); n != 1 {
		t.Errorf("%d requests of the Handler behind: want 1", n)
	}
}
