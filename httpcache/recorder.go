package httpcache

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// handlerOrigin is the Handler behind a cache, as the origin of one client's request.
type handlerOrigin struct {
	next     http.Handler
	client   http.ResponseWriter
	ended    chan struct{} // is closed when next has returned from a response for the client alone
	panicked any           // likewise, if it has panicked

	mu     sync.Mutex
	silent bool // the client gets no interim responses any more
}

// silence ends interim responses: the client's goroutine writes to it, or has left.
func (o *handlerOrigin) silence() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.silent = true
}

// interim sends an interim response to the client.
func (o *handlerOrigin) interim(ctx context.Context, status int, h http.Header) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.silent {
		return
	}
	to := o.client.Header()
	before := maps.Clone(to)
	maps.Copy(to, h)
	o.client.WriteHeader(status)
	if ctx.Err() != nil {
		return // HTTP/2 may still be reading the header of a client that has left
	}
	clear(to)
	maps.Copy(to, before)
}

// run has the Handler answer a flight's request.
func (o *handlerOrigin) run(f *flight) {
	if f.hasLeft() {
		o.silence() // a refresh
	}
	r := &recorder{f: f, o: o, header: http.Header{}}
	f.guard(func() { o.next.ServeHTTP(r, f.req); r.end() }, r.over)
}

// recorder is the ResponseWriter of a Handler whose response may be stored.
type recorder struct {
	f      *flight
	o      *handlerOrigin
	header http.Header
	status int         // 0 before the head
	head   http.Header // as the header was then
	held   []byte      // the begin of a body whose type is to be found
	out    outcome
	client http.ResponseWriter // of a response for one client alone; nil if that has left
}

func (r *recorder) Header() http.Header { return r.header }

// WriteHeader takes the head of the response. From then on the Handler may do with its header what it likes.
func (r *recorder) WriteHeader(status int) {
	switch {
	case status < 100 || status > 999:
		panic(fmt.Sprintf("httpcache: WriteHeader of status %d", status)) // as package http does
	case r.status != 0:
		return
	case status < 200:
		r.o.interim(r.f.client, status, r.header)
		return
	}
	r.status, r.head = status, r.header.Clone()
	if !r.finds() {
		r.begin(r.contentLength())
	}
}

// finds reports whether the type of the body is to be found in its begin, as package http does: a hit may
// have to do without that.
func (r *recorder) finds() bool {
	_, given := r.head["Content-Type"]
	return !given && r.head.Get("Content-Encoding") == "" && r.head.Get("Transfer-Encoding") == "" &&
		r.status != http.StatusNoContent && r.status != http.StatusNotModified && r.contentLength() != 0
}

// sniffed is how many bytes of a body say what type it has.
const sniffed = 512

// hold keeps the begin of a body until its type is known, and reports whether it is not yet.
func (r *recorder) hold(p []byte) bool {
	enough := int64(sniffed)
	if n := r.contentLength(); n >= 0 {
		enough = min(n, enough)
	}
	if int64(len(r.held)+len(p)) >= enough {
		return false
	}
	r.held = append(r.held, p...)
	return true
}

// start begins with what is held of the body, and with p: a head that was held back.
func (r *recorder) start(p []byte, length int64) error {
	held := r.held
	if r.held = nil; len(held)+len(p) > 0 {
		r.head["Content-Type"] = []string{http.DetectContentType(append(held, p[:min(len(p), sniffed)]...))}
	}
	if r.begin(length); len(held) == 0 {
		return nil
	}
	_, err := r.write(held)
	return err
}

