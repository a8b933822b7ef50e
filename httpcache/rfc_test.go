package httpcache_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/httpcache"
)

// step is a request of a client, some time after the last one. What the origin would answer is "status
// Name: value | ...", and its n-th response has the body "body n" and the field N: n.
type step struct {
	after   string
	request string
	answer  string
	// want is the response that the client gets, "n status", and the number of requests that the origin
	// has had by then.
	want  string
	asked int
}

// situation is what a section of a document says, as requests.
type situation struct {
	section string
	private bool
	steps   []step
}

// scripted is an origin that answers as the step says.
type scripted struct {
	answer string
	asked  int
}

func (o *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.asked++
	answer := o.answer
	if answer == "" {
		answer = "200"
	}
	code, fields, _ := strings.Cut(answer, " ")
	status := 0
	_, _ = fmt.Sscan(code, &status)
	if status == 0 {
		panic(http.ErrAbortHandler)
	}
	for name, values := range parseHeader(fields) {
		w.Header()[name] = values
	}
	etag := w.Header().Get("Etag")
	modified := w.Header().Get("Last-Modified")
	if etag != "" && r.Header.Get("If-None-Match") == etag || etag == "" && modified != "" && r.Header.Get("If-Modified-Since") == modified {
		status = http.StatusNotModified
	}
	w.Header().Set("N", fmt.Sprint(o.asked))
	w.WriteHeader(status)
	if status != http.StatusNotModified && status != http.StatusNoContent && r.Method != http.MethodHead {
		_, _ = io.WriteString(w, fmt.Sprint("body ", o.asked))
	}
}

// Each row is a section of RFC 9110, 9111, 5861, 8246 or 9213, and what it asks of a cache, through Transport and
// through Handler.
func TestSituations(t *testing.T) {
	for _, s := range situations {
		for _, way := range []string{"Transport", "Handler"} {
			t.Run(s.section+"/"+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { s.play(t, way) })
			})
		}
	}
}

func (s situation) play(t *testing.T, way string) {
	o := new(scripted)
	through := clients(open(t, httpcache.Options{Private: s.private}), o)[way]
	for i, step := range s.steps {
		if step.after != "" {
			d, err := time.ParseDuration(step.after)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(d) // of the bubble
		}
		o.answer = step.answer
		resp, body := through.get(t, step.request)
		synctest.Wait() // what is done in the background
		got := strings.TrimSpace(fmt.Sprint(resp.Header.Get("N"), " ", resp.StatusCode))
		if strings.Count(step.want, " ") == 2 {
			got += " " + strings.ReplaceAll(body, " ", "_")
		}
		if got != step.want {
			t.Errorf("step %d: got %q, want %q: %v", i+1, got, step.want, resp.Header)
		}
		if o.asked != step.asked {
			t.Errorf("step %d: the origin had %d requests, want %d: %v", i+1, o.asked, step.asked, resp.Header)
		}
	}
}

// Cache-Control that is not written as it should be does not have stored what it forbids.
func TestMalformedControl(t *testing.T) {
	for _, control := range []string{
		"private =x, max-age=60", "no-store =1, max-age=60", `max-age=60, x="unclosed, no-store`, `max-age=60, x="private`, "max-age=60; no-store",
	} {
		o := &scripted{answer: "200 Cache-Control: " + control}
		through := clients(open(t, httpcache.Options{}), o)["Transport"]
		through.get(t, "")
		if through.get(t, ""); o.asked != 2 {
			t.Errorf("a response with Cache-Control: %s is stored", control)
		}
	}
}

// A name in Cache-Status is a token, or a string of printable ASCII.
func TestStatusName(t *testing.T) {
	for name, want := range map[string]string{"api": "api; fwd", "café\n": `"caf??"; fwd`, `a "b" \`: `"a \"b\" \\"; fwd`, "-": ""} {
		resp, _ := clients(open(t, httpcache.Options{StatusName: name}), &scripted{answer: lasting})["Transport"].get(t, "")
		if got, _, _ := strings.Cut(resp.Header.Get("Cache-Status"), "="); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// What is stored has a date, if the origin gave none.
func TestDateOfStored(t *testing.T) {
	transport := open(t, httpcache.Options{}).Transport(roundTripper(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, ContentLength: 4, Header: parseHeader(storable), Body: io.NopCloser(strings.NewReader("body"))}, nil
	}))
	for range 2 {
		resp, err := transport.RoundTrip(request(t, ""))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.ReadAll(resp.Body)
		if resp.Header.Get("Date") == "" {
			t.Errorf("%v", resp.Header)
		}
	}
}

// Behind a proxy that ends TLS, a Location of https is of the same responses.
func TestLocationBehindProxy(t *testing.T) {
	o := &scripted{answer: lasting}
	h := open(t, httpcache.Options{}).Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.Header().Set("Content-Location", "https://example.com/x")
			return
		}
		o.ServeHTTP(w, r)
	}))
	for _, method := range []string{"GET", "GET", "POST", "GET"} {
		r := httptest.NewRequest(method, map[string]string{"GET": "/x", "POST": "/y"}[method], nil)
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
	if o.asked != 2 {
		t.Errorf("%d requests of the Handler: want two, the second after POST", o.asked)
	}
}
