package httpcache

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync"
	"time"
)

// outcome says what has become of a request of the origin.
type outcome uint8

const (
	pending   outcome = iota
	failed            // there is no response
	direct            // the response is for the client alone that it was asked for
	streaming         // it is being stored, and is for all who wait
	confirmed         // the stored response holds
	excused           // the origin fails, and the stored response may be the answer
	repeat            // the origin's 304 was about another response: it has to be asked again
)

// flight is a request of the origin under way, and its response until that is stored.
type flight struct {
	c         *Cache
	x         *exchange       // of the client that it is made for, whose request it uses no more
	asker     *http.Request   // that request, as it was
	client    context.Context // of that client
	req       *http.Request   // as the origin gets it
	cancel    context.CancelFunc
	asked     time.Time
	unmatched bool // a 304 did not confirm what is stored
	joinable  bool // others with the same key may join

	mu         sync.Mutex
	watchdog   *time.Timer
	moved      time.Time     // when the origin was asked
	answered   chan struct{} // is closed when out is known
	out        outcome
	err        error
	head       *head // of what is stored, or to be stored
	tags       []string
	resp       *http.Response // direct, from a RoundTripper
	stream     *stream
	users      int  // that wait for the response, or read it
	own        int  // of them, those that are no clients: a refresh
	over       bool // run has ended
	orphans    bool // the body has ended, and what is stored of it is of no use
	left       bool // the client that it is made for has left
	void       bool // the response must not be stored: it was purged while it was under way
	voidedTags []string
}

// run has the origin answer, and stores that.
func (f *flight) run(o origin) {
	defer f.cancel()
	defer f.c.flights.remove(f)
	f.mu.Lock()
	f.watchdog = time.AfterFunc(idleFor, f.watch)
	f.mu.Unlock()
	defer f.end()
	f.asked = time.Now()
	o.run(f)
	if f.repeats() {
		makeConditional(f.req.Header, nil)
		f.asked = time.Now()
		o.run(f)
	}
}

// repeats reports whether the origin has to be asked again, and that it is.
func (f *flight) repeats() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.out != repeat {
		return false
	}
	f.out, f.unmatched, f.moved = pending, true, time.Now()
	return true
}

// panicError is the panic of an origin in the goroutine of a flight.
type panicError struct{ value any }

func (*panicError) Error() string { return "httpcache: the origin panicked" }

// raise panics with what the origin has panicked with, if that is what the error says.
func raise(err error) {
	var p *panicError
	if errors.As(err, &p) {
		panic(p.value)
	}
}

// guard calls do, and then end, with what do has panicked with: http.ErrAbortHandler for runtime.Goexit. The clients
// that wait for the response get to know of it first.
func (f *flight) guard(do func(), end func(panicked any)) {
	returned := false
	defer func() {
		if returned {
			end(nil)
			return
		}
		v := recover()
		if v == nil {
			v = http.ErrAbortHandler
		}
		if v != http.ErrAbortHandler {
			slog.Error("httpcache: the origin panicked", "url", f.req.URL.Redacted(), "panic", v, "stack", string(debug.Stack()))
		}
		if f.is(streaming) && f.isIdle(0) { // its body has not ended
			f.finish(&panicError{v})
		}
		f.settle(failed, &panicError{v})
		end(v)
	}()
	do()
	returned = true
}

// idleFor is how long an origin may send nothing while no client waits for it.
const idleFor = time.Minute

// errIdle ends a request of such an origin.
var errIdle = errors.New("httpcache: the origin sends nothing, and no client waits")

// watch ends the flight if that is so, and looks again later.
func (f *flight) watch() {
	gone := f.isIdle(idleFor)
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.over:
	case gone && f.users == f.own:
		go func() {
			f.fail(errIdle)
			f.cancel()
		}()
	default:
		f.watchdog.Reset(idleFor)
	}
}

// end says that nothing of the flight is under way any more.
func (f *flight) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over = true
	f.watchdog.Stop()
}