// begin decides what becomes of the response.
func (r *recorder) begin(length int64) {
	if r.head["Date"] == nil {
		r.head["Date"] = []string{time.Now().UTC().Format(http.TimeFormat)}
	}
	r.out = r.f.begin(r.status, r.head.Clone(), length, r.head["Trailer"] == nil)
	if r.out == excused || r.out == direct && r.f.hasLeft() {
		r.f.cancel() // nobody gets what the Handler writes
	}
	if r.out != direct || r.f.hasLeft() {
		return
	}
	r.client = r.o.client
	context.AfterFunc(r.f.client, r.f.cancel)
	to := r.client.Header()
	for name, values := range r.head {
		if name == "Vary" || name == "Set-Cookie" {
			values = append(to[name], values...)
		}
		to[name] = values
	}
	r.f.c.addStatus(to, "fwd="+r.f.x.reason())
	r.client.WriteHeader(r.status)
}

// contentLength is the length that the header says, or -1.
func (r *recorder) contentLength() int64 {
	if lines := r.head["Content-Length"]; len(lines) == 1 {
		if n, err := strconv.ParseInt(lines[0], 10, 64); err == nil && n >= 0 {
			return n
		}
	}
	return -1
}

// Write takes the next bytes of the body.
func (r *recorder) Write(p []byte) (int, error) {
	if r.WriteHeader(http.StatusOK); r.out == pending {
		if r.hold(p) {
			return len(p), nil
		}
		if err := r.start(p, r.contentLength()); err != nil {
			return 0, err
		}
	}
	return r.write(p)
}

func (r *recorder) write(p []byte) (int, error) {
	switch {
	case r.client != nil:
		return r.client.Write(p)
	case r.out != streaming:
		return len(p), r.f.req.Context().Err()
	}
	if s := r.f.stream; s.declared >= 0 && s.size+int64(len(p)) > s.declared {
		return 0, http.ErrContentLength
	}
	if err := r.f.stream.write(r.f.req.Context(), p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush implements http.Flusher. Clients that wait get what has been written without it, but for the begin of a
// body without a type.
func (r *recorder) Flush() {
	if r.WriteHeader(http.StatusOK); r.out == pending {
		_ = r.start(nil, r.contentLength()) // the next Write has the error, too
	}
	if r.client != nil {
		_ = http.NewResponseController(r.client).Flush()
	}
}

// over takes what the Handler has panicked with, if it has.
func (r *recorder) over(panicked any) {
	if r.o.panicked = panicked; r.out != repeat {
		close(r.o.ended)
	}
}

// end takes the end of the Handler.
func (r *recorder) end() {
	if r.WriteHeader(http.StatusOK); r.out == pending {
		_ = r.start(nil, max(r.contentLength(), int64(len(r.held)))) // all of the body; finish finds what is wrong with it
	}
	switch r.out {
	case streaming:
		if r.hasTrailer() {
			r.f.invalidate() // it would be stored without
		}
		r.f.finish(r.f.req.Context().Err())
	case direct:
		r.trail()
	}
}

// hasTrailer reports whether the Handler has set a trailer that it had not declared.
func (r *recorder) hasTrailer() bool {
	for name := range r.header {
		if strings.HasPrefix(name, http.TrailerPrefix) {
			return true
		}
	}
	return false
}

// trail hands the trailers on that the Handler has set.
func (r *recorder) trail() {
	if r.client == nil {
		return
	}
	to := r.client.Header()
	for name, values := range r.header {
		if strings.HasPrefix(name, http.TrailerPrefix) {
			to[name] = values
		}
	}
	for name := range members(to["Trailer"]) {
		if values, ok := r.header[http.CanonicalHeaderKey(name)]; ok {
			to[http.CanonicalHeaderKey(name)] = values
		}
	}
}

// SetWriteDeadline is for http.ResponseController: the connection is that of the client which the response was
// asked for by, and is for alone.
func (r *recorder) SetWriteDeadline(deadline time.Time) error {
	r.o.mu.Lock()
	defer r.o.mu.Unlock()
	if r.client == nil && r.o.silent {
		return errors.ErrUnsupported
	}
	return http.NewResponseController(r.o.client).SetWriteDeadline(deadline)
}
