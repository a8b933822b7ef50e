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

	"github.com/firncache/firn/httpcache"
)

// gated is an origin whose n-th answer waits for the n-th gate before its header, and for a second one before
// the end of its body.
type gated struct {
	header string
	asked  atomic.Int64
	head   chan struct{}
	rest   chan struct{}
}

func newGated(header string) *gated {
	return &gated{header: header, head: make(chan struct{}), rest: make(chan struct{})}
}

func (o *gated) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := o.asked.Add(1)
	pass(r, o.head)
	for name, values := range parseHeader(o.header) {
		w.Header()[name] = values
	}
	_, _ = fmt.Fprintf(w, "body %d", n)
	w.(http.Flusher).Flush()
	pass(r, o.rest)
	_, _ = io.WriteString(w, " end")
}

// pass waits at a gate.
func pass(r *http.Request, gate chan struct{}) {
	select {
	case <-gate:
	case <-r.Context().Done():
		panic(http.ErrAbortHandler)
	}
}

// later sends a request, and returns what it will have got.
func (c client) later(t *testing.T, s string) func() string {
	got := make(chan string, 1)
	go func() {
		resp, body := c.get(t, s)
		got <- fmt.Sprint(resp.StatusCode, " ", body)
	}()
	return func() string { return <-got }
}

// throughBoth runs a test with each way through a cache of its own, in a bubble.
func throughBoth(t *testing.T, header string, test func(t *testing.T, c *httpcache.Cache, o *gated, through client)) {
	for _, way := range []string{"Transport", "Handler"} {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, o := open(t, httpcache.Options{}), newGated(header)
				test(t, c, o, clients(c, o)[way])
			})
		})
	}
}

