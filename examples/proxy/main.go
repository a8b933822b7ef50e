// Command proxy is a caching reverse proxy: it keeps the responses of an HTTP server, its origin, in RAM and
// on SSD, as RFC 9111 says. On SIGTERM it writes RAM to the SSD, and is warm when it is started again.
//
//	proxy -origin https://example.org -dir /var/cache/pages -listen localhost:8080
package main

import (
	"context"
	"errors"
	"flag"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os/signal"
	"syscall"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/httpcache"
)

const grace = 25 * time.Second // to end in: less than who sends SIGTERM waits to kill

// newProxy makes a handler that answers from the cache, or from the origin.
func newProxy(origin *url.URL, cache *firn.Cache) (http.Handler, error) {
	responses, err := httpcache.New(cache, "proxy", httpcache.Options{})
	if err != nil {
		return nil, err
	}
	upstream := http.DefaultTransport.(*http.Transport).Clone()
	upstream.MaxIdleConnsPerHost, upstream.ResponseHeaderTimeout = 64, 30*time.Second
	return &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(origin); r.SetXForwarded() },
		Transport: responses.Transport(upstream),
	}, nil
}

// serve answers requests until ctx ends. Then it ends them, and the cache, in its grace.
func serve(ctx context.Context, addr, origin string, o firn.Options) error {
	to, err := url.Parse(origin)
	if err != nil {
		return err
	}
	cache, err := firn.Open(o)
	if err != nil {
		return err
	}
	proxy, err := newProxy(to, cache)
	l, listening := net.Listen("tcp", addr)
	if err = errors.Join(err, listening); err != nil {
		return errors.Join(err, cache.Close())
	}
	log.Print("http://", l.Addr())
	server := &http.Server{Handler: proxy, ReadHeaderTimeout: 5 * time.Second}
	context.AfterFunc(ctx, func() { _ = l.Close() })
	if err = server.Serve(l); ctx.Err() != nil {
		err = nil
	}
	ending, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	return errors.Join(err, server.Shutdown(ending), cache.Shutdown(ending))
}

func main() {
	origin := flag.String("origin", "", "URL of the server whose responses are cached")
	dir := flag.String("dir", "", "directory on an SSD; none: RAM alone")
	listen := flag.String("listen", "localhost:8080", "address")
	flag.Parse()
	o := firn.Options{RAMBytes: 256 << 20}
	if *dir != "" {
		o.SSD = firn.SSDOptions{Dir: *dir, Bytes: 4 << 30, ReadTimeout: time.Second}
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := serve(ctx, *listen, *origin, o); err != nil {
		log.Fatal(err)
	}
}
