package httpcache

import (
	"context"
	"io"
	"net/http"
)

// Handler is an http.Handler that answers requests from a cache, or by another Handler: middleware
// for servers.
type Handler struct {
	cache *Cache
	next  http.Handler
}

// ServeHTTP answers a request. An answer that cannot be completed ends with http.ErrAbortHandler, and so with
// the connection. What the Handler behind panics with, all panic with who wait for its answer.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var x *exchange
	if s := r.URL.Scheme; s == "" || (s == "https") == (r.TLS != nil) { // or what is stored would not be of that scheme
		x = h.cache.exchange(server, canonical(r), r.ContentLength != 0) // over HTTP/2, Body is none that says it is empty
	}
	if x == nil {
		reason := passReason(r)
		if reason == "" {
			reason = "bypass"
		}
		h.pass(w, r, reason)
		return
	}
	var o *handlerOrigin // nil for a hit
	a, err := h.cache.answer(x, func() origin {
		o = &handlerOrigin{next: h.next, client: w, ended: make(chan struct{})}
		return o
	})
	if o != nil {
		o.silence()
	}
	switch {
	case err != nil:
		h.fail(w, r, err)
	case a.pass:
		h.pass(w, r, a.fwd)
	case a.direct:
		<-o.ended
		if o.panicked != nil {
			panic(o.panicked)
		}
	case a.head == nil:
		h.cache.addStatus(w.Header(), a.status)
		http.Error(w, http.StatusText(http.StatusGatewayTimeout), http.StatusGatewayTimeout)
	default:
		h.send(w, a)
	}
}

// fail ends a request for which there is no answer. If its time is over, the client may still be there; one that
// has left gets nothing, as HTTP/2 may have the header in use.
func (h *Handler) fail(w http.ResponseWriter, r *http.Request, err error) {
	raise(err)
	switch r.Context().Err() {
	case nil:
		panic(http.ErrAbortHandler)
	case context.DeadlineExceeded:
		http.Error(w, http.StatusText(http.StatusGatewayTimeout), http.StatusGatewayTimeout)
	}
}

// send sends an answer to its client.
func (h *Handler) send(w http.ResponseWriter, a *answer) {
	defer a.done()
	replace(w.Header(), a.head.lines)
	s := a.shape(h.cache, w.Header())
	if _, given := w.Header()["Content-Type"]; !given {
		w.Header()["Content-Type"] = nil // the recorder has looked for it
	}
	w.WriteHeader(s.status)
	if s.empty {
		return
	}
	b, unused := a.body(h.cache, s), false
	defer func() { b.close(unused) }()
	if stream, ok := b.(*streamBody); ok {
		stream.blocked = func() { _ = http.NewResponseController(w).Flush() }
	}
	var err error
	if unused, err = h.copy(w, a, b); err != nil {
		raise(err)
		panic(http.ErrAbortHandler) // whatever the reason: the head is sent, and the body is not whole
	}
}

// replace takes those fields out of a header that middleware before this one has set and the answer sets,
// too: but for fields that add up.
func replace(h http.Header, lines headerLines) {
	if len(h) == 0 {
		return
	}
	for text := lines.text; text != ""; {
		var name string
		name, text = cutString(text)
		if _, text = cutString(text); name != "Vary" && name != "Set-Cookie" {
			delete(h, name)
		}
	}
}

// copy sends a body. Its error is why that ends early. HTTP/2 may have what a failed Write was given in use
// when that has returned: then unused is false.
func (h *Handler) copy(w http.ResponseWriter, a *answer, b body) (unused bool, err error) {
	ctx := a.req.Context()
	for {
		data, err := b.next(ctx)
		switch {
		case err == io.EOF:
			return true, nil
		case err == errGone:
			return true, h.tail(w, a, b)
		case err != nil:
			return true, err
		}
		if _, err := w.Write(data); err != nil {
			return false, nil // the client has left
		}
		if a.saves {
			h.cache.stats.savedBytes.Add(uint64(len(data)))
		}
	}
}

// tail has the Handler behind send the rest of a body.
func (h *Handler) tail(w http.ResponseWriter, a *answer, b body) error {
	req, want := a.tailRequest(b)
	if req != nil {
		t := &tailWriter{client: w, want: want, header: http.Header{}}
		if h.next.ServeHTTP(t, req); t.right && t.want.length == 0 {
			return nil
		}
	}
	h.cache.stats.aborted.Add(1)
	return errGone
}

// tailWriter takes the rest of a body, if it is that, and sends it to the client.
type tailWriter struct {
	client http.ResponseWriter
	want   tail
	header http.Header
	wrote  bool
	right  bool
}

func (t *tailWriter) Header() http.Header { return t.header }

func (t *tailWriter) WriteHeader(status int) {
	if status >= 200 && !t.wrote {
		t.wrote, t.right = true, t.want.is(status, t.header)
	}
}

func (t *tailWriter) Write(p []byte) (int, error) {
	t.WriteHeader(http.StatusOK)
	if !t.right || int64(len(p)) > t.want.length {
		t.right = false
		return 0, errGone
	}
	n, err := t.client.Write(p)
	t.want.length -= int64(n)
	return n, err
}

// pass has the Handler behind answer as it does without a cache.
func (h *Handler) pass(w http.ResponseWriter, r *http.Request, fwd string) {
	h.cache.stats.bypassed.Add(1)
	h.cache.addStatus(w.Header(), "fwd="+fwd)
	if r.Method == http.MethodGet || r.Method == http.MethodOptions || r.Method == http.MethodTrace {
		h.next.ServeHTTP(w, r)
		return
	}
	p := &passWriter{ResponseWriter: w, c: h.cache, r: r}
	h.next.ServeHTTP(p, r)
	if p.WriteHeader(http.StatusOK); invalidates(r.Method, p.status) { // what it did after its answer, too
		h.cache.invalidate(r, w.Header())
	}
}

// passWriter sees the status of a response that the cache has no part in.
type passWriter struct {
	http.ResponseWriter
	c      *Cache
	r      *http.Request
	status int
}

// Unwrap is for http.ResponseController.
func (p *passWriter) Unwrap() http.ResponseWriter { return p.ResponseWriter }

func (p *passWriter) WriteHeader(status int) {
	if status >= 200 && p.status == 0 {
		p.status = status
		p.c.passed(server, p.r, status, p.Header())
	} else if status >= 200 {
		return
	}
	p.ResponseWriter.WriteHeader(status)
}

func (p *passWriter) Write(b []byte) (int, error) {
	p.WriteHeader(http.StatusOK)
	return p.ResponseWriter.Write(b)
}

// Flush implements http.Flusher.
func (p *passWriter) Flush() {
	p.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(p.ResponseWriter).Flush()
}
