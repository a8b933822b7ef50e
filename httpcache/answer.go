package httpcache

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// answer is what a client gets.
type answer struct {
	pass    bool           // the request goes to the origin as it is
	fwd     string         // why, as Cache-Status has it
	direct  bool           // it is the flight's, for this client alone
	resp    *http.Response // likewise, from a RoundTripper
	flight  *flight        // that it is from; nil for one that is stored
	head    *head          // nil: there is nothing stored, and the client wants nothing else
	status  string         // parameters of Cache-Status
	hit     bool           // it has an Age, however young it is
	saves   bool           // its body does not come from the origin for it
	req     *http.Request
	started time.Time
}

// shape is an answer as its client gets it.
type shape struct {
	status int
	part   span
	length int64 // of the body that is sent, or -1
	empty  bool  // no body is sent
}

// shape fills the header h for the client, and says what of the body it gets.
func (a *answer) shape(c *Cache, h http.Header) shape {
	a.head.lines.appendTo(h)
	age := a.head.age(a.started)
	if a.hit || age >= time.Second {
		h["Age"] = []string{decimal(int64(age / time.Second))}
	}
	if a.flight == nil {
		c.addStatus(h, a.status, "; ttl=", decimal(int64((a.head.policy.lifetime-age)/time.Second)))
	} else {
		c.addStatus(h, a.status)
	}
	size := a.size()
	s := shape{status: a.head.status, part: span{0, size}, length: size, empty: a.req.Method == http.MethodHead}
	if a.head.status == http.StatusOK && isConditional(a.req.Header) {
		a.condition(&s, h)
	}
	if s.status == http.StatusNoContent || s.status == http.StatusNotModified {
		s.empty = true
	} else if s.length >= 0 {
		setLength(h, s.length)
	}
	return s
}

// setLength sets the Content-Length, unless the stored one is that.
func setLength(h http.Header, n int64) {
	var room [20]byte
	if lines := h["Content-Length"]; len(lines) == 1 && lines[0] == string(strconv.AppendInt(room[:0], n, 10)) {
		return
	}
	h["Content-Length"] = []string{decimal(n)}
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// size is the length of the body, or -1 if it is not known yet.
func (a *answer) size() int64 {
	if a.flight != nil && a.flight.stream != nil {
		return a.flight.stream.declared
	}
	return a.head.size
}

// condition answers the conditional fields of a request.
func (a *answer) condition(s *shape, h http.Header) {
	req := a.req.Header
	if notModified(req, h, a.started) {
		s.status, s.empty = http.StatusNotModified, true
		delete(h, "Content-Length")
		return
	}
	field := req.Get("Range")
	if field == "" || s.length < 0 || a.req.Method != http.MethodGet || !rangeHolds(req, h, a.started) {
		return
	}
	part, state := parseRange(field, s.length)
	switch state {
	case partOfBody:
		h["Content-Range"] = []string{contentRange(part, s.length)}
		s.status, s.part, s.length = http.StatusPartialContent, part, part.length
	case unsatisfiable:
		h["Content-Range"] = []string{"bytes */" + decimal(s.length)}
		delete(h, "Content-Type")
		s.status, s.length, s.empty = http.StatusRequestedRangeNotSatisfiable, 0, true
	}
}

// body is the part of the answer's body that the client gets.
func (a *answer) body(c *Cache, s shape) body {
	end := s.part.first + s.part.length
	if a.flight != nil && a.flight.stream != nil {
		if a.size() < 0 {
			end = -1
		}
		return a.flight.stream.reader(s.part.first, end)
	}
	return &storedBody{bodies: c.bodies, head: a.head, off: s.part.first, end: end}
}

// done says that the client needs nothing more.
func (a *answer) done() {
	if a.flight != nil {
		a.flight.leave()
	}
}

// tailRequest asks the origin for the rest of an answer's body, if it is still that of the stored
// response. It is nil if that cannot be known: without a length, or a strong entity tag.
func (a *answer) tailRequest(rest body) (*http.Request, tail) {
	want := tail{rest.rest(), a.size(), a.head.lines.get("Etag")}
	if want.length <= 0 || want.size < 0 || !isStrong(want.etag) || a.head.status != http.StatusOK {
		return nil, want
	}
	req := a.req.Clone(a.req.Context())
	for _, name := range conditionals {
		delete(req.Header, name)
	}
	req.Header["Range"] = []string{fmt.Sprintf("bytes=%d-%d", want.first, want.first+want.length-1)}
	req.Header["If-Range"] = []string{want.etag}
	return req, want
}
