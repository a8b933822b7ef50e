package httpcache

import (
	"net/http"
	"time"
)

// exchange is a request of a client that the cache may answer.
type exchange struct {
	c       *Cache
	req     *http.Request // of the client, and not changed
	control control
	primary string // key of the URL
	key     string // of the response: primary, or that of a variant
	found   *head  // the stored response, if there is one
	solo    bool   // it asks the origin for itself alone
}

// coalesces reports whether the request may wait for another one's response.
func (x *exchange) coalesces() bool {
	h := x.req.Header
	return !x.solo && h["Authorization"] == nil && h["Range"] == nil && !x.control.noCache && x.control.maxAge == absent &&
		x.control.minFresh == absent && (x.found != nil || !isConditional(h))
}

// joins reports whether a response that another client has caused is the answer. One that is not to be stored is
// not: the origin's 304 may have set a cookie for that client.
func (x *exchange) joins(f *flight) bool {
	h := f.head.lines.header()
	names, _ := varyFields(h)
	return f.head.policy.store && matches(names, x.req.Header, f.asker.Header) && judge(&x.control, &f.head.policy, f.head.age(time.Now())) == fresh
}

// reason is why a request is sent to the origin, as Cache-Status has it.
func (x *exchange) reason() string {
	switch {
	case x.found == nil && x.key != x.primary:
		return "vary-miss"
	case x.found == nil:
		return "uri-miss"
	case x.found.policy.lifetime > x.found.age(time.Now()) && !x.found.policy.always:
		return "request"
	}
	return "stale"
}

// stored is the answer that a stored response is.
func (x *exchange) stored(status string, now time.Time) *answer {
	return &answer{head: x.found, status: status, hit: true, saves: true, req: x.req, started: now}
}
