package httpcache_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/httpcache"
)

// hanging is an origin of which one request hangs after a part of its answer, until its context ends.
type hanging struct {
	header string
	which  int64
	part   string
	asked  atomic.Int64
	ended  atomic.Bool // that request has
}

func (o *hanging) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	hangs := o.asked.Add(1) == o.which
	if hangs && o.part == "" {
		o.hang(r)
	}
	for name, values := range parseHeader(o.header + " | Content-Length: 4") {
		w.Header()[name] = values
	}
	if hangs {
		_, _ = io.WriteString(w, o.part)
		w.(http.Flusher).Flush()
		o.hang(r)
	}
	_, _ = io.WriteString(w, "body")
}

func (o *hanging) hang(r *http.Request) {
	<-r.Context().Done()
	o.ended.Store(true)
	panic(http.ErrAbortHandler)
}

// within is the answer that a client gets within a second, or what it gets instead.
func (c client) within(t *testing.T) (got string) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			got = fmt.Sprint("broken off: ", v)
		}
	}()
	resp := c(request(t, "").WithContext(ctx))
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		return fmt.Sprint("broken off: ", err)
	}
	return fmt.Sprint(resp.StatusCode, " ", string(body))
}

// One request that the origin never answers, or not to its end, does not make those of others fail for ever. It
// ends when nobody has waited for it for a minute.
func TestHungOrigin(t *testing.T) {
	for name, o := range map[string]struct {
		header string
		which  int64
		part   string
	}{
		"a refresh": {"Cache-Control: max-age=1, stale-while-revalidate=1", 2, ""},
		"a body":    {"Cache-Control: max-age=60", 1, "b"},
	} {
		for _, way := range []string{"Transport", "Handler"} {
			t.Run(name+"/"+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					o := &hanging{header: o.header, which: o.which, part: o.part}
					through := clients(open(t, httpcache.Options{}), o)[way]
					for range o.which { // the last one begins what hangs
						through.within(t)
						time.Sleep(1500 * time.Millisecond)
					}
					time.Sleep(time.Second)
					if got := through.within(t); got == "200 body" || o.asked.Load() != o.which {
						t.Errorf("%q, %d requests: want one that waits for what hangs", got, o.asked.Load())
					}
					time.Sleep(10 * time.Second)
					if got := through.within(t); got != "200 body" || o.asked.Load() != o.which+1 {
						t.Errorf("%q, %d requests: want the origin asked again", got, o.asked.Load())
					}
					if o.ended.Load() {
						t.Error("what hangs has ended early")
					}
					time.Sleep(2 * time.Minute)
					if synctest.Wait(); !o.ended.Load() {
						t.Error("what hangs is still under way, and nobody waits")
					}
				})
			})
		}
	}
}

// A client that has joined a refresh gets all of a body that turns out too long to be stored.
func TestRefreshTooLong(t *testing.T) {
	for _, way := range []string{"Transport", "Handler"} {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := new(asked)
				o.HandlerFunc = func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Cache-Control", "max-age=1, stale-while-revalidate=1")
					n := 1
					if o.n > 1 {
						time.Sleep(3 * time.Second)
						w.Header().Set("Cache-Control", "max-age=60")
						n = 400
					}
					for range n {
						_, _ = io.WriteString(w, strings.Repeat("x", 10_000))
					}
				}
				through := clients(open(t, httpcache.Options{MaxBodyBytes: 1 << 20}), o)[way]
				through.get(t, "")
				time.Sleep(1500 * time.Millisecond)
				through.get(t, "") // is stale, and refreshed
				time.Sleep(time.Second)
				began := time.Now()
				if _, body := through.get(t, ""); len(body) != 4_000_000 || time.Since(began) > time.Minute || o.n != 2 {
					t.Errorf("%d bytes after %v, %d requests", len(body), time.Since(began), o.n)
				}
			})
		})
	}
}

// A Handler that does not return from its 304 does not end all refreshes of the key, and ends.
func TestRefreshHangsAt304(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		o := new(asked)
		o.HandlerFunc = func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Etag", `"a"`)
			w.Header().Set("Cache-Control", "max-age=1, stale-while-revalidate=100000")
			if r.Header.Get("If-None-Match") == "" {
				_, _ = io.WriteString(w, "body")
				return
			}
			if w.WriteHeader(http.StatusNotModified); o.n == 2 {
				<-r.Context().Done()
				ended = true
			}
		}
		through := clients(open(t, httpcache.Options{}), o)["Handler"]
		for range 10 {
			through.get(t, "")
			synctest.Wait()
			time.Sleep(30 * time.Second)
		}
		if o.n < 5 || !ended {
			t.Errorf("%d requests of the Handler, the one that hung has ended: %v", o.n, ended)
		}
	})
}

// However many get a stale response, one of them has it refreshed: of one that is never fresh, and for users
// with Authorization, too.
func TestRefreshedOnce(t *testing.T) {
	for _, s := range []struct{ header, request string }{
		{"Cache-Control: max-age=0, stale-while-revalidate=60", ""},
		{"Cache-Control: max-age=1, stale-while-revalidate=60, public", "Authorization: a"},
	} {
		throughBoth(t, s.header, func(t *testing.T, _ *httpcache.Cache, o *gated, through client) {
			close(o.rest)
			first := through.later(t, s.request)
			o.expectAsked(t, 1)
			o.head <- struct{}{}
			first()
			synctest.Wait()
			for round := range int64(3) {
				time.Sleep(2 * time.Second)
				for range 50 {
					through.get(t, s.request)
				}
				o.expectAsked(t, 2+round)
				o.head <- struct{}{}
				synctest.Wait()
			}
		})
	}
}

// A client that does not read holds up nobody for long, where the body is not stored either.
func TestSlowClientOfLongBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		joined, o := make(chan struct{}), new(asked)
		o.HandlerFunc = func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "max-age=60")
			_, _ = io.WriteString(w, "begun")
			<-joined
			for range 400 {
				if _, err := io.WriteString(w, strings.Repeat("x", 10_000)); err != nil {
					return
				}
			}
		}
		through := clients(open(t, httpcache.Options{MaxBodyBytes: 1 << 20}), o)["Transport"]
		slow := through(request(t, ""))
		quick := through.later(t, "")
		synctest.Wait()
		close(joined)
		if body := quick(); len(body) != len("200 begun")+4_000_000 || o.n != 1 {
			t.Errorf("%d bytes, %d requests", len(body), o.n)
		}
		if n, err := io.Copy(io.Discard, slow.Body); err == nil || n > 1<<20 {
			t.Errorf("the slow one has %d bytes, %v: want it broken off", n, err)
		}
		_ = slow.Body.Close()
	})
}
