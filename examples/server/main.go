// Command server makes pages of those of another HTTP server, its origin, and keeps them in RAM and on SSD.
// It remembers which there are not, and serves expired ones while the origin is down: what its handler says in
// Cache-Control, the middleware of httpcache does. On SIGTERM it writes what is in RAM to the SSD, and is warm when it is started again.
//
//	server -origin https://example.org -dir /var/cache/pages -listen localhost:8080
package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"log"
	"net"
	"net/http"
	"os/signal"
	"syscall"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/httpcache"
	"github.com/firncache/firn/metrics/firnprometheus"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

const grace = 25 * time.Second // to end in: less than who sends SIGTERM waits to kill

// options are those of the cache of pages.
func options(dir string) firn.Options {
	return firn.Options{
		RAMBytes: 64 << 20,
		SSD:      firn.SSDOptions{Dir: dir, Bytes: 1 << 30, ReadTimeout: 100 * time.Millisecond},
	}
}

// Server serves the pages of an origin.
type Server struct {
	origin string
	cache  *firn.Cache
	mux    http.ServeMux
}

// NewServer makes a server that owns its cache.
func NewServer(origin string, o firn.Options) (*Server, error) {
	cache, err := firn.Open(o)
	if err != nil {
		return nil, err
	}
	responses, err := httpcache.New(cache, "pages", httpcache.Options{})
	if err != nil {
		return nil, errors.Join(err, cache.Close())
	}
	s := &Server{origin: origin, cache: cache}
	registry := prometheus.NewRegistry()
	registry.MustRegister(firnprometheus.NewCollector("pages", cache))
	s.mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	s.mux.Handle("GET /", responses.Handler(http.HandlerFunc(s.page)))
	return s, nil
}

// page makes a page. It calls it fresh for a minute, and good enough for an hour of a sick origin.
func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 10*time.Second)
	defer cancel()
	resp, err := s.fetch(ctx, r.URL.RequestURI())
	if err != nil {
		http.Error(w, http.StatusText(http.StatusBadGateway), http.StatusBadGateway)
		return
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
		w.Header().Set("Cache-Control", "max-age=60, stale-if-error=3600")
		w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
		_, _ = io.Copy(w, resp.Body)
	case http.StatusNotFound, http.StatusGone:
		w.Header().Set("Cache-Control", "max-age=5")
		http.NotFound(w, r)
	default:
		http.Error(w, http.StatusText(http.StatusBadGateway), http.StatusBadGateway)
	}
}

// fetch asks the origin for what a page is made of.
func (s *Server) fetch(ctx context.Context, uri string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.origin+uri, nil)
	if err != nil {
		return nil, err
	}
	return http.DefaultClient.Do(req)
}

// Serve answers requests until ctx ends. Then it ends them, and the cache, in its grace.
func (s *Server) Serve(ctx context.Context, addr string) error {
	l, err := net.Listen("tcp", addr)
	failed := make(chan error, 1)
	server := &http.Server{Handler: &s.mux, ReadHeaderTimeout: 5 * time.Second}
	if err == nil {
		log.Print("http://", l.Addr())
		go func() { failed <- server.Serve(l) }()
		select {
		case err = <-failed:
		case <-ctx.Done():
		}
	}
	ending, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	requests, cancel := context.WithTimeout(ending, grace/5) // the rest is for the cache
	defer cancel()
	return errors.Join(err, server.Shutdown(requests), s.cache.Shutdown(ending))
}

func main() {
	origin := flag.String("origin", "", "URL of the server whose pages are served")
	dir := flag.String("dir", "", "directory on an SSD")
	listen := flag.String("listen", "localhost:8080", "address")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	s, err := NewServer(*origin, options(*dir))
	if err == nil {
		err = s.Serve(ctx, *listen)
	}
	if err != nil {
		log.Fatal(err)
	}
}
