// Command httphits measures what a hit costs a server: the CPU time of a request for 1 KB and for 100 KB, by httpcache's
// Handler, beside a handler that writes the same bytes from a slice, and beside nginx's proxy_cache and Varnish where
// those are installed. All listen on the loopback interface alone, take turns, and end with it.
//
//	go run ./httphits -turns 5
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/httpcache"
)

// bodies are what the servers answer with, by path.
var bodies = map[string][]byte{"/1KB": bytes.Repeat([]byte("x"), 1<<10), "/100KB": bytes.Repeat([]byte("y"), 100<<10)}

// serveSlice writes a body from a slice.
func serveSlice(w http.ResponseWriter, r *http.Request) {
	body := bodies[r.URL.Path]
	h := w.Header()
	h["Content-Type"] = []string{"application/octet-stream"}
	h["Cache-Control"] = []string{"max-age=3600"}
	h["Content-Length"] = []string{fmt.Sprint(len(body))}
	_, _ = w.Write(body)
}

// serve is what the program does as a server of its own: "slice" or "firn".
func serve(what, addr string) error {
	var h http.Handler = http.HandlerFunc(serveSlice)
	if what == "firn" {
		cache, err := firn.Open(firn.Options{RAMBytes: 64 << 20})
		if err != nil {
			return err
		}
		responses, err := httpcache.New(cache, "firn", httpcache.Options{})
		if err != nil {
			return err
		}
		h = responses.Handler(h)
	}
	return (&http.Server{Addr: addr, Handler: h, ReadHeaderTimeout: time.Minute}).ListenAndServe()
}

func main() {
	as, listen := flag.String("serve", "", "be a server: slice or firn"), flag.String("listen", "", "its address")
	turns, clients := flag.Int("turns", 5, "of each server"), flag.Int("clients", 4, "connections")
	requests := flag.Int("requests", 8_000, "of 1 KB in a turn; of 100 KB a quarter")
	flag.Parse()
	if *as != "" {
		log.Fatal(serve(*as, *listen))
	}
	if err := measure(*turns, *clients, *requests); err != nil {
		log.Fatal(err)
	}
}

// measure has the servers take turns, and prints medians.
func measure(turns, clients, requests int) error {
	origin := httptest.NewServer(http.HandlerFunc(serveSlice))
	defer origin.Close()
	dir, err := os.MkdirTemp("", "httphits")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // nginx's and Varnish's workers are other users
		return err
	}
	servers, err := startAll(dir, strings.TrimPrefix(origin.URL, "http://"))
	defer func() {
		for _, s := range servers {
			s.stop()
		}
	}()
	if err != nil {
		return err
	}
	spent := map[string]map[string][]float64{}
	for range turns {
		for _, path := range []string{"/1KB", "/100KB"} {
			n := requests
			if path == "/100KB" {
				n /= 4
			}
			for _, s := range servers {
				us, err := s.turn(path, clients, n)
				if err != nil {
					return fmt.Errorf("%s: %w", s.name, err)
				}
				if spent[path] == nil {
					spent[path] = map[string][]float64{}
				}
				spent[path][s.name] = append(spent[path][s.name], us)
			}
		}
	}
	for _, path := range []string{"/1KB", "/100KB"} {
		base := median(spent[path]["slice"])
		for _, s := range servers {
			m := median(spent[path][s.name])
			fmt.Printf("%-7s %-8s %6.1f µs of CPU a request, %.2f × the slice\n", path[1:], s.name, m, m/base)
		}
	}
	return nil
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}

// turn sends n requests over so many connections, and returns the server's CPU time of one in microseconds.
func (s *server) turn(path string, clients, n int) (float64, error) {
	transport := &http.Transport{MaxIdleConnsPerHost: clients, DisableCompression: true}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	get := func() error {
		resp, err := client.Get("http://" + s.addr + path)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if got, err := io.Copy(io.Discard, resp.Body); err != nil || got != int64(len(bodies[path])) {
			return fmt.Errorf("%d bytes of %s: %v", got, path, err)
		}
		return nil
	}
	for range 200 {
		if err := get(); err != nil {
			return 0, err
		}
	}
	before := s.cpu()
	var wg sync.WaitGroup
	errs := make(chan error, clients)
	for range clients {
		wg.Go(func() {
			for range n / clients {
				if err := get(); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	select {
	case err := <-errs:
		return 0, err
	default:
	}
	return float64((s.cpu() - before).Nanoseconds()) / 1e3 / float64(n), nil
}

// freeAddr is an address of the loopback interface where nobody listens.
func freeAddr() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// nginxConf is a cache of one worker before an origin.
func nginxConf(dir, addr, origin string) string {
	return fmt.Sprintf(`daemon off; worker_processes 1; pid %[1]s/pid; error_log %[1]s/error.log;
events { worker_connections 256; }
http { access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000; default_type application/octet-stream;
client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/temp; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;
proxy_cache_path %[1]s/cache keys_zone=hits:8m;
server { listen %[2]s; location / { proxy_pass http://%[3]s; proxy_cache hits; } } }
`, dir, addr, origin)
}

// nginxConfIn writes it, and returns its name.
func nginxConfIn(dir, addr, origin string) (string, error) {
	name := filepath.Join(dir, "nginx.conf")
	return name, os.WriteFile(name, []byte(nginxConf(dir, addr, origin)), 0o600)
}
