package httpcache

import (
	"iter"
	"net/http"
	"strings"
	"time"
)

// maxSeconds is what a number of seconds counts for that is above it: 68 years, RFC 9111,
// section 1.2.2.
const maxSeconds = 1 << 31

// deltaSeconds reads a number of seconds: digits alone.
func deltaSeconds(s string) (seconds int64, ok bool) {
	if s == "" {
		return 0, false
	}
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
		seconds = min(seconds*10+int64(c-'0'), maxSeconds)
	}
	return seconds, true
}

// members yields the members of a list field, at commas outside of quoted strings, without
// the white space around them. Empty ones are left out.
func members(lines []string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, line := range lines {
			for line != "" {
				end := memberEnd(line)
				member := strings.Trim(line[:end], " \t")
				if member != "" && !yield(member) {
					return
				}
				line = strings.TrimPrefix(line[end:], ",")
			}
		}
	}
}

// memberEnd is where the first member of a list ends: at its comma, or at the end.
func memberEnd(line string) int {
	quoted := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && quoted:
			i++
		case c == ',' && !quoted:
			return i
		}
	}
	return len(line)
}

// unquoted is the content of a quoted string, or s if it is none.
func unquoted(s string) string {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return s
	}
	s = s[1 : len(s)-1]
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// Lengths of the three forms of a date, RFC 9110, section 5.6.7. The second one has the name of
// the day in full, and so no fixed length.
const (
	lenFixdate = len("Sun, 06 Nov 1994 08:49:37 GMT")
	lenRFC850  = len(", 06-Nov-94 08:49:37 GMT")
	lenASCTime = len("Sun Nov  6 08:49:37 1994")
)

// parseDate reads a date in one of the three forms of RFC 9110. Names and zone may have any
// case; nothing else may differ, above all no other zone. A year of two digits that would be
// more than 50 years after now is one of the past.
func parseDate(s string, now time.Time) (t time.Time, ok bool) {
	if n := len(s); n > 3 && s[n-4] == ' ' && strings.EqualFold(s[n-3:], "GMT") {
		s = s[:n-3] + "GMT"
	}
	day := strings.IndexByte(s, ',')
	if len(s) != lenFixdate && len(s) != lenASCTime && (day < 0 || len(s)-day != lenRFC850) {
		return time.Time{}, false
	}
	t, err := http.ParseTime(s)
	if err != nil {
		return time.Time{}, false
	}
	if len(s) != lenFixdate && len(s) != lenASCTime && t.After(now.AddDate(50, 0, 0)) {
		t = t.AddDate(-100, 0, 0)
	}
	return t, true
}

// dateField is the date of a field that has one line with one date in it.
func dateField(h http.Header, name string, now time.Time) (t time.Time, ok bool) {
	lines := h[name]
	if len(lines) != 1 {
		return time.Time{}, false
	}
	return parseDate(lines[0], now)
}

// canonicalHeader is a header with the names of its fields in canonical form, and reports whether it is h.
func canonicalHeader(h http.Header) (http.Header, bool) {
	is := true
	for name := range h {
		is = is && http.CanonicalHeaderKey(name) == name
	}
	if is {
		return h, true
	}
	own := make(http.Header, len(h))
	for name, values := range h {
		key := http.CanonicalHeaderKey(name)
		own[key] = append(own[key], values...)
	}
	return own, false
}

// isToken reports whether s is a token, RFC 9110, section 5.6.2.
func isToken(s string) bool {
	for _, c := range []byte(s) {
		if !isTokenByte(c) {
			return false
		}
	}
	return s != ""
}

func isTokenByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}
