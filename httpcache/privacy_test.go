package httpcache_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/httpcache"
)

// The rules by which nothing of one user's response reaches another, as docs/HTTPCACHE.md has them: each
// row is one, with the request of a first user, the answer, and the request of a second one, who must not get it.
func TestOneUsersResponse(t *testing.T) {
	for rule, s := range map[string]struct{ first, answer, second string }{
		"private":                          {"", "200 Cache-Control: private, max-age=60", ""},
		"private for CDNs":                 {"", "200 Cache-Control: max-age=60 | CDN-Cache-Control: private, max-age=60", ""},
		"Authorization":                    {"Authorization: a", "200 Cache-Control: max-age=60", "Authorization: b"},
		"Authorization and Expires":        {"Authorization: a", "200 Expires: {60s}", ""},
		"Authorization, heuristic":         {"Authorization: a", "200 Last-Modified: {-1h}", ""},
		"Set-Cookie":                       {"", "200 Cache-Control: max-age=60 | Set-Cookie: id=a", ""},
		"Set-Cookie, heuristic":            {"", "200 Last-Modified: {-1h} | Set-Cookie: id=a", ""},
		"Cookie, heuristic":                {"Cookie: id=a", "200 Last-Modified: {-1h}", "Cookie: id=b"},
		"Vary: Cookie":                     {"Cookie: id=a", "200 Cache-Control: max-age=60 | Vary: Cookie", "Cookie: id=b"},
		"Vary: Authorization":              {"Authorization: a", "200 Cache-Control: public, max-age=60 | Vary: Authorization", "Authorization: b"},
		"Vary: two values that look alike": {"A: 1 | B: 2", "200 Cache-Control: max-age=60 | Vary: A, B", "A: 1,2"},
		"Authorization and Set-Cookie":     {"Authorization: a", "200 Cache-Control: max-age=60, must-revalidate | Set-Cookie: id=a", ""},
		"Set-Cookie under no-cache":        {"", `200 Cache-Control: public, max-age=60, no-cache="Set-Cookie" | Set-Cookie: id=a | Etag: "a"`, ""},
		"private after a semicolon":        {"", `200 Cache-Control: max-age=60; private | Etag: "a"`, ""},
		"private before a semicolon":       {"", "200 Cache-Control: private; max-age=60 | Last-Modified: {-1h}", ""},
		"private in a second line":         {"", "200 Cache-Control: max-age=60 | Cache-Control: PRIVATE", ""},
		"private with fields":              {"", `200 Cache-Control: max-age=60, private="a, b"`, ""},
		"private beside public":            {"", "200 Cache-Control: public, s-maxage=60, private", ""},
		"Vary in lower case, two lines":    {"Cookie: id=a", "200 Cache-Control: max-age=60 | Vary: accept | vary: cookie", "Cookie: id=b"},
		"Vary: what is no field":           {"Cookie: id=a", "200 Cache-Control: max-age=60 | Vary: Cookie;x", "Cookie: id=b"},
		"Vary: A, *":                       {"", "200 Cache-Control: max-age=60 | Vary: A, *", ""},
		"Vary: empty members of a value":   {"A: 1", "200 Cache-Control: max-age=60 | Vary: A", "A: 1,"},
		"Vary: case of a value":            {"A: a", "200 Cache-Control: max-age=60 | Vary: A", "A: A"},
		"Vary: none and an empty value":    {"", "200 Cache-Control: max-age=60 | Vary: A", "A: "},
		"Vary: named in Connection":        {"Cookie: id=a", "200 Cache-Control: max-age=60 | Vary: Cookie | Connection: Vary", "Cookie: id=b"},
		"no-store":                         {"", "200 Cache-Control: max-age=60, no-store", ""},
		"no-store of the request":          {"Cache-Control: no-store", "200 Cache-Control: max-age=60", ""},
	} {
		for _, way := range []string{"Transport", "Handler"} {
			t.Run(rule+"/"+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					o := new(scripted)
					through := clients(open(t, httpcache.Options{}), o)[way]
					o.answer = s.answer
					_, first := through.get(t, s.first)
					_, second := through.get(t, s.second)
					if first != "body 1" || second != "body 2" {
						t.Errorf("%q, then %q: want the origin's answers to each", first, second)
					}
				})
			})
		}
	}
}

