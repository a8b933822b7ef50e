package httpcache_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/httpcache"
)

// open makes a cache of responses, in a cache of bytes that belongs to the test.
func open(t *testing.T, o httpcache.Options) *httpcache.Cache {
	t.Helper()
	c, _ := openIn(t, o, firn.Options{RAMBytes: 16 << 20})
	return c
}

func openIn(t *testing.T, o httpcache.Options, in firn.Options) (*httpcache.Cache, *firn.Cache) {
	t.Helper()
	in.Clock = time.Now
	bytes, err := firn.Open(in)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = bytes.Close() })
	c, err := httpcache.New(bytes, "test", o)
	if err != nil {
		t.Fatal(err)
	}
	return c, bytes
}

// transportOf makes a RoundTripper of a handler, without a network: the body streams, and the context ends it.
type transportOf struct{ http.Handler }

func (h transportOf) RoundTrip(r *http.Request) (*http.Response, error) {
	body, w := io.Pipe()
	a := &pipedAnswer{header: http.Header{}, body: w, head: make(chan *http.Response, 1), req: r, from: body}
	go func() {
		defer func() {
			if v := recover(); v != nil {
				a.WriteHeader(http.StatusOK)
				_ = w.CloseWithError(fmt.Errorf("the origin broke off: %v", v))
			}
		}()
		h.ServeHTTP(a, r)
		a.WriteHeader(http.StatusOK)
		_ = w.Close()
	}()
	select {
	case resp := <-a.head:
		return resp, nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

type pipedAnswer struct {
	header http.Header
	once   sync.Once
	head   chan *http.Response
	req    *http.Request
	from   *io.PipeReader
	body   *io.PipeWriter
}

func (a *pipedAnswer) Header() http.Header { return a.header }
func (a *pipedAnswer) Flush()              {}
func (a *pipedAnswer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}

func (a *pipedAnswer) WriteHeader(status int) {
	a.once.Do(func() {
		length := int64(-1)
		if n, err := strconv.ParseInt(a.header.Get("Content-Length"), 10, 64); err == nil {
			length = n
		}
		if a.header.Get("Date") == "" {
			a.header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
		}
		a.head <- &http.Response{StatusCode: status, Header: a.header.Clone(), Body: a.from, ContentLength: length, Request: a.req}
	})
}

// client sends requests through a cache.
type client func(r *http.Request) *http.Response

// clients are the two ways through a cache to a handler.
func clients(c *httpcache.Cache, origin http.Handler) map[string]client {
	transport := c.Transport(transportOf{origin})
	handler := c.Handler(origin)
	return map[string]client{
		"Transport": func(r *http.Request) *http.Response {
			resp, err := transport.RoundTrip(r)
			if err != nil {
				return &http.Response{StatusCode: http.StatusBadGateway, Header: http.Header{}, Body: http.NoBody, Status: err.Error()}
			}
			return resp
		},
		"Handler": func(r *http.Request) *http.Response {
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			return w.Result()
		},
	}
}

// parseHeader reads "Name: value | Name: value".
func parseHeader(s string) http.Header {
	h := http.Header{}
	for field := range strings.SplitSeq(s, " | ") {
		if name, value, ok := strings.Cut(field, ": "); ok {
			h.Add(name, expand(value))
		}
	}
	return h
}

// expand makes a date of a duration in braces: {-10s} is ten seconds ago.
func expand(value string) string {
	before, rest, ok := strings.Cut(value, "{")
	if !ok {
		return value
	}
	span, after, _ := strings.Cut(rest, "}")
	d, err := time.ParseDuration(span)
	if err != nil {
		panic(err)
	}
	return before + time.Now().Add(d).UTC().Format(http.TimeFormat) + after
}

// request makes a request of "METHOD /path Name: value | Name: value", without what is usual.
func request(t *testing.T, s string) *http.Request {
	t.Helper()
	method, path := "GET", "/"
	if first, rest, _ := strings.Cut(s, " "); first != "" && !strings.HasPrefix(first, "/") && !strings.HasSuffix(first, ":") {
		method, s = first, rest
	}
	if strings.HasPrefix(s, "/") {
		path, s, _ = strings.Cut(s, " ")
	}
	r := httptest.NewRequestWithContext(t.Context(), method, "http://origin"+path, nil)
	r.RequestURI, r.Header = "", parseHeader(s)
	return r
}

// get sends a request, and reads the response.
func (c client) get(t *testing.T, s string) (*http.Response, string) {
	t.Helper()
	resp := c(request(t, s))
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		body = append(body, "!"...)
	}
	if err := resp.Body.Close(); err != nil {
		t.Error(err)
	}
	return resp, string(body)
}

// fetch gets a URL from a server, and reads the response.
func fetch(t *testing.T, from *http.Client, url string) (*http.Response, string) {
	t.Helper()
	resp, err := from.Get(url)
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
