package httpcache

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// Transport is an http.RoundTripper that answers requests from a cache, or from another RoundTripper:
// for clients and for httputil.ReverseProxy.
type Transport struct {
	cache *Cache
	next  http.RoundTripper
}

// RoundTrip answers a request, as http.RoundTripper says. A body that cannot be completed ends with an error.
// The context ends the waiting of this request alone: what the origin was asked for goes on for others, or if
// it is being stored.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL == nil {
		return t.next.RoundTrip(req) // whose error says what it wants
	}
	x := t.cache.exchange(client, canonical(req), req.Body != nil && req.Body != http.NoBody || req.ContentLength > 0)
	if x == nil {
		return t.pass(req, cmp.Or(passReason(req), "bypass"))
	}
	a, err := t.cache.answer(x, func() origin { return t })
	if err != nil {
		raise(err)
		return nil, err
	}
	switch {
	case a.pass:
		return t.pass(req, a.fwd)
	case a.direct:
		t.cache.addStatus(a.resp.Header, a.status)
		a.resp.Request = req
		return a.resp, nil
	case a.head == nil:
		return t.unavailable(a), nil
	}
	return t.response(a), nil
}

// CloseIdleConnections does that of the RoundTripper behind, if it can: for http.Client.
func (t *Transport) CloseIdleConnections() {
	if c, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// passReason is why a request is not looked up, as Cache-Status has it.
func passReason(r *http.Request) string {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return "method"
	}
	return ""
}

// pass sends a request on as it is.
func (t *Transport) pass(req *http.Request, fwd string) (*http.Response, error) {
	t.cache.stats.bypassed.Add(1)
	resp, err := t.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	t.cache.passed(client, req, resp.StatusCode, resp.Header)
	if resp.StatusCode != http.StatusSwitchingProtocols {
		if resp.Header == nil {
			resp.Header = http.Header{}
		}
		t.cache.addStatus(resp.Header, "fwd="+fwd)
	}
	return resp, nil
}

// unavailable is the answer to only-if-cached, where nothing is stored.
func (t *Transport) unavailable(a *answer) *http.Response {
	h := http.Header{"Content-Length": {"0"}}
	t.cache.addStatus(h, a.status)
	return newResponse(a.req, http.StatusGatewayTimeout, h, 0, http.NoBody)
}

func newResponse(req *http.Request, status int, h http.Header, length int64, body io.ReadCloser) *http.Response {
	return &http.Response{
		Status: strings.TrimSpace(strconv.Itoa(status) + " " + http.StatusText(status)), StatusCode: status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: body, ContentLength: length, Request: req,
	}
}

// response is an answer as a response.
func (t *Transport) response(a *answer) *http.Response {
	h := make(http.Header, a.head.lines.count+4)
	s := a.shape(t.cache, h)
	if s.empty {
		a.done()
		length := s.length
		if s.status == http.StatusNotModified || s.status == http.StatusNoContent {
			length = 0
		}
		return newResponse(a.req, s.status, h, length, http.NoBody)
	}
	b := &responseBody{t: t, a: a, body: a.body(t.cache, s)}
	b.ctx, b.cancel = context.WithCancel(a.req.Context())
	return newResponse(a.req, s.status, h, s.length, b)
}

// run answers a flight's request.
func (t *Transport) run(f *flight) { f.guard(func() { t.ask(f) }, func(any) {}) }

func (t *Transport) ask(f *flight) {
	resp, err := t.next.RoundTrip(f.req)
	if err != nil {
		f.fail(err)
		return
	}
	if resp.Header == nil {
		resp.Header = http.Header{}
	}
	if resp.Body == nil {
		resp.Body = http.NoBody
	}
	switch t.begin(f, resp) {
	case streaming:
		err := pump(f, resp.Body)
		if len(resp.Trailer) > 0 { // it had not declared
			f.invalidate()
		}
		f.finish(err)
	case direct:
		return // the client has the body
	}
	_ = resp.Body.Close()
}

