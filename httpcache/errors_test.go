package httpcache_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/firncache/firn"
	"github.com/firncache/firn/httpcache"
)

// asked counts the requests of an origin.
type asked struct {
	http.HandlerFunc
	n int
}

func (o *asked) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.n++
	o.HandlerFunc(w, r)
}

var large = strings.Repeat("x", 1<<20)

// fifty are names of fields, or tags.
var fifty = strings.Fields(fiftyNames())

func fiftyNames() string {
	var b strings.Builder
	for i := range 50 {
		fmt.Fprint(&b, " F", i)
	}
	return b.String()
}

// unstored are answers that may be stored by their Cache-Control, and are not.
var unstored = map[string]struct {
	origin http.HandlerFunc
	body   string // that the client gets, with "!" where it breaks off
}{
	"a body that ends early": {func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "10")
		_, _ = io.WriteString(w, "short")
	}, "short!"},
	"a large one that breaks off": {func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, large)
		panic(http.ErrAbortHandler)
	}, large + "!"},
	"a header of a megabyte": {func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Large", large)
		_, _ = io.WriteString(w, "body")
	}, "body"},
	"a Vary of fifty fields": {func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Vary", strings.Join(fifty, ", "))
		_, _ = io.WriteString(w, "body")
	}, "body"},
	"seventeen tags": {func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Surrogate-Key", strings.Join(fifty[:firn.MaxTags+1], " "))
		_, _ = io.WriteString(w, "body")
	}, "body"},
	"a long tag": {func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Surrogate-Key", large[:256])
		_, _ = io.WriteString(w, "body")
	}, "body"},
	"a body that is too long": {func(w http.ResponseWriter, _ *http.Request) {
		for range 3 {
			_, _ = io.WriteString(w, large)
		}
	}, large + large + large},
	"and says so": {func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(3<<20))
		for range 3 {
			_, _ = io.WriteString(w, large)
		}
	}, large + large + large},
	"trailers": {func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Trailer", "T")
		_, _ = io.WriteString(w, "body")
	}, "body"},
}

// What the origin answers reaches the client as without a cache, and is not stored.
func TestNotStored(t *testing.T) {
	for name, answer := range unstored {
		for _, way := range []string{"Transport", "Handler"} {
			t.Run(name+"/"+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c, in := openIn(t, httpcache.Options{}, firn.Options{RAMBytes: 16 << 20})
					o := &asked{HandlerFunc: func(w http.ResponseWriter, r *http.Request) {
						w.Header().Set("Cache-Control", "max-age=60")
						answer.origin(w, r)
					}}
					through := clients(c, o)[way]
					for range 2 {
						body, aborted := read(t, through)
						if want := strings.TrimSuffix(answer.body, "!"); way == "Transport" && body != want || aborted != (want != answer.body) {
							t.Errorf("%d bytes, broken off: %v; want %d", len(body), aborted, len(want))
						}
						synctest.Wait()
					}
					if o.n != 2 {
						t.Errorf("%d requests of the origin, want 2", o.n)
					}
					if n := in.Len(); n > 8 { // chunks that nothing refers to, at most
						t.Errorf("%d entries", n)
					}
				})
			})
		}
	}
}

// A lying Content-Length is an error of the one who writes it, as in package http.
func TestTooLongForItsContentLength(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, httpcache.Options{})
		var wrote error
		h := c.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Cache-Control", "max-age=60")
			w.Header().Set("Content-Length", "2")
			_, wrote = io.WriteString(w, "long")
		}))
		defer func() {
			if recover() == nil {
				t.Error("the connection was not broken off")
			}
			if !errors.Is(wrote, http.ErrContentLength) {
				t.Errorf("the handler got %v", wrote)
			}
		}()
		h.ServeHTTP(httptest.NewRecorder(), request(t, ""))
	})
}

// A cache that is closed, or too full, is as good as none.
func TestNoCache(t *testing.T) {
	for _, way := range []string{"Transport", "Handler"} {
		synctest.Test(t, func(t *testing.T) {
			c, in := openIn(t, httpcache.Options{MaxBodyBytes: 1 << 30}, firn.Options{RAMBytes: 64 << 10})
			o := &sized{bytes: patterned(1 << 20), etag: `"a"`} // sixteen times as much as the cache holds
			through := clients(c, o)[way]
			for range 2 {
				if _, body := through.get(t, ""); body != string(o.bytes) {
					t.Errorf("%d bytes", len(body))
				}
			}
			if err := in.Close(); err != nil {
				t.Fatal(err)
			}
			for _, s := range []string{"", "Range: bytes=0-9", "HEAD", "POST"} {
				resp, _ := through.get(t, s)
				if status := resp.Header.Get("Cache-Status"); resp.StatusCode >= 300 || !strings.HasPrefix(status, "test; fwd=") || strings.Contains(status, "stored") {
					t.Errorf("%q with a closed cache: %d, Cache-Status %q", s, resp.StatusCode, status)
				}
			}
			if err := c.Purge(t.Context(), "http://origin/"); !errors.Is(err, firn.ErrClosed) {
				t.Errorf("Purge: %v", err)
			}
		})
	}
}

