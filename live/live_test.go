package live

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/firncache/firn"
	"github.com/firncache/firn/stats"
)

// open makes a small cache, which is closed when the test ends.
func open(t testing.TB) *firn.Cache {
	t.Helper()
	c, err := firn.Open(firn.Options{RAMBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// get asks a handler, with headers in pairs; Host is one of them.
func get(h http.Handler, path string, headers ...string) *httptest.ResponseRecorder {
	return ask(h, httptest.NewRequest(http.MethodGet, path, nil), headers...)
}

func ask(h http.Handler, r *http.Request, headers ...string) *httptest.ResponseRecorder {
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// text is the body of an answer, uncompressed.
func text(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	var body io.Reader = w.Body
	if w.Header().Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(body)
		if err != nil {
			t.Fatal(err)
		}
		body = unpacked
	}
	b, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// told is what a page is told, read as a page reads it.
type told struct {
	Seq     uint64
	Run     string
	Shown   int
	Process map[string]any
	Caches  []struct {
		Name       string
		Closed     bool
		Now        map[string]float64
		Stats      map[string]any
		Curve      *stats.Curve
		Namespaces map[string]namespace
	}
}

// past is history.json, read as a page reads it.
type past struct {
	Run     string
	Seq     []uint64
	Time    []int64
	Process map[string][]float64
	Caches  []map[string][]float64
	Last    told
}

func decode[T any](t *testing.T, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %.200s", err, text)
	}
	return v
}

// pipes is a network without sockets, for a bubble: a listener, and the way to dial it.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- theirs:
		return ours, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// serve has a server and a client of it for the time of a test. change may change both.
func serve(t *testing.T, h http.Handler, change func(*http.Server, *http.Transport)) (*http.Server, *http.Client) {
	t.Helper()
	wire := newPipes()
	server := &http.Server{Handler: h}
	transport := &http.Transport{DialContext: wire.dial, DisableCompression: true}
	if change != nil {
		change(server, transport)
	}
	ended := make(chan error)
	go func() { ended <- server.Serve(wire) }()
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = server.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return server, &http.Client{Transport: transport}
}

// viewer is a client that follows the events.
type viewer struct {
	t    *testing.T
	body io.ReadCloser
	in   *bufio.Reader
}

func follow(t *testing.T, client *http.Client) *viewer {
	t.Helper()
	resp, err := client.Get("http://page/debug/firn/events")
	if err != nil {
		t.Fatal(err)
	}
	if kind := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || kind != "text/event-stream" {
		t.Fatalf("%s, %s: want events", resp.Status, kind)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return &viewer{t, resp.Body, bufio.NewReader(resp.Body)}
}

// block reads up to the next empty line.
func (v *viewer) block() (string, error) {
	var b strings.Builder
	for {
		line, err := v.in.ReadString('\n')
		if err != nil || line == "\n" {
			return b.String(), err
		}
		b.WriteString(line)
	}
}

// frame reads the next frame. What comes before must be a retry or a comment.
func (v *viewer) frame() told {
	v.t.Helper()
	for {
		block, err := v.block()
		if err != nil {
			v.t.Fatal(err)
		}
		data, ok := strings.CutPrefix(block, "event: frame\n")
		if !ok {
			continue
		}
		id, data, _ := strings.Cut(data, "\n")
		f := decode[told](v.t, strings.TrimPrefix(data, "data: "))
		if id != fmt.Sprintf("id: %d", f.Seq) {
			v.t.Errorf("frame %d has %q", f.Seq, id)
		}
		return f
	}
}
