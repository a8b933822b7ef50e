package httpcache

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// conditionals are the fields of a request that a cache answers by itself, from what it has
// stored, and does not send on when it validates that.
var conditionals = []string{"If-None-Match", "If-Modified-Since", "If-Range", "Range"}

// isConditional reports whether a request has one of them.
func isConditional(h http.Header) bool {
	for _, name := range conditionals {
		if h[name] != nil {
			return true
		}
	}
	return false
}

// notModified reports whether a client that sends such fields has the response already,
// RFC 9110, section 13.2.2.
func notModified(req, resp http.Header, now time.Time) bool {
	if tags, ok := req["If-None-Match"]; ok {
		return matchesTag(tags, resp.Get("Etag"))
	}
	since, ok := dateField(req, "If-Modified-Since", now)
	if !ok {
		return false
	}
	modified, ok := dateField(resp, "Last-Modified", now)
	if !ok {
		modified, ok = dateField(resp, "Date", now)
	}
	return ok && !modified.After(since)
}

// matchesTag reports whether a list of entity tags has this one, by weak comparison.
func matchesTag(list []string, tag string) bool {
	for member := range members(list) {
		if member == "*" || tag != "" && strings.TrimPrefix(member, "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}

// isStrong reports whether an entity tag is a strong one.
func isStrong(tag string) bool { return strings.HasPrefix(tag, `"`) }

// makeConditional makes a request ask whether a stored response still holds.
func makeConditional(req, stored http.Header) {
	for _, name := range conditionals {
		delete(req, name)
	}
	if tag := stored.Get("Etag"); tag != "" {
		req["If-None-Match"] = []string{tag}
	}
	if modified := stored.Get("Last-Modified"); modified != "" {
		req["If-Modified-Since"] = []string{modified}
	}
}

// confirms reports whether a 304 with such a header is about the stored response, RFC 9111, section 4.3.4.
func confirms(h, stored http.Header) bool {
	tag, had := h.Get("Etag"), stored.Get("Etag")
	return tag == "" || had == "" || tag == had || !isStrong(tag) && matchesTag([]string{tag}, had)
}

// kept are the fields of a stored response that a 304 does not change: they describe its body.
var kept = map[string]bool{"Content-Length": true, "Content-Encoding": true, "Content-Type": true, "Content-Range": true}

// merge is the header of a stored response after a 304, RFC 9111, section 3.2.
func merge(stored, update http.Header) http.Header {
	merged := stored.Clone()
	for name, values := range endToEnd(update) {
		if name == "Vary" { // the answer was chosen by all that the stored response names, too
			values = slices.Clone(values)
			for _, line := range stored[name] {
				if !slices.Contains(values, line) {
					values = append(values, line)
				}
			}
		}
		if !kept[name] {
			merged[name] = values
		}
	}
	return merged
}

// hopByHop are the fields that are not stored: they are about one connection, or are made for
// each answer.
var hopByHop = map[string]bool{
	"Connection": true, "Keep-Alive": true, "Proxy-Authenticate": true, "Proxy-Authentication-Info": true,
	"Proxy-Authorization": true, "Proxy-Connection": true, "Te": true, "Trailer": true,
	"Transfer-Encoding": true, "Upgrade": true,
}

// endToEnd is a header without the fields of the connection, RFC 9111, section 3.1.
func endToEnd(h http.Header) http.Header {
	out := make(http.Header, len(h))
	for name, values := range h {
		if !hopByHop[name] {
			out[name] = values
		}
	}
	for name := range members(h["Connection"]) {
		if name = http.CanonicalHeaderKey(name); name != "Vary" {
			delete(out, name)
		}
	}
	return out
}
