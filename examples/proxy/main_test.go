package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/firncache/firn"
)

// newTestProxy puts a proxy before an origin.
func newTestProxy(t *testing.T, origin http.Handler) *httptest.Server {
	t.Helper()
	upstream := httptest.NewServer(origin)
	t.Cleanup(upstream.Close)
	cache, err := firn.Open(firn.Options{RAMBytes: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cache.Close() })
	to, err := url.Parse(upstream.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy, err := newProxy(to, cache)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return server
}

func get(t *testing.T, url string) (*http.Response, string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return resp, string(body)
}

// A response comes from the origin once, and whole, however long it is.
func TestProxy(t *testing.T) {
	var asked atomic.Int64
	large := bytes.Repeat([]byte("0123456789"), 150_000)
	proxy := newTestProxy(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("Cache-Control", "max-age=60")
		w.Header().Set("Forwarded-Host", r.Header.Get("X-Forwarded-Host"))
		_, _ = w.Write(large)
	}))
	for range 3 {
		resp, body := get(t, proxy.URL+"/large")
		if body != string(large) || !strings.Contains(proxy.URL, resp.Header.Get("Forwarded-Host")) {
			t.Errorf("%d bytes, %v", len(body), resp.Header)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("%d requests of the origin, want 1", n)
	}
}

// What package httputil does for responses that are not stored it does with the cache in between: streams are
// flushed, a broken body breaks off, protocols are switched, trailers and interim responses arrive.
func TestReverseProxyAsBefore(t *testing.T) {
	next := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("/stream", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 3 {
			_, _ = fmt.Fprintf(w, "data: %d\n", i)
			w.(http.Flusher).Flush()
			<-next
		}
	})
	mux.HandleFunc("/broken", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		_, _ = io.WriteString(w, "half")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	mux.HandleFunc("/trailer", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "Sum")
		_, _ = io.WriteString(w, "body")
		w.Header().Set("Sum", "4")
	})
	mux.HandleFunc("/upgrade", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "Upgrade")
		w.Header().Set("Upgrade", "echo")
		w.WriteHeader(http.StatusSwitchingProtocols)
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.CopyN(conn, rw, 4)
	})
	proxy := newTestProxy(t, mux)

	resp, err := http.Get(proxy.URL + "/stream")
	if err != nil {
		t.Fatal(err)
	}
	line := make([]byte, len("data: 0\n"))
	for i := range 3 {
		if _, err := io.ReadFull(resp.Body, line); err != nil || string(line) != fmt.Sprintf("data: %d\n", i) {
			t.Errorf("event %d: %q, %v", i, line, err)
		}
		next <- struct{}{}
	}
	_ = resp.Body.Close()

	if resp, err = http.Get(proxy.URL + "/broken"); err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(resp.Body); err == nil {
		t.Errorf("a broken body ended as a whole one: %q", body)
	}
	_ = resp.Body.Close()

	if resp, body := get(t, proxy.URL+"/trailer"); body != "body" || resp.Trailer.Get("Sum") != "4" {
		t.Errorf("%q, trailer %v", body, resp.Trailer)
	}
	echo(t, proxy.URL+"/upgrade")
}

// echo switches protocols, and reads back what it wrote.
func echo(t *testing.T, url string) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "echo")
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	conn, ok := resp.Body.(io.ReadWriter)
	if !ok || resp.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("%d, %T", resp.StatusCode, resp.Body)
	}
	got := make([]byte, 4)
	if _, err := io.WriteString(conn, "ping"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != "ping" {
		t.Errorf("%q, %v", got, err)
	}
}
