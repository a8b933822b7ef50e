package httpcache_test

import (
	"bytes"
	"net/http"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/httpcache"
)

// sink is a ResponseWriter without a network.
type sink struct{ header http.Header }

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) WriteHeader(int)             {}
func (s *sink) Write(p []byte) (int, error) { return len(p), nil }

// BenchmarkHit is what a hit costs before its bytes go to a connection.
func BenchmarkHit(b *testing.B) {
	for name, size := range map[string]int{"1KB": 1 << 10, "100KB": 100 << 10} {
		b.Run(name, func(b *testing.B) {
			in, err := firn.Open(firn.Options{RAMBytes: 64 << 20})
			if err != nil {
				b.Fatal(err)
			}
			defer in.Close()
			c, err := httpcache.New(in, "bench", httpcache.Options{})
			if err != nil {
				b.Fatal(err)
			}
			body := bytes.Repeat([]byte("x"), size)
			h := c.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Cache-Control", "max-age=3600")
				w.Header().Set("Date", time.Now().UTC().Format(http.TimeFormat))
				_, _ = w.Write(body)
			}))
			r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, "http://a/b", nil)
			if err != nil {
				b.Fatal(err)
			}
			r.Header = http.Header{"User-Agent": {"x"}, "Accept": {"*/*"}}
			w := &sink{http.Header{}}
			b.ReportAllocs()
			for b.Loop() {
				clear(w.header)
				h.ServeHTTP(w, r)
			}
			if s := c.Stats(); s.Misses != 1 {
				b.Errorf("%+v", s)
			}
		})
	}
}
