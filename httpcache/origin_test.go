package httpcache_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/httpcache"
)

// The trailers of a Handler reach the client for which the response is alone; one that was not declared has it
// not be stored.
func TestTrailers(t *testing.T) {
	for name, s := range map[string]struct {
		declared string
		set      string
		n        int // requests of the Handler
	}{
		"declared":     {"Trailer: T", "T", 2},
		"not declared": {"Cache-Control: no-store", http.TrailerPrefix + "T", 2},
		"not stored":   {storable, http.TrailerPrefix + "T", 2},
	} {
		t.Run(name, func(t *testing.T) {
			o := new(asked)
			o.HandlerFunc = func(w http.ResponseWriter, _ *http.Request) {
				for name, values := range parseHeader(s.declared) {
					w.Header()[name] = values
				}
				_, _ = io.WriteString(w, "body")
				w.(http.Flusher).Flush() // or the length of the body is its header's
				w.Header().Set(s.set, "sum")
			}
			server := httptest.NewServer(open(t, httpcache.Options{}).Handler(o))
			defer server.Close()
			for range 2 {
				resp, body := fetch(t, server.Client(), server.URL)
				if got := resp.Trailer.Get("T"); body != "body" || (got != "sum") != (name == "not stored") {
					t.Errorf("%q, trailer %q", body, got)
				}
			}
			if o.n != s.n {
				t.Errorf("%d requests of the Handler: want %d", o.n, s.n)
			}
		})
	}
}

// What a RoundTripper panics with, or its body, reaches each caller's goroutine.
func TestTransportPanics(t *testing.T) {
	for name, next := range map[string]roundTripper{
		"RoundTrip": func(*http.Request) (*http.Response, error) { panic("broken") },
		"Read": func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, ContentLength: -1, Header: parseHeader(storable), Body: panicking{}}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				transport := open(t, httpcache.Options{}).Transport(next)
				for range 2 {
					func() {
						defer func() {
							if v := recover(); v != "broken" {
								t.Errorf("panic: %v", v)
							}
						}()
						resp, err := transport.RoundTrip(request(t, ""))
						if err == nil {
							_, err = io.ReadAll(resp.Body)
						}
						t.Error("no panic: ", err)
					}()
				}
			})
		})
	}
}

// So does what Options.Store or the ResponseWriter panics with, for a body of any length.
func TestUsersPanics(t *testing.T) {
	for _, body := range []string{"", "short", strings.Repeat("x", 2000)} {
		for _, control := range []string{"no-store", "max-age=60"} {
			synctest.Test(t, func(t *testing.T) {
				h := open(t, httpcache.Options{Store: func(*http.Request, int, http.Header) bool { panic("broken") }}).Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Cache-Control", control)
					_, _ = io.WriteString(w, body)
				}))
				defer func() {
					if v := recover(); v != "broken" && (control != "no-store" || body != "") {
						t.Errorf("%d bytes, %s: panic %v", len(body), control, v)
					}
				}()
				h.ServeHTTP(brokenWriter{httptest.NewRecorder()}, request(t, ""))
			})
		}
	}
}

type brokenWriter struct{ http.ResponseWriter }

func (brokenWriter) Write([]byte) (int, error) { panic("broken") }

// What a RoundTripper gets from a server: trailers that were not declared, an error behind a whole body, no body
// at all.
func TestBodiesOfTransport(t *testing.T) {
	response := func(header string, length int64, body io.Reader) *http.Response {
		return &http.Response{StatusCode: 200, ContentLength: length, Header: parseHeader(header), Body: io.NopCloser(body)}
	}
	for name, s := range map[string]struct {
		resp func() *http.Response
		err  error
	}{
		"trailers": {func() *http.Response {
			resp := response(storable, -1, nil)
			resp.Body = readerFunc(func([]byte) (int, error) {
				resp.Trailer = http.Header{"T": {"sum"}}
				return 0, io.EOF
			})
			return resp
		}, nil},
		"longer than it says": {func() *http.Response {
			return response(storable+" | Content-Length: 4", 4, io.MultiReader(strings.NewReader("body"), iotest.ErrReader(io.ErrUnexpectedEOF)))
		}, io.ErrUnexpectedEOF},
		"none, not stored": {func() *http.Response {
			return &http.Response{StatusCode: 200, Header: parseHeader("Cache-Control: no-store")}
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := 0
				transport := open(t, httpcache.Options{}).Transport(roundTripper(func(*http.Request) (*http.Response, error) {
					n++
					return s.resp(), nil
				}))
				for range 2 {
					resp, err := transport.RoundTrip(request(t, ""))
					if err != nil {
						t.Fatal(err)
					}
					if _, err := io.ReadAll(resp.Body); err != s.err {
						t.Errorf("%v, want %v", err, s.err)
					}
					_ = resp.Body.Close()
					synctest.Wait()
				}
				if n != 2 {
					t.Errorf("%d requests: it is stored", n)
				}
			})
		})
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
func (readerFunc) Close() error                 { return nil }