// An origin that never answers holds nobody longer than the client's own time.
func TestOriginNeverAnswers(t *testing.T) {
	throughBoth(t, storable, func(t *testing.T, c *httpcache.Cache, o *gated, through client) {
		ctx, cancel := context.WithTimeout(t.Context(), 1e9)
		defer cancel()
		ended := make(chan struct{})
		for range 3 {
			go func() {
				through(request(t, "").WithContext(ctx))
				ended <- struct{}{}
			}()
		}
		for range 3 {
			<-ended
		}
		o.expectAsked(t, 1) // and its request was ended, or the bubble would not be
	})
}

// What the handler behind panics with reaches each client's server.
func TestPanic(t *testing.T) {
	for _, header := range []string{"", storable, "Cache-Control: no-store"} {
		synctest.Test(t, func(t *testing.T) {
			c := open(t, httpcache.Options{})
			h := c.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if header != "" {
					w.Header().Set(strings.SplitN(header, ": ", 2)[0], strings.SplitN(header, ": ", 2)[1])
					_, _ = io.WriteString(w, "begun")
					w.(http.Flusher).Flush()
				}
				panic("broken")
			}))
			defer func() {
				if v := recover(); v != "broken" {
					t.Errorf("panic: %v", v)
				}
				if s := c.Stats(); s.Misses+s.Failed != 1 || s.Failed == 1 != (header == "") {
					t.Errorf("%+v: want a miss, or one that failed before an answer", s)
				}
			}()
			h.ServeHTTP(httptest.NewRecorder(), request(t, ""))
		})
	}
}

// The error of an origin is that of the RoundTripper.
func TestOriginFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wrong := errors.New("no route")
		c := open(t, httpcache.Options{})
		transport := c.Transport(roundTripper(func(*http.Request) (*http.Response, error) { return nil, wrong }))
		if _, err := transport.RoundTrip(request(t, "")); err != wrong {
			t.Errorf("%v", err)
		}
		if got := c.Stats(); got != (httpcache.Stats{Failed: 1}) {
			t.Errorf("%+v: want one that failed", got)
		}
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// New refuses what makes no sense, and says what it wants.
func TestNewErrors(t *testing.T) {
	in, err := firn.Open(firn.Options{RAMBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	for want, make := range map[string]func() (*httpcache.Cache, error){
		"cache is nil":  func() (*httpcache.Cache, error) { return httpcache.New(nil, "a", httpcache.Options{}) },
		"name is empty": func() (*httpcache.Cache, error) { return httpcache.New(in, "", httpcache.Options{}) },
		"KeepStale":     func() (*httpcache.Cache, error) { return httpcache.New(in, "a", httpcache.Options{KeepStale: -1}) },
		"MaxBodyBytes":  func() (*httpcache.Cache, error) { return httpcache.New(in, "a", httpcache.Options{MaxBodyBytes: -1}) },
	} {
		if _, err := make(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want one that names %q", err, want)
		}
	}
}

// A URL that cannot be that of a response is none to purge.
func TestPurgeOfNoURL(t *testing.T) {
	c := open(t, httpcache.Options{})
	for _, url := range []string{"", "/a", "origin/a", "://a"} {
		if err := c.Purge(t.Context(), url); err == nil {
			t.Errorf("Purge(%q) says nothing", url)
		}
	}
}

// Middleware that ends a request's time does not make its client take a part of a body for the whole.
func TestTimeIsOver(t *testing.T) {
	for when, begun := range map[string]bool{"before the head": false, "within the body": true} {
		t.Run(when, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := open(t, httpcache.Options{}).Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Cache-Control", "max-age=60")
					if begun {
						_, _ = io.WriteString(w, "a part")
						w.(http.Flusher).Flush()
					}
					<-r.Context().Done()
				}))
				ctx, cancel := context.WithTimeout(t.Context(), 1e9)
				defer cancel()
				w := httptest.NewRecorder()
				var panicked any
				func() {
					defer func() { panicked = recover() }()
					h.ServeHTTP(w, request(t, "").WithContext(ctx))
				}()
				switch {
				case begun && panicked != http.ErrAbortHandler:
					t.Errorf("a part of the body was sent, and it ends with %v: want it broken off", panicked)
				case !begun && (panicked != nil || w.Code != http.StatusGatewayTimeout):
					t.Errorf("%d, %v: want 504", w.Code, panicked)
				}
			})
		})
	}
}
