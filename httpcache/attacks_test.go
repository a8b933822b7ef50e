package httpcache_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/firncache/firn/httpcache"
)

// swr is a response that may be an answer for a minute after its lifetime.
const swr = "200 Cache-Control: max-age=5, stale-while-revalidate=60"

// Each row is a sequence of requests by which one client could change what others get.
var attacks = []situation{
	{section: "HEAD has a stale response refreshed", steps: []step{{"", "", swr, "1 200 body_1", 1}, {"6s", "HEAD", lasting, "1 200 ", 2}, {"", "", "", "2 200 body_2", 2}}},
	{section: "a Range beyond the end", steps: []step{{"", "Range: bytes=100-", "416 Cache-Control: max-age=60", "1 416", 1}, {"", "", "", "2 200", 2}}},
	{section: "Expect", steps: []step{{"", "Expect: x", "417 Cache-Control: max-age=60", "1 417", 1}, {"", "", "", "2 200", 2}}},
	{section: "fields that are too long", steps: []step{{"", "Long: x", "431 Cache-Control: max-age=60", "1 431", 1}, {"", "", "", "2 200", 2}}},
	{section: "a condition", steps: []step{{"", "If-Modified-Since: x", "412 Cache-Control: max-age=60", "1 412", 1}, {"", "", "", "2 200", 2}}},
	{section: "Authorization and an answer for it alone", steps: []step{{"", "", lasting, "1 200", 1}, {"", "Authorization: a | Cache-Control: no-cache", "200 Cache-Control: private", "2 200", 2}, {"", "", "", "1 200", 2}}},
	{section: "a 304 with fewer fields in Vary", steps: []step{
		{"", "Cookie: a", `200 Cache-Control: max-age=5 | Etag: "a" | Vary: Cookie`, "1 200 body_1", 1},
		{"6s", "Cookie: a", `200 Cache-Control: max-age=60 | Etag: "a" | Vary: Accept`, "2 200 body_1", 2},
		{"", "Cookie: b", "", "3 200 body_3", 3},
	}},
	{section: "a validator of another user's response", steps: []step{
		{"", "Cookie: a", `200 Cache-Control: max-age=60 | Etag: "a" | Vary: Cookie`, "1 200 body_1", 1},
		{"", `Cookie: b | If-None-Match: "a"`, `200 Cache-Control: max-age=60 | Etag: "b" | Vary: Cookie`, "2 200 body_2", 2},
	}},
	{section: "a part of another user's response", steps: []step{
		{"", "Cookie: a", `200 Cache-Control: max-age=60 | Etag: "a" | Vary: Cookie`, "1 200 body_1", 1},
		{"", `Cookie: b | Range: bytes=0-1 | If-Range: "a"`, `200 Cache-Control: max-age=60 | Etag: "b" | Vary: Cookie`, "2 200 body_2", 2},
	}},
}

func TestAttacks(t *testing.T) {
	for _, s := range attacks {
		for _, way := range []string{"Transport", "Handler"} {
			t.Run(s.section+"/"+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { s.play(t, way) })
			})
		}
	}
}

// An absolute URL that says another scheme than the connection has does not store the one's answer for the other.
func TestSchemeOfAnotherConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, httpcache.Options{}).Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "max-age=60")
			if r.TLS == nil {
				http.Redirect(w, r, "https://origin/", http.StatusMovedPermanently)
			}
		}))
		first := httptest.NewRequest("GET", "https://origin/", nil)
		first.TLS = nil
		h.ServeHTTP(httptest.NewRecorder(), first)
		second := httptest.NewRequest("GET", "/", nil)
		second.Host, second.TLS = "origin", &tls.ConnectionState{}
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, second); w.Code != http.StatusOK {
			t.Errorf("%d: what was stored over http is the answer over https", w.Code)
		}
	})
}

// Fields whose names are not in their canonical form count.
func TestFieldNamesInLowerCase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked++
			w.Header().Set("Last-Modified", expand("{-1h}"))
			if r.URL.Path == "/auth" {
				w.Header().Set("Cache-Control", "max-age=60")
			}
			if r.URL.Path == "/private" {
				w.Header()["cache-control"] = []string{"private"}
			}
		})
		for _, through := range clients(open(t, httpcache.Options{}), answer) {
			for _, s := range []struct{ path, field string }{{"/private", "x"}, {"/cookie", "cookie"}, {"/auth", "authorization"}} {
				asked = 0
				for range 2 {
					r := request(t, s.path)
					r.Header[s.field] = []string{"a"}
					_ = through(r).Body.Close()
					synctest.Wait()
				}
				if asked != 2 {
					t.Errorf("%v: %d requests of the origin, want 2", s, asked)
				}
			}
		}
	})
}

// A request without a method is a GET, as for an http.Client.
func TestNoMethod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &scripted{answer: lasting}
		through := clients(open(t, httpcache.Options{}), o)["Transport"]
		through.get(t, "")
		r := request(t, "")
		r.Method = ""
		_ = through(r).Body.Close()
		if through.get(t, ""); o.asked != 1 {
			t.Errorf("%d requests of the origin, want 1", o.asked)
		}
	})
}