func expect(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func (o *gated) expectAsked(t *testing.T, want int64) {
	t.Helper()
	synctest.Wait()
	if n := o.asked.Load(); n != want {
		t.Errorf("the origin had %d requests, want %d", n, want)
	}
}

const storable = "Cache-Control: max-age=60"

// Equal requests under way are one.
func TestCoalesced(t *testing.T) {
	throughBoth(t, storable, func(t *testing.T, c *httpcache.Cache, o *gated, through client) {
		var all []func() string
		for range 5 {
			all = append(all, through.later(t, ""))
		}
		o.expectAsked(t, 1)
		close(o.head)
		synctest.Wait()
		all = append(all, through.later(t, "")) // in the middle of the body
		o.expectAsked(t, 1)
		close(o.rest)
		for _, got := range all {
			expect(t, "one of them", got(), "200 body 1 end")
		}
		expect(t, "a later one", through.later(t, "")(), "200 body 1 end")
		o.expectAsked(t, 1)
	})
}

// Requests that may get another answer are not one with others.
func TestNotCoalesced(t *testing.T) {
	for _, other := range []string{"Authorization: a", "Range: bytes=0-1", "Cache-Control: no-cache", "/other", `If-None-Match: "a"`} {
		throughBoth(t, storable, func(t *testing.T, c *httpcache.Cache, o *gated, through client) {
			first, second := through.later(t, ""), through.later(t, other)
			o.expectAsked(t, 2)
			close(o.head)
			close(o.rest)
			first()
			second()
		})
	}
}

// A waiter whose request the answer's Vary does not match asks the origin itself.
func TestWaiterOfAnotherVariant(t *testing.T) {
	throughBoth(t, storable+" | Vary: A", func(t *testing.T, c *httpcache.Cache, o *gated, through client) {
		first := through.later(t, "A: 1")
		synctest.Wait()
		same, other := through.later(t, "A: 1"), through.later(t, "A: 2")
		o.expectAsked(t, 1)
		o.head <- struct{}{}
		o.expectAsked(t, 2)
		close(o.head)
		close(o.rest)
		expect(t, "the first", first(), "200 body 1 end")
		expect(t, "the same variant", same(), "200 body 1 end")
		expect(t, "the other variant", other(), "200 body 2 end")
	})
}

// When the answer is for one client alone the others ask the origin, and requests of its key wait for none for
// a minute.
func TestUnstorableIsNotShared(t *testing.T) {
	for _, header := range []string{"Cache-Control: no-store", "Cache-Control: private, max-age=60", "Set-Cookie: a=b", "Cache-Control: no-cache | Etag: W/\"a\"", "Vary: *"} {
		throughBoth(t, header, func(t *testing.T, c *httpcache.Cache, o *gated, through client) {
			first := through.later(t, "")
			synctest.Wait()
			second, third := through.later(t, ""), through.later(t, "")
			o.expectAsked(t, 1)
			o.head <- struct{}{}
			o.expectAsked(t, 3)
			close(o.head)
			close(o.rest)
			for _, got := range []func() string{first, second, third} {
				if s := got(); !strings.HasPrefix(s, "200 body ") || !strings.HasSuffix(s, " end") {
					t.Errorf("%s: got %q", header, s)
				}
			}
			o.head, o.rest = make(chan struct{}), make(chan struct{})
			o.asked.Store(0)
			a, b := through.later(t, ""), through.later(t, "")
			o.expectAsked(t, 2)
			close(o.head)
			close(o.rest)
			a()
			b()
		})
	}
}

// What changes the URL's resource, or purges it, voids what is under way: it is neither stored nor joined.
func TestVoided(t *testing.T) {
	purges := map[string]func(c *httpcache.Cache, through client, t *testing.T) error{
		"URL":        func(c *httpcache.Cache, _ client, t *testing.T) error { return c.Purge(t.Context(), "http://origin/") },
		"tag":        func(c *httpcache.Cache, _ client, t *testing.T) error { return c.PurgeTag(t.Context(), "x") },
		"second tag": func(c *httpcache.Cache, _ client, t *testing.T) error { return c.PurgeTag(t.Context(), "y") },
		"all":        func(c *httpcache.Cache, _ client, t *testing.T) error { return c.PurgeAll(t.Context()) },
	}
	for name, purge := range purges {
		for _, begun := range []bool{false, true} {
			throughBoth(t, storable+" | Cache-Tag: x | Surrogate-Key: z y", func(t *testing.T, c *httpcache.Cache, o *gated, through client) {
				first := through.later(t, "")
				if synctest.Wait(); begun {
					o.head <- struct{}{}
					synctest.Wait()
				}
				if err := purge(c, through, t); err != nil {
					t.Fatal(err)
				}
				second := through.later(t, "")
				o.expectAsked(t, 2)
				close(o.head)
				close(o.rest)
				expect(t, name+", the first", first(), "200 body 1 end")
				second()
				expect(t, name+", a later one", through.later(t, "")(), "200 body 2 end")
			})
		}
	}
}

// A POST voids what is under way, when its response comes.
func TestUnsafeMethodVoids(t *testing.T) {
	throughBoth(t, storable, func(t *testing.T, c *httpcache.Cache, o *gated, through client) {
		first := through.later(t, "")
		synctest.Wait()
		post := through.later(t, "POST")
		o.expectAsked(t, 2)
		o.head <- struct{}{}
		o.head <- struct{}{}
		synctest.Wait()
		third := through.later(t, "")
		o.expectAsked(t, 3)
		close(o.head)
		close(o.rest)
		first()
		post()
		expect(t, "after the POST", third(), "200 body 3 end")
		if n := c.Stats().Purged; n != 1 {
			t.Errorf("%d purges of one POST", n)
		}
	})
}

// A client that leaves does not stop what others wait for; when the last leaves before there is an answer the
// origin's work ends.
func TestClientsLeave(t *testing.T) {
	throughBoth(t, storable, func(t *testing.T, c *httpcache.Cache, o *gated, through client) {
		ctx, leave := context.WithCancel(t.Context())
		go func() { through(request(t, "").WithContext(ctx)) }()
		o.expectAsked(t, 1)
		second := through.later(t, "")
		synctest.Wait()
		leave()
		synctest.Wait()
		close(o.head)
		close(o.rest)
		expect(t, "the one who stays", second(), "200 body 1 end")
		o.expectAsked(t, 1)
	})
	throughBoth(t, storable, func(t *testing.T, c *httpcache.Cache, o *gated, through client) {
		ctx, leave := context.WithCancel(t.Context())
		go func() { through(request(t, "").WithContext(ctx)) }()
		o.expectAsked(t, 1)
		leave()
		synctest.Wait()
		second := through.later(t, "")
		o.expectAsked(t, 2)
		close(o.head)
		close(o.rest)
		expect(t, "a later one", second(), "200 body 2 end")
	})
}

// A response that nobody is left for, and that is not stored, ends at the origin.
func TestUnwantedStreamEnds(t *testing.T) {
	throughBoth(t, "Cache-Control: no-store", func(t *testing.T, c *httpcache.Cache, o *gated, through client) {
		ctx, leave := context.WithCancel(t.Context())
		go func() { through(request(t, "").WithContext(ctx)) }()
		synctest.Wait()
		second := through.later(t, "")
		synctest.Wait()
		leave()
		synctest.Wait()
		o.head <- struct{}{} // of the first, whose client has left
		o.expectAsked(t, 2)  // the second one's own
		close(o.head)
		o.rest <- struct{}{}
		second() // a first request that went on would hold the bubble
	})
}
