package httpcache

import "time"

// use says what a stored response is good for, for one request.
type use uint8

const (
	validate   use = iota // ask the origin whether it still holds
	fresh                 // it is the answer
	stale                 // it is the answer, which has the client's leave to be stale
	revalidate            // it is the answer, while the origin is asked in the background
)

// judge decides whether a stored response may be the answer to a request, RFC 9111, section 4,
// and RFC 5861.
func judge(c *control, p *policy, age time.Duration) use {
	left := p.lifetime - age
	wanted := !c.noCache && left >= max(c.minFresh, 0) && (c.maxAge == absent || age <= c.maxAge)
	switch {
	case p.always:
		return validate
	case left > 0 && (wanted || p.immutable && !c.noCache && c.minFresh == absent):
		return fresh
	case c.noCache || p.strict:
		return validate
	case c.maxAge != absent && age > c.maxAge && c.maxStale == absent:
		return validate
	case c.maxStale != absent && -left <= c.maxStale:
		return stale
	case left <= 0 && -left < p.whileRevalidating && c.minFresh == absent:
		return revalidate
	}
	return validate
}

// mayReplaceError reports whether a stored response may be the answer where the origin gives
// none, or an error.
func mayReplaceError(c *control, p *policy, age time.Duration) bool {
	if p.always || p.strict || c.noCache {
		return false
	}
	return age-p.lifetime < max(p.ifError, c.staleIfError, p.whileRevalidating, 0)
}

// isFailure reports whether a status says that the origin could not answer.
func isFailure(status int) bool {
	return status == 500 || status == 502 || status == 503 || status == 504
}