// isIdle reports whether the origin has sent nothing for so long, and is to.
func (f *flight) isIdle(limit time.Duration) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.isIdleLocked(limit)
}

func (f *flight) isIdleLocked(limit time.Duration) bool {
	switch f.out {
	case direct:
		return false
	case streaming:
		return f.stream.isIdle(limit)
	}
	return time.Since(f.moved) >= limit
}

// is reports whether this is what has become of the request.
func (f *flight) is(o outcome) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.out == o
}

// begin takes the head of the origin's response, and says what is to become of it. length is
// that of the body, or -1. plain is false for what cannot be stored whatever its header says.
func (f *flight) begin(status int, h http.Header, length int64, plain bool) outcome {
	h, _ = canonicalHeader(h)
	m := moments{f.asked, time.Now()}
	x := f.x
	if found := x.found; found != nil && !f.unmatched {
		switch {
		case status == http.StatusNotModified:
			return f.confirm(h, m)
		case isFailure(status) && mayReplaceError(&x.control, &found.policy, found.age(m.answered)):
			return f.settle(excused, nil)
		}
	}
	p := responsePolicy(f.c.shared, f.asker.Header, status, h, m)
	next, tags := f.candidate(status, h, length, p, m)
	if !plain || next == nil {
		f.unstorable(status)
		return f.settle(direct, nil)
	}
	f.mu.Lock()
	f.head, f.tags = next, tags
	f.stream = newStream(f.c.bodies, f.c.keepFor(next, m.answered), f.c.maxBody, length)
	f.stream.users = f.userCount
	if status == http.StatusNoContent {
		f.stream.declared = 0
	}
	f.mu.Unlock()
	if judge(&noControl, &p, next.age(m.answered)) != fresh {
		f.c.flights.unjoin(f) // others would have to validate it
		f.c.flights.separate(x.key)
	}
	return f.settle(streaming, nil)
}

// unstorable takes note of a response that is for one client alone: a stored one is not the origin's
// latest any more, and requests of its key wait for none for a while.
func (f *flight) unstorable(status int) {
	if isFailure(status) || f.asker.Header["Authorization"] != nil || isConditional(f.asker.Header) && f.x.found == nil {
		return
	}
	if f.x.found != nil {
		_ = f.c.heads.Delete(f.x.key)
	}
	f.c.flights.separate(f.x.key)
}

// candidate is the head of a response, if that is to be stored.
func (f *flight) candidate(status int, h http.Header, length int64, p policy, m moments) (*head, []string) {
	if !p.store || length > f.c.maxBody {
		return nil, nil
	}
	stored := storedHeader(h)
	if stored["Date"] == nil { // RFC 9110, section 6.6.1
		stored["Date"] = []string{m.answered.UTC().Format(http.TimeFormat)}
	}
	lines := linesOf(stored)
	tags, ok := f.storable(status, h, lines)
	if !ok {
		return nil, nil
	}
	return &head{status: status, born: m.answered.Add(-initialAge(h, m)), policy: p, lines: lines}, tags
}

// storable reports whether a response with such a header, whose lines are stored, can be found again
// by those that it is for, and is wanted. It returns its tags.
func (f *flight) storable(status int, h http.Header, lines headerLines) (tags []string, ok bool) {
	_, ok = varyFields(h)
	tags, few := tagsOf(h)
	return tags, ok && few && len(lines.text) <= maxHeader && !f.c.refuses(f.asker, status, h)
}

// confirm takes a 304: the stored response, with what has changed of its header, holds.
func (f *flight) confirm(h http.Header, m moments) outcome {
	found := f.x.found
	stored := found.lines.header()
	if !confirms(h, stored) {
		return f.settle(repeat, nil)
	}
	merged := merge(stored, h)
	if h["Date"] == nil {
		merged.Set("Date", m.answered.UTC().Format(http.TimeFormat))
	}
	if h["Age"] != nil {
		merged["Age"] = h["Age"]
	}
	next := *found
	next.policy = responsePolicy(f.c.shared, f.asker.Header, found.status, merged, m)
	next.born = m.answered.Add(-initialAge(merged, m))
	next.lines = linesOf(storedHeader(merged))
	tags, ok := f.storable(found.status, merged, next.lines)
	next.policy.store = next.policy.store && ok
	f.mu.Lock()
	f.head, f.tags = &next, tags
	f.mu.Unlock()
	ttl := f.c.keepFor(&next, m.answered)
	if !next.policy.store || f.c.bodies.touch(context.Background(), &next, ttl) != nil || !f.put(ttl) {
		_ = f.c.heads.Delete(f.x.key)
	}
	return f.settle(confirmed, nil)
}

