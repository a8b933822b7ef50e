package httpcache

import (
	"net/http"
	"strings"
	"time"
)

// absent is a duration of a directive that is not there.
const absent = time.Duration(-1)

// control is what the directives of a Cache-Control field say, of a request or a response.
type control struct {
	noStore, noCache, private, public               bool
	mustRevalidate, proxyRevalidate, mustUnderstand bool
	immutable, onlyIfCached                         bool
	maxAge, sMaxAge, minFresh, maxStale             time.Duration // absent where they are
	staleWhileRevalidate, staleIfError              time.Duration // likewise
}

// noControl has no directive.
var noControl = control{
	maxAge: absent, sMaxAge: absent, minFresh: absent, maxStale: absent,
	staleWhileRevalidate: absent, staleIfError: absent,
}

// parseControl reads the lines of a Cache-Control field, RFC 9111, section 5.2. Unknown
// directives are ignored. A lifetime that cannot be read is 0, and of two the shorter one
// counts. Directives that name fields, as no-cache="Set-Cookie", count as those without. What stands beside a
// semicolon, which separates nothing here, or behind a quote that does not end, counts where it forbids something.
func parseControl(lines []string) control {
	c := noControl
	for member := range members(lines) {
		name, value, has := strings.Cut(member, "=")
		c.add(strings.ToLower(name), unquoted(value), has)
		open := memberEnd(member+",") > len(member)
		for part := range strings.FieldsFuncSeq(member, func(r rune) bool { return r == ';' || open && (r == ',' || r == '"') }) {
			part, _, _ = strings.Cut(part, "=")
			if part = strings.ToLower(strings.Trim(part, " \t")); part == "private" || part == "no-store" || part == "no-cache" {
				c.add(part, "", false)
			}
		}
	}
	return c
}

// add adds a directive, whose name is in lower case.
func (c *control) add(name, value string, has bool) {
	switch name {
	case "no-store":
		c.noStore = true
	case "no-cache":
		c.noCache = true
	case "private":
		c.private = true
	case "public":
		c.public = true
	case "must-revalidate":
		c.mustRevalidate = true
	case "proxy-revalidate":
		c.proxyRevalidate = true
	case "must-understand":
		c.mustUnderstand = true
	case "immutable":
		c.immutable = true
	case "only-if-cached":
		c.onlyIfCached = true
	case "max-stale":
		if !has {
			value = "2147483648"
		}
		shorten(&c.maxStale, value)
	default:
		if d := c.duration(name); d != nil {
			shorten(d, value)
		}
	}
}

// duration is the field of a directive whose value is a number of seconds.
func (c *control) duration(name string) *time.Duration {
	switch name {
	case "max-age":
		return &c.maxAge
	case "s-maxage":
		return &c.sMaxAge
	case "min-fresh":
		return &c.minFresh
	case "stale-while-revalidate":
		return &c.staleWhileRevalidate
	case "stale-if-error":
		return &c.staleIfError
	}
	return nil
}

// shorten makes d the time that value says, if d is absent or longer.
func shorten(d *time.Duration, value string) {
	seconds, _ := deltaSeconds(value)
	if t := time.Duration(seconds) * time.Second; *d == absent || t < *d {
		*d = t
	}
}

// requestControl is what a request says: by Cache-Control or, without that, by Pragma.
func requestControl(h http.Header) control {
	lines, ok := h["Cache-Control"]
	if ok {
		return parseControl(lines)
	}
	c := noControl
	for member := range members(h["Pragma"]) {
		c.noCache = c.noCache || strings.EqualFold(member, "no-cache")
	}
	return c
}

// responseControl is what a response says to this cache: a shared one reads CDN-Cache-Control,
// RFC 9213, and then neither Cache-Control nor Expires.
func responseControl(h http.Header, shared bool) (c control, targeted bool) {
	if lines, ok := h["Cdn-Cache-Control"]; ok && shared {
		if c, ok := parseTargeted(strings.Join(lines, ", ")); ok {
			return c, true
		}
	}
	return parseControl(h["Cache-Control"]), false
}

// addItem adds a directive with its value.
func (c *control) addItem(name string, item sfItem) {
	if d := c.duration(name); d != nil {
		if item.kind == sfInteger && item.number >= 0 {
			*d = time.Duration(min(item.number, maxSeconds)) * time.Second
		}
		return
	}
	if item.kind == sfTrue || item.kind == sfString && (name == "private" || name == "no-cache") {
		c.add(name, "", false)
	}
}