// A second user who waits for the first one's response gets none of it either.
func TestOneUsersResponseUnderWay(t *testing.T) {
	for _, s := range []struct{ first, header, second string }{
		{"", "Cache-Control: private, max-age=60", ""},
		{"", storable + " | Set-Cookie: id=a", ""},
		{"Authorization: a", storable, ""},
		{"Authorization: a", storable, "Authorization: b"},
		{"Cookie: id=a", "Last-Modified: Mon, 05 Jan 1998 00:00:00 GMT", "Cookie: id=b"},
		{"Cookie: id=a", storable + " | Vary: Cookie", "Cookie: id=b"},
	} {
		throughBoth(t, s.header, func(t *testing.T, c *httpcache.Cache, o *gated, through client) {
			first := through.later(t, s.first)
			synctest.Wait()
			second := through.later(t, s.second)
			synctest.Wait()
			close(o.head)
			close(o.rest)
			expect(t, s.header+", the first", first(), "200 body 1 end")
			expect(t, s.header+", the second", second(), "200 body 2 end")
		})
	}
}

// The key of a request has all of what the response may depend on: method and fields apart, for which there are
// rules of their own.
func TestDefaultKey(t *testing.T) {
	seen := map[string]string{}
	for _, s := range []struct{ url, host string }{
		{"http://a/", ""}, {"https://a/", ""}, {"http://b/", ""}, {"http://a:81/", ""}, {"http://a/x", ""}, {"http://a/X", ""},
		{"http://a/?", ""}, {"http://a/?x", ""}, {"http://a/%2f", ""}, {"http://a//", ""}, {"http://a/", "c"}, {"http://a/", "c:80"},
	} {
		r, err := http.NewRequest("GET", s.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if s.host != "" {
			r.Host = s.host
		}
		key := httpcache.DefaultKey(r)
		if other, ok := seen[key]; ok {
			t.Errorf("%v and %s have the key %q", s, other, key)
		}
		seen[key] = s.url + " " + s.host
	}
	for _, equal := range [][2]string{{"http://A/", "http://a:80/"}, {"https://a:443/", "HTTPS://a/"}, {"http://a/#x", "http://a/"}} {
		one, _ := http.NewRequest("GET", equal[0], nil)
		two, _ := http.NewRequest("GET", equal[1], nil)
		one.Host, two.Host = one.URL.Host, two.URL.Host
		if k, l := httpcache.DefaultKey(one), httpcache.DefaultKey(two); k != l {
			t.Errorf("%q and %q: want one key", k, l)
		}
	}
}

// A 304 that sets a cookie sets it for the client that it was made for, and for no other who waits.
func TestCookieOfA304(t *testing.T) {
	for _, way := range []string{"Transport", "Handler"} {
		synctest.Test(t, func(t *testing.T) {
			asked, gate := 0, make(chan struct{})
			through := clients(open(t, httpcache.Options{}), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked++
				w.Header().Set("Cache-Control", "max-age=5")
				w.Header().Set("Etag", `"a"`)
				if r.Header.Get("If-None-Match") == "" {
					_, _ = w.Write([]byte("body"))
					return
				}
				w.Header().Set("Set-Cookie", "id="+r.Header.Get("Who"))
				pass(r, gate)
				w.WriteHeader(http.StatusNotModified)
			}))[way]
			through.get(t, "")
			time.Sleep(6 * time.Second) // of the bubble
			got := make(chan string, 2)
			for _, who := range []string{"a", "b"} {
				go func() {
					resp, _ := through.get(t, "Who: "+who)
					got <- who + " " + resp.Header.Get("Set-Cookie")
				}()
				synctest.Wait()
			}
			close(gate)
			for range 2 {
				if s := <-got; s != "a id=a" && s != "b id=b" {
					t.Errorf("%s: %q", way, s)
				}
			}
			if asked != 3 {
				t.Errorf("%d requests of the origin, want 3", asked)
			}
		})
	}
}

// What a server answers, for a host that its client names, is not what the server's own client gets of that host.
func TestSidesAreApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, httpcache.Options{})
		inner, outer := &scripted{answer: lasting}, &scripted{answer: lasting}
		transport, handler := clients(c, inner)["Transport"], clients(c, outer)["Handler"]
		transport.get(t, "")
		handler.get(t, "")
		for range 2 {
			if transport.get(t, ""); inner.asked != 1 {
				t.Errorf("%d requests of the client's origin: want 1", inner.asked)
			}
			if handler.get(t, ""); outer.asked != 1 {
				t.Errorf("%d requests of the server's: want 1", outer.asked)
			}
		}
		if err := c.Purge(t.Context(), "http://origin"); err != nil {
			t.Fatal(err)
		}
		transport.get(t, "")
		if handler.get(t, ""); inner.asked != 2 || outer.asked != 2 {
			t.Errorf("%d and %d requests after a purge: want two each", inner.asked, outer.asked)
		}
	})
}