// settle says what has become of the request.
func (f *flight) settle(o outcome, err error) outcome {
	if o == direct || o == failed || o == excused {
		f.c.flights.unjoin(f)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.out == pending || f.out == repeat {
		f.out, f.err = o, err
		if o != repeat {
			close(f.answered)
		}
	}
	return o
}

// fail says that the origin has given no response.
func (f *flight) fail(err error) {
	x := f.x
	if x.found != nil && mayReplaceError(&x.control, &x.found.policy, x.found.age(time.Now())) {
		f.settle(excused, nil)
		return
	}
	f.settle(failed, err)
}

// finish ends the body of a response that is being stored, with the error for which it ends.
func (f *flight) finish(err error) {
	if err == nil && f.stream.complete(f.head) && f.put(f.stream.ttl) {
		f.c.stats.stored.Add(1)
		f.stream.end(nil)
		return
	}
	f.c.flights.unjoin(f)
	f.stream.end(err)
	f.mu.Lock()
	f.orphans = true
	f.mu.Unlock()
	f.dropChunks()
}

// dropChunks removes what was stored of a body that is not stored as a whole, when no client reads it.
func (f *flight) dropChunks() {
	f.mu.Lock()
	drop := f.orphans && f.users == 0
	f.mu.Unlock()
	if drop {
		f.stream.bodies.drop(f.stream.id, f.stream.stored)
	}
}

// join adds a user, if the response is for others, too.
func (f *flight) join() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.isVoidLocked() || f.isIdleLocked(joinFor) || f.users == 0 && f.out == pending || f.stream != nil && !f.stream.joinable() {
		return false
	}
	f.users++
	return true
}

// leave removes a user. What nobody waits for goes on if it is being stored and has an end.
func (f *flight) leave() {
	f.mu.Lock()
	f.users--
	unwanted := f.users == 0
	switch f.out {
	case streaming:
		unwanted = unwanted && (f.stream.declared < 0 || !f.stream.joinable())
	case pending, repeat:
	default:
		unwanted = false
	}
	f.void = f.void || unwanted
	s := f.stream
	f.mu.Unlock()
	if unwanted {
		f.c.flights.unjoin(f)
		f.cancel()
	}
	if s != nil {
		s.poke()
		f.dropChunks()
	}
}

// refreshes says that the request was made for no client.
func (f *flight) refreshes() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left, f.own = true, 1
}

// abandon says that the client that the request was made for has left, unless the response is for it alone
// and is on its way. Nothing uses that client's request or connection from then on.
func (f *flight) abandon() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.out == direct {
		return false
	}
	f.left = true
	return true
}

// userCount is how many clients, without a refresh, wait for the response, or read it.
func (f *flight) userCount() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.users - f.own
}

// hasLeft reports whether the client that the request was made for has left.
func (f *flight) hasLeft() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.left
}

// invalidate has the response not be stored, as it may be older than the purge.
func (f *flight) invalidate() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.void = true
}

// invalidateTag does so if the response has the tag.
func (f *flight) invalidateTag(tag string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.voidedTags = append(f.voidedTags, tag)
}

// isVoid reports whether the response must not be stored.
func (f *flight) isVoid() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.isVoidLocked()
}

func (f *flight) isVoidLocked() bool {
	for _, voided := range f.voidedTags {
		for _, tag := range f.tags {
			f.void = f.void || tag == voided
		}
	}
	return f.void
}
