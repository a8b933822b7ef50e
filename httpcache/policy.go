package httpcache

import (
	"net/http"
	"time"
)

// maxHeuristic is the longest lifetime that a response gets that does not say one.
const maxHeuristic = 24 * time.Hour

// moments are those of an exchange with the origin.
type moments struct {
	asked, answered time.Time
}

// policy is what a cache may do with a response.
type policy struct {
	store                      bool
	lifetime                   time.Duration // how old it may become and be fresh
	heuristic                  bool          // the response does not say its lifetime
	always                     bool          // it has to be validated for every request: no-cache
	strict                     bool          // it is never an answer when it is stale: must-revalidate
	immutable                  bool          // no client's max-age=0 asks the origin while it is fresh
	whileRevalidating, ifError time.Duration // how long past its lifetime it is an answer
}

// responsePolicy decides what a cache may do with the response to a GET, RFC 9111, section 3.
func responsePolicy(shared bool, req http.Header, status int, h http.Header, m moments) policy {
	c, targeted := responseControl(h, shared)
	p := policy{
		always:            c.noCache,
		strict:            c.mustRevalidate || shared && (c.proxyRevalidate || c.sMaxAge != absent),
		immutable:         c.immutable,
		whileRevalidating: max(c.staleWhileRevalidate, 0),
		ifError:           max(c.staleIfError, 0),
	}
	var explicit bool
	p.lifetime, explicit = lifetimeOf(shared, &c, targeted, h, m)
	if !explicit {
		p.lifetime, p.heuristic = heuristic(status, &c, h, m), true
	}
	p.store = !(shared && p.heuristic && req["Cookie"] != nil) && storable(shared, req, status, h, &c, explicit) && p.useful(h, initialAge(h, m))
	return p
}

// useful reports whether a response of this age can ever be an answer.
func (p *policy) useful(h http.Header, age time.Duration) bool {
	if hasValidator(h) {
		return true
	}
	return !p.always && p.lifetime+max(p.whileRevalidating, p.ifError) > age
}

// hasValidator reports whether the origin can be asked whether a response is still the one
// that it would send.
func hasValidator(h http.Header) bool { return h["Etag"] != nil || h["Last-Modified"] != nil }

// storable reports whether a response to a GET may be stored.
func storable(shared bool, req http.Header, status int, h http.Header, c *control, explicit bool) bool {
	switch {
	case status < 200 || status == http.StatusPartialContent || status == http.StatusNotModified || isOfRequest(status):
		return false
	case c.mustUnderstand && !understood(status):
		return false
	case c.noStore && !c.mustUnderstand:
		return false
	case shared && !sharable(req, h, c):
		return false
	}
	return explicit || c.public || c.private || heuristicallyCacheable(status)
}

// isOfRequest reports whether a status is about fields of one request, such as Range, that Vary does not name.
func isOfRequest(status int) bool {
	switch status {
	case http.StatusPreconditionFailed, http.StatusRequestedRangeNotSatisfiable, http.StatusExpectationFailed, http.StatusRequestHeaderFieldsTooLarge:
		return true
	}
	return false
}

// sharable reports whether a shared cache may store a response, and so return it to others
// than the client that it was made for.
func sharable(req, h http.Header, c *control) bool {
	switch {
	case c.private:
		return false
	case h["Set-Cookie"] != nil:
		return (c.public || c.sMaxAge != absent) && !c.noCache
	case req["Authorization"] != nil:
		return c.public || c.mustRevalidate || c.sMaxAge != absent
	}
	return true
}

// lifetimeOf is the lifetime that a response says it has, RFC 9111, section 4.2.1.
func lifetimeOf(shared bool, c *control, targeted bool, h http.Header, m moments) (t time.Duration, explicit bool) {
	switch {
	case shared && c.sMaxAge != absent:
		return c.sMaxAge, true
	case c.maxAge != absent:
		return c.maxAge, true
	case targeted || h["Expires"] == nil:
		return 0, false
	}
	expires, ok := dateField(h, "Expires", m.answered)
	if !ok {
		return 0, true // what cannot be read has expired
	}
	return min(max(expires.Sub(dateOf(h, m)), 0), maxSeconds*time.Second), true
}

// dateOf is when a response was made, by the origin's clock.
func dateOf(h http.Header, m moments) time.Time {
	if date, ok := dateField(h, "Date", m.answered); ok {
		return date
	}
	return m.answered.Truncate(time.Second)
}

// heuristic is the lifetime of a response that does not say one: a tenth of the time for which
// it had not been modified.
func heuristic(status int, c *control, h http.Header, m moments) time.Duration {
	modified, ok := dateField(h, "Last-Modified", m.answered)
	if !ok || !heuristicallyCacheable(status) && !c.public {
		return 0
	}
	return min(max(dateOf(h, m).Sub(modified)/10, 0), maxHeuristic)
}

// initialAge is how old a response was when it came, RFC 9111, section 4.2.3: by its Age field
// and the time that it was under way, or by its Date, whichever is more.
func initialAge(h http.Header, m moments) time.Duration {
	apparent := m.answered.Truncate(time.Second).Sub(dateOf(h, m))
	var said time.Duration
	for first := range members(h["Age"]) {
		if seconds, ok := deltaSeconds(first); ok {
			said = time.Duration(seconds) * time.Second
		}
		break
	}
	return max(apparent, said+m.answered.Sub(m.asked), 0)
}

// heuristicallyCacheable are the status codes of RFC 9110, section 15.1.
func heuristicallyCacheable(status int) bool {
	switch status {
	case 200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501:
		return true
	}
	return false
}

// understood reports whether this cache knows what a status code asks of it.
func understood(status int) bool {
	return http.StatusText(status) != "" && status != http.StatusPartialContent && status != http.StatusNotModified
}
