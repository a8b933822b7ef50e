package httpcache_test

import (
	"fmt"
	"io"
	"net/http"
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
