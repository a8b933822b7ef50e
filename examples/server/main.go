// Command server keeps the pages of another HTTP server, its origin, in RAM and on SSD.
// It remembers which there are not, and serves expired ones while the origin is down. On
// SIGTERM it writes what is in RAM to the SSD, and is warm when it is started again.
//
//	server -origin https://example.org -dir /var/cache/pages -listen localhost:8080
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os/signal"
	"syscall"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/metrics/firnprometheus"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

const grace = 25 * time.Second // to end in: less than who sends SIGTERM waits to kill

// options call a page fresh for a minute, and good enough for an hour of a sick origin.
func options(dir string) firn.Options {
	return firn.Options{
		RAMBytes: 64 << 20,
		SSD:      firn.SSDOptions{Dir: dir, Bytes: 1 << 30, ReadTimeout: 100 * time.Millisecond},
		TTL:      time.Minute,
		Loading:  firn.LoadingOptions{NegativeTTL: 5 * time.Second, StaleIfError: time.Hour, HardTimeout: 10 * time.Second, MaxLoads: 64},
	}
}

// Page is a page of the origin.
type Page struct {
	Type string
	Body []byte
}

// Server serves the pages of an origin.
type Server struct {
	origin string
	cache  *firn.Cache
	pages  *firn.Typed[string, Page]
	mux    http.ServeMux
}

// NewServer makes a server that owns its cache.
func NewServer(origin string, o firn.Options) (*Server, error) {
	cache, err := firn.Open(o)
	if err != nil {
		return nil, err
	}
	pages, err := firn.NewTyped(cache, "pages", firn.TypedOptions[string, Page]{})
	if err != nil {
		return nil, errors.Join(err, cache.Close())
	}
	s := &Server{origin: origin, cache: cache, pages: pages}
	registry := prometheus.NewRegistry()
	registry.MustRegister(firnprometheus.NewCollector("pages", cache))
	s.mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	s.mux.HandleFunc("GET /", s.page)
	return s, nil
}

// page answers a request for a page.
func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	page, err := s.pages.GetOrLoad(r.Context(), r.URL.RequestURI(), s.fetch)
	if err != nil {
		http.Error(w, http.StatusText(statusOf(err)), statusOf(err))
		return
	}
	w.Header().Set("Content-Type", page.Type)
	_, _ = w.Write(page.Body)
}

// statusOf is the status that tells a client of an error.
func statusOf(err error) int {
	switch {
	case errors.Is(err, firn.ErrNotFound):
		return http.StatusNotFound
	case errors.Is(err, firn.ErrLoadTimeout) || errors.Is(err, context.DeadlineExceeded):
		return http.StatusGatewayTimeout
	case errors.Is(err, firn.ErrClosed) || errors.Is(err, context.Canceled):
		return http.StatusServiceUnavailable
	}
	return http.StatusBadGateway
}

// fetch is the cache's loader: however many ask for a page, it is fetched once.
func (s *Server) fetch(ctx context.Context, uri string) (Page, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.origin+uri, nil)
	if err != nil {
		return Page{}, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return Page{}, err
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
		body, err := io.ReadAll(http.MaxBytesReader(nil, resp.Body, 8<<20))
		return Page{resp.Header.Get("Content-Type"), body}, err
	case http.StatusNotFound, http.StatusGone:
		return Page{}, firn.ErrNotFound
	}
	return Page{}, fmt.Errorf("%s: %s", req.URL, resp.Status)
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