// Requests with Authorization do not stop others from waiting for each other.
func TestAuthorizationSeparatesNone(t *testing.T) {
	throughBoth(t, "Cache-Control: max-age=60", func(t *testing.T, c *httpcache.Cache, o *gated, through client) {
		alone := through.later(t, "Authorization: a")
		o.expectAsked(t, 1)
		o.head <- struct{}{}
		o.rest <- struct{}{}
		alone()
		first, second := through.later(t, ""), through.later(t, "")
		o.expectAsked(t, 2)
		close(o.head)
		close(o.rest)
		expect(t, "the first", first(), "200 body 2 end")
		expect(t, "the second", second(), "200 body 2 end")
	})
}

// Close ends a Read that waits for the origin, and nothing of the body's memory is used for others before that has
// returned.
func TestCloseBesideRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, o := open(t, httpcache.Options{}), newGated(storable)
		close(o.head)
		transport := c.Transport(transportOf{o})
		other, err := transport.RoundTrip(request(t, "")) // so that the origin's answer goes on
		if err != nil {
			t.Fatal(err)
		}
		defer other.Body.Close()
		resp, err := transport.RoundTrip(request(t, ""))
		if err != nil {
			t.Fatal(err)
		}
		read := make(chan error)
		go func() {
			_, err := io.ReadAll(resp.Body)
			read <- err
		}()
		synctest.Wait()
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
		if err := <-read; err == nil {
			t.Error("a body that was closed ends as if it were whole")
		}
		close(o.rest)
	})
}

// keeping is a ResponseWriter that fails, and still has what it was given: as that of HTTP/2 does, while a frame of
// a stream is being written which its client has reset.
type keeping struct {
	sink
	got []byte
}

func (k *keeping) Write(p []byte) (int, error) {
	k.got = p
	return 0, errors.New("the client has left")
}

// What a failed Write was given is not overwritten with the body of another.
func TestMemoryOfAFailedWrite(t *testing.T) {
	c := open(t, httpcache.Options{})
	h := c.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		_, _ = w.Write(bytes.Repeat([]byte(r.URL.Path[1:2]), 100<<10))
	}))
	for _, path := range []string{"/a", "/b"} {
		h.ServeHTTP(httptest.NewRecorder(), request(t, path))
	}
	for range 20 { // what a pool returns is its own affair
		k := &keeping{sink: sink{http.Header{}}}
		h.ServeHTTP(k, request(t, "/a"))
		h.ServeHTTP(&sink{http.Header{}}, request(t, "/b"))
		if i := bytes.IndexByte(k.got, 'b'); len(k.got) == 0 || i >= 0 {
			t.Fatalf("%d bytes, another's from %d on", len(k.got), i)
		}
	}
}

// Two responses of one URL that come at the same time are stored as one of them, not as a mixture.
func TestTwoWritersOfOneURL(t *testing.T) {
	throughBoth(t, "", func(t *testing.T, c *httpcache.Cache, _ *gated, _ client) {
		gate, n := make(chan struct{}), 0
		h := c.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n++
			letter := []byte{byte('a' + n - 1)}
			w.Header().Set("Cache-Control", "max-age=60, public")
			for range 16 {
				_, _ = w.Write(bytes.Repeat(letter, 100<<10))
				<-gate
			}
		}))
		done := make(chan struct{})
		for _, s := range []string{"", "Authorization: a"} {
			go func() {
				h.ServeHTTP(httptest.NewRecorder(), request(t, s))
				done <- struct{}{}
			}()
			synctest.Wait()
		}
		for range 32 {
			gate <- struct{}{}
		}
		<-done
		<-done
		w := httptest.NewRecorder()
		h.ServeHTTP(w, request(t, ""))
		if body := w.Body.String(); n != 2 || len(body) != 1600<<10 || body != strings.Repeat(body[:1], 1600<<10) {
			t.Errorf("%d requests of the origin; %d bytes stored, mixed", n, len(body))
		}
	})
}

// The key of a URL with an opaque part, and of one whose query looks like another's host.
func TestKeysThatLookAlike(t *testing.T) {
	one := &http.Request{URL: &url.URL{Scheme: "http", Host: "a", Opaque: "//a/x"}, Host: "a"}
	two := &http.Request{URL: &url.URL{Scheme: "http", Host: "a", Opaque: "//a/y"}, Host: "a"}
	three := &http.Request{URL: &url.URL{Scheme: "http", Host: "a", RawQuery: "x b"}, Host: "a"}
	four := &http.Request{URL: &url.URL{Scheme: "http", Host: "a", RawQuery: "x"}, Host: "b"}
	if httpcache.DefaultKey(one) == httpcache.DefaultKey(two) {
		t.Errorf("%v and %v have one key", one.URL, two.URL)
	}
	if httpcache.DefaultKey(three) == httpcache.DefaultKey(four) {
		t.Errorf("%v and %v of %s have one key", three.URL, four.URL, four.Host)
	}
}