type panicking struct{ io.ReadCloser }

func (panicking) Read([]byte) (int, error) { panic("broken") }
func (panicking) Close() error             { return nil }

// A Handler may lift the deadline of the connection, as for events, and may not answer with what is no status.
func TestController(t *testing.T) {
	c := open(t, httpcache.Options{})
	server := httptest.NewUnstartedServer(c.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		if err := http.NewResponseController(w).SetWriteDeadline(time.Time{}); err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(w, "an event")
		if err := http.NewResponseController(w).SetWriteDeadline(time.Time{}); err != nil {
			t.Errorf("when it has begun: %v", err)
		}
	})))
	server.Start()
	defer server.Close()
	if _, body := fetch(t, server.Client(), server.URL); body != "an event" {
		t.Errorf("%q", body)
	}
	defer func() {
		if recover() == nil {
			t.Error("a status of 1000 is taken")
		}
	}()
	c.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(1000) })).ServeHTTP(httptest.NewRecorder(), request(t, "/b"))
}

// A response without a body leaves nothing behind, though nobody closes it, and the idle connections of the
// RoundTripper behind are closed as those of any.
func TestNothingStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closed := 0
		transport := open(t, httpcache.Options{}).Transport(idle{&closed})
		if _, err := transport.RoundTrip(request(t, "")); err != nil {
			t.Fatal(err)
		}
		if (&http.Client{Transport: transport}).CloseIdleConnections(); closed != 1 {
			t.Errorf("idle connections were closed %d times", closed)
		}
	}) // which waits for all goroutines
}

type idle struct{ closed *int }

func (i idle) CloseIdleConnections() { *i.closed++ }
func (idle) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: parseHeader("Cache-Control: no-store"), Body: http.NoBody}, nil
}

// A body without a type gets that which package http finds in its begin, however it is written, and a part of it,
// or its head alone, has the same.
func TestContentType(t *testing.T) {
	html := "\n<html>" + strings.Repeat("x", 2000)
	for name, write := range map[string]func(w http.ResponseWriter){
		"at once":       func(w http.ResponseWriter) { _, _ = io.WriteString(w, html) },
		"little first":  func(w http.ResponseWriter) { _, _ = io.WriteString(w, html[:1]); _, _ = io.WriteString(w, html[1:]) },
		"byte by byte":  func(w http.ResponseWriter) { _, _ = io.Copy(w, iotest.OneByteReader(strings.NewReader(html))) },
		"with a status": func(w http.ResponseWriter) { w.WriteHeader(200); _, _ = io.WriteString(w, html) },
		"and a length": func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", strconv.Itoa(len(html)))
			_, _ = io.WriteString(w, html[:1])
			_, _ = io.WriteString(w, html[1:])
		},
	} {
		for _, control := range []string{"max-age=60", "no-store"} {
			t.Run(name+", "+control, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					through := clients(open(t, httpcache.Options{}), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
						w.Header().Set("Cache-Control", control)
						write(w)
					}))["Handler"]
					for _, s := range []struct{ request, body string }{{"", html}, {"", html}, {"Range: bytes=100-199", html[100:200]}, {"HEAD", ""}} {
						if control == "no-store" && s.request != "" {
							continue
						}
						resp, body := through.get(t, s.request)
						if got := resp.Header.Get("Content-Type"); got != "text/html; charset=utf-8" || body != s.body {
							t.Errorf("%q: %q, %d bytes: want HTML, %d bytes", s.request, got, len(body), len(s.body))
						}
						synctest.Wait()
					}
				})
			})
		}
	}
}

// A short body and none are whole, and a response that says what type it has, or that it has none, is left as it is.
func TestNoContentType(t *testing.T) {
	for header, want := range map[string]string{"Content-Encoding: gzip": "", "Content-Type: a/b": "a/b"} {
		for _, body := range []string{"", "<html>"} {
			synctest.Test(t, func(t *testing.T) {
				through := clients(open(t, httpcache.Options{}), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					for name, values := range parseHeader(storable + " | " + header) {
						w.Header()[name] = values
					}
					_, _ = io.WriteString(w, body)
				}))["Handler"]
				for range 2 {
					if resp, got := through.get(t, ""); got != body || resp.Header.Get("Content-Type") != want {
						t.Errorf("%q: %q, %q", header, got, resp.Header)
					}
				}
			})
		}
	}
}

// A type that the Handler takes away is not found again by the server, for a hit neither.
func TestTypeTakenAway(t *testing.T) {
	server := httptest.NewServer(open(t, httpcache.Options{}).Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		w.Header()["Content-Type"] = nil
		_, _ = io.WriteString(w, "<html>")
	})))
	defer server.Close()
	for range 2 {
		resp, body := fetch(t, server.Client(), server.URL)
		if got, has := resp.Header["Content-Type"]; has || body != "<html>" {
			t.Errorf("%q, %q: want no type", got, body)
		}
	}
}
