package httpcache

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// span is a part of a body.
type span struct{ first, length int64 }

// rangeState says what a Range field means for a body.
type rangeState uint8

const (
	wholeBody     rangeState = iota // no Range, or one that a cache may ignore
	partOfBody                      // one part
	unsatisfiable                   // nothing of the body
)

// parseRange reads a Range field for a body of size bytes, RFC 9110, section 14.1.2. Of several
// ranges it makes none: a server may send the whole.
func parseRange(field string, size int64) (span, rangeState) {
	unit, spec, ok := strings.Cut(field, "=")
	if !ok || !strings.EqualFold(unit, "bytes") || strings.Contains(spec, ",") {
		return span{}, wholeBody
	}
	from, to, ok := strings.Cut(strings.Trim(spec, " \t"), "-")
	if !ok {
		return span{}, wholeBody
	}
	if from == "" {
		return suffix(to, size)
	}
	first, err := strconv.ParseUint(from, 10, 63)
	if err != nil {
		return span{}, wholeBody
	}
	last := uint64(size) - 1
	if to != "" {
		if last, err = strconv.ParseUint(to, 10, 63); err != nil || last < first {
			return span{}, wholeBody
		}
	}
	if first >= uint64(size) {
		return span{}, unsatisfiable
	}
	return span{int64(first), min(int64(last), size-1) - int64(first) + 1}, partOfBody
}

// suffix is the last n bytes of a body.
func suffix(n string, size int64) (span, rangeState) {
	length, err := strconv.ParseUint(n, 10, 63)
	switch {
	case err != nil:
		return span{}, wholeBody
	case length == 0 || size == 0:
		return span{}, unsatisfiable
	}
	l := min(int64(length), size)
	return span{size - l, l}, partOfBody
}

// contentRange is the Content-Range field of a part.
func contentRange(s span, size int64) string {
	return fmt.Sprintf("bytes %d-%d/%d", s.first, s.first+s.length-1, size)
}

// rangeHolds reports whether the If-Range of a request, if there is one, names this response,
// RFC 9110, section 13.1.5.
func rangeHolds(req, resp http.Header, now time.Time) bool {
	field := req.Get("If-Range")
	if field == "" {
		return true
	}
	if strings.Contains(field, `"`) {
		return isStrong(field) && field == resp.Get("Etag")
	}
	want, ok := parseDate(field, now)
	modified, has := dateField(resp, "Last-Modified", now)
	date, dated := dateField(resp, "Date", now)
	// A date is a strong validator if the response was made a second later at least.
	return ok && has && dated && want.Equal(modified) && date.Sub(modified) >= time.Second
}

// tail is the rest of a stored body, of which a part was evicted: as the origin has to send it.
type tail struct {
	span
	size int64  // of the whole body
	etag string // of the stored response
}

// is reports whether a response is the rest that was asked for.
func (t *tail) is(status int, h http.Header) bool {
	return status == http.StatusPartialContent && h.Get("Etag") == t.etag && h.Get("Content-Range") == contentRange(t.span, t.size)
}
