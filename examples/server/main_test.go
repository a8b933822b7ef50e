package main

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
)

// asServer makes the test binary the command, with these arguments.
const asServer = "FIRN_EXAMPLE_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// origin has one page, until it is down.
type origin struct {
	down     atomic.Bool
	requests atomic.Int64
}

func (o *origin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.requests.Add(1)
	switch {
	case o.down.Load():
		http.Error(w, "down", http.StatusServiceUnavailable)
	case r.URL.Path != "/page":
		http.NotFound(w, r)
	default:
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, "a page")
	}
}

// RoundTrip answers as the server would, without a network.
func (o *origin) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	o.ServeHTTP(w, r)
	return w.Result(), nil
}

// Pages are fetched once, remembered where there are none, served while the origin is
// down, and then no more.
func TestPages(t *testing.T) {
	before := http.DefaultClient.Transport
	defer func() { http.DefaultClient.Transport = before }()
	synctest.Test(t, func(t *testing.T) {
		o := new(origin)
		http.DefaultClient.Transport = o
		opts := options("")
		opts.SSD, opts.Clock = firn.SSDOptions{}, time.Now
		s, err := NewServer("http://origin", opts)
		if err != nil {
			t.Fatal(err)
		}
		get := func(path string, status int, body string, requests int64) {
			t.Helper()
			w := httptest.NewRecorder()
			s.mux.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", path, nil))
			if w.Code != status || !strings.Contains(w.Body.String(), body) {
				t.Errorf("%s: %d %q: want %d %q", path, w.Code, w.Body, status, body)
			}
			if n := o.requests.Swap(0); n != requests {
				t.Errorf("%s: %d requests of the origin, want %d", path, n, requests)
			}
		}
		get("/page", 200, "a page", 1)
		get("/page", 200, "a page", 0)
		get("/none", 404, "not found", 1)
		get("/none", 404, "not found", 0)
		get("/metrics", 200, `firn_hits_total{cache="pages"}`, 0)
		o.down.Store(true)
		time.Sleep(2 * time.Minute) // of the bubble: it has expired
		get("/page", 200, "a page", 1)
		get("/none", 502, "Bad Gateway", 1)
		time.Sleep(2 * time.Hour)
		get("/page", 502, "Bad Gateway", 1)
		if err := s.cache.Close(); err != nil {
			t.Fatal(err)
		}
		o.down.Store(false)
		get("/page", 200, "a page", 1) // as without a cache
	})
}

// child is a process of the command.
type child struct {
	cmd *exec.Cmd
	url string
}

func start(t *testing.T, origin, dir string) *child {
	t.Helper()
	c := &child{cmd: exec.Command(os.Args[0], "-origin", origin, "-dir", dir, "-listen", "127.0.0.1:0")}
	c.cmd.Env = append(os.Environ(), asServer+"=1")
	out, err := c.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.cmd.Process.Kill() })
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if _, at, ok := strings.Cut(lines.Text(), "http://"); ok {
			c.url = "http://" + at
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return c
		}
	}
	t.Fatalf("the server does not start: %v", c.cmd.Wait())
	return nil
}

// After SIGTERM the next process has the pages, and does not ask the origin.
func TestWarmRestart(t *testing.T) {
	o := new(origin)
	upstream := httptest.NewServer(o)
	defer upstream.Close()
	dir := t.TempDir()
	for round := range 2 {
		c := start(t, upstream.URL, dir)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.url+"/page", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = "pages" // the port is another one each time
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if string(body) != "a page" || resp.Header.Get("Content-Type") != "text/plain" {
			t.Errorf("round %d: %q, %v", round, body, resp.Header)
		}
		if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Skip("this system has no SIGTERM:", err)
		}
		if err := c.cmd.Wait(); err != nil {
			t.Errorf("round %d: %v", round, err)
		}
	}
	if n := o.requests.Load(); n != 1 {
		t.Errorf("%d requests of the origin: want one, by the first process", n)
	}
}
