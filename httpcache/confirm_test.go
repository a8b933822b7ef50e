package httpcache_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/firncache/firn/httpcache"
)

// userPages has a page for each user, and says of the one of a that it holds, with another header.
func userPages(confirmed string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user := r.Header.Get("Cookie")
		h := "Cache-Control: max-age=0 | Vary: Cookie"
		if holds := user == "a" && r.Header.Get("If-None-Match") != ""; holds {
			h = "Cache-Control: max-age=60 | " + confirmed
			defer w.WriteHeader(http.StatusNotModified)
		} else {
			defer w.Write([]byte("page of " + user))
		}
		for name, values := range parseHeader(h + ` | Etag: "` + user + `"`) {
			w.Header()[name] = values
		}
	})
}

// What a 304 says of a response may make it one that cannot be stored.
func TestUnstorableBy304(t *testing.T) {
	for name, confirmed := range map[string]string{
		"Vary *":            "Vary: *",
		"Vary Cookie and *": "Vary: Cookie, *",
		"Vary no field":     "Vary: foo bar",
		"a long header":     "X: " + strings.Repeat("x", 64<<10),
		"refused by Store":  "X: no",
		"many tags":         "Surrogate-Key: " + strings.Join(fifty, " "),
	} {
		for _, way := range []string{"Transport", "Handler"} {
			t.Run(name+"/"+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := open(t, httpcache.Options{Store: func(_ *http.Request, _ int, h http.Header) bool { return h.Get("X") != "no" }})
					through := clients(c, userPages(confirmed))[way]
					for i, user := range []string{"a", "a", "b", "a"} {
						resp, body := through.get(t, "Cookie: "+user)
						if body != "page of "+user || strings.Contains(resp.Header.Get("Cache-Status"), "hit") {
							t.Errorf("request %d of %s: %q, %v", i, user, body, resp.Header["Cache-Status"])
						}
						synctest.Wait()
					}
				})
			})
		}
	}
}

// A response that is validated often has the fields of Vary once each.
func TestVaryOf304s(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		through := clients(open(t, httpcache.Options{}), userPages("Cache-Control: no-cache | Vary: Cookie | Vary: B"))["Handler"]
		for range 4 {
			resp, _ := through.get(t, "Cookie: a")
			if vary := resp.Header["Vary"]; len(vary) > 2 {
				t.Errorf("Vary is %q", vary)
			}
			synctest.Wait()
		}
	})
}