// begin is that of the flight. It hands a response that is not stored to the client, and waits until that has
// closed its body.
func (t *Transport) begin(f *flight, resp *http.Response) outcome {
	plain := resp.Trailer == nil && resp.Header["Trailer"] == nil && resp.StatusCode != http.StatusSwitchingProtocols
	gone := make(chan struct{})
	whole := resp.Body
	body := &directBody{ReadCloser: whole, gone: gone}
	if resp.Body = body; whole == http.NoBody || resp.ContentLength == 0 {
		body.over() // it may be closed by nobody
	}
	f.resp = resp
	o := f.begin(resp.StatusCode, resp.Header, resp.ContentLength, plain)
	if o != direct {
		resp.Body = whole
		return o
	}
	if f.hasLeft() {
		_ = whole.Close()
		return direct
	}
	defer context.AfterFunc(f.client, func() { f.cancel(); body.over() })()
	<-gone
	return direct
}

// directBody is a body that goes to the client as it comes. The flight is over when it has ended or is closed.
type directBody struct {
	io.ReadCloser
	once sync.Once
	gone chan struct{}
}

func (b *directBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.over()
	}
	return n, err
}

func (b *directBody) Close() error {
	err := b.ReadCloser.Close()
	b.over()
	return err
}

func (b *directBody) over() { b.once.Do(func() { close(b.gone) }) }

// pump moves a body into the flight's stream.
func pump(f *flight, body io.Reader) error {
	buf := make([]byte, 32<<10)
	for {
		n, err := body.Read(buf)
		if wrong := f.stream.write(f.req.Context(), buf[:n]); wrong != nil {
			return wrong
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// responseBody is the body of a response. Close may be called beside Read, which it ends.
type responseBody struct {
	t      *Transport
	a      *answer
	ctx    context.Context
	cancel context.CancelFunc

	mu     sync.Mutex
	body   body
	data   []byte        // read and not yet returned
	tail   io.ReadCloser // the rest, from the origin, where a part was evicted
	closed bool
}

func (b *responseBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return 0, http.ErrBodyReadAfterClose
	}
	if b.tail != nil {
		return b.tail.Read(p)
	}
	for len(b.data) == 0 {
		data, err := b.body.next(b.ctx)
		if err == errGone {
			return b.resume(p)
		}
		if err != nil {
			raise(err)
			return 0, err
		}
		b.data = data
	}
	n := copy(p, b.data)
	b.data = b.data[n:]
	if b.a.saves {
		b.t.cache.stats.savedBytes.Add(uint64(n))
	}
	return n, nil
}

// resume reads on from the origin.
func (b *responseBody) resume(p []byte) (int, error) {
	tail, err := b.t.tail(b.ctx, b.a, b.body)
	if err != nil {
		b.t.cache.stats.aborted.Add(1)
		return 0, err
	}
	b.tail = tail
	return b.tail.Read(p)
}

func (b *responseBody) Close() error {
	b.cancel()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil
	}
	b.closed = true
	b.body.close(true)
	b.a.done()
	if b.tail != nil {
		return b.tail.Close()
	}
	return nil
}

// tail is the rest of a body, from the origin.
func (t *Transport) tail(ctx context.Context, a *answer, rest body) (io.ReadCloser, error) {
	req, want := a.tailRequest(rest)
	if req == nil {
		return nil, io.ErrUnexpectedEOF
	}
	resp, err := t.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	if !want.is(resp.StatusCode, resp.Header) {
		_ = resp.Body.Close()
		return nil, io.ErrUnexpectedEOF
	}
	return &tailBody{resp.Body, want.length}, nil
}

// tailBody is the rest of a body: so many bytes, and no fewer.
type tailBody struct {
	io.ReadCloser
	left int64
}

func (b *tailBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	if b.left -= int64(n); err == io.EOF && b.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
