package httpcache

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/firncache/firn"
)

// origin answers the requests of flights: another RoundTripper, or the handler behind the cache.
type origin interface {
	// run has the flight's request answered: it calls begin, and what that says, or fail.
	run(f *flight)
}

// exchange is what to do for a request, which may have a body; nil if that goes to the origin as it is.
func (c *Cache) exchange(s side, r *http.Request, body bool) *exchange {
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		return nil
	case body, r.Header["Upgrade"] != nil || r.Header["If-Match"] != nil || r.Header["If-Unmodified-Since"] != nil:
		return nil
	}
	x := &exchange{c: c, req: r, control: requestControl(r.Header)}
	if x.primary = c.primaryKey(s, r); x.primary == "" || x.control.noStore {
		return nil
	}
	return x
}

// canonical is a request with its method, and with the names of its fields in canonical form.
func canonical(r *http.Request) *http.Request {
	h, is := canonicalHeader(r.Header)
	if is && r.Method != "" {
		return r
	}
	own := *r
	own.Method, own.Header = cmp.Or(r.Method, http.MethodGet), h
	return &own
}

// answer finds the answer to a request, or has the origin make it, which is called for only then.
func (c *Cache) answer(x *exchange, origin func() origin) (*answer, error) {
	ctx, now := x.req.Context(), time.Now()
	var err error
	x.found, x.key, err = c.find(ctx, x.primary, x.req.Header)
	if x.found != nil {
		switch judge(&x.control, &x.found.policy, x.found.age(now)) {
		case fresh:
			c.stats.hits.Add(1)
			return x.stored("hit", now), nil
		case stale:
			c.stats.stale.Add(1)
			return x.stored("hit", now), nil
		case revalidate:
			c.stats.stale.Add(1)
			c.refresh(x, origin())
			return x.stored("hit", now), nil
		}
	}
	if x.control.onlyIfCached {
		c.stats.misses.Add(1)
		return &answer{req: x.req, status: "detail=only-if-cached"}, nil
	}
	if errors.Is(err, firn.ErrClosed) {
		return &answer{pass: true, fwd: "bypass", req: x.req}, nil
	}
	if x.req.Method == http.MethodHead {
		return &answer{pass: true, fwd: x.reason(), req: x.req}, nil
	}
	return c.fetch(x, origin())
}

// refresh has the origin asked in the background, unless it is already.
func (c *Cache) refresh(x *exchange, o origin) {
	now := time.Now()
	if !c.flights.beginRefresh(x.key, now) {
		return
	}
	f, joined := c.flights.join(x)
	if joined {
		c.flights.endRefresh(x.key, now)
		f.leave()
		return
	}
	f.refreshes()
	go func() {
		defer c.flights.endRefresh(x.key, now)
		defer f.leave()
		f.run(o)
	}()
}

// fetch has the origin answer a request, or waits for what it answers to an equal one.
func (c *Cache) fetch(x *exchange, o origin) (*answer, error) {
	f, joined := c.flights.join(x)
	if !joined {
		go f.run(o)
	}
	select {
	case <-f.answered:
	case <-x.req.Context().Done():
		if joined || f.abandon() {
			f.leave()
			return nil, context.Cause(x.req.Context())
		}
		<-f.answered
	}
	a := &answer{flight: f, req: x.req, head: f.head, status: "fwd=" + x.reason(), started: time.Now()}
	switch f.out {
	case failed:
		c.stats.failed.Add(1)
		f.leave()
		return nil, f.err
	case excused:
		if x.found != nil {
			c.stats.stale.Add(1)
			f.leave()
			return x.stored("hit; "+a.status, time.Now()), nil
		}
	case direct:
		if !joined {
			c.stats.misses.Add(1)
			a.direct, a.resp = true, f.resp
			return a, nil
		}
	default:
		if !joined || x.joins(f) {
			c.count(f, joined, a)
			return a, nil
		}
	}
	f.leave()
	x.solo = true
	return c.fetch(x, o)
}

// count counts an answer of a flight, and adds to its status.
func (c *Cache) count(f *flight, joined bool, a *answer) {
	if joined {
		c.stats.coalesced.Add(1)
		a.saves = true
		a.status += "; collapsed"
	}
	if f.out == confirmed {
		c.stats.revalidated.Add(1)
		a.status += "; fwd-status=304"
		a.hit, a.saves = true, true
		return
	}
	c.stats.misses.Add(1)
	a.status += "; stored"
}

// newFlight makes a flight. The request has its own context: a client that leaves does not end it.
func (c *Cache) newFlight(x *exchange, joinable bool) *flight {
	ctx, cancel := context.WithCancel(context.WithoutCancel(x.req.Context()))
	f := &flight{c: c, x: x, client: x.req.Context(), cancel: cancel, joinable: joinable, answered: make(chan struct{}), moved: time.Now(), users: 1}
	f.asker = x.req.Clone(ctx)
	f.asker.Method, f.asker.Body = http.MethodGet, http.NoBody // a HEAD may have it refreshed
	if f.req = f.asker.Clone(ctx); x.found != nil {
		makeConditional(f.req.Header, x.found.lines.header())
	}
	return f
}
