package firn

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/firncache/firn/internal/ram"
)

// loads are the loads under way. Under mu nothing is stored and nothing waited
// for: whoever joins or leaves a load takes it, and a writer whose key is loaded.
type loads struct {
	active atomic.Int64 // how many
	mu     sync.Mutex
	byKey  map[string]*flight // those that a caller can join
	all    map[*flight]struct{}
	begun  uint64 // how many there have been
	closed bool
	slots  chan struct{} // holds one for each call that runs; nil without a limit
	count  loadCounters

	unstored unstoredLog
}

// flight is the load of one key. Its fields are guarded by loads.mu, but for
// key, for watch, which guards itself, and for result, which is set before done
// is closed.
//
// As long as it is wanted, somebody waits for it or it runs in the background.
// One whose watch is void is superseded: its value is not to be stored, and
// nobody joins it; it is not wanted if nobody waits for it.
type flight struct {
	key        []byte
	watch      ram.Watch // of the key, from before the loader is called until the end
	call       *loadCall
	number     uint64 // loads.begun when it began
	callers    int    // that wait for it
	background bool   // it goes on without callers
	unwanted   bool

	done   chan struct{}
	result result
}

// result is how a load ended.
type result struct {
	value    []byte
	err      error // of the loader
	unstored error // why it could not be stored
	panicked *loadPanic
	cached   bool // it was found in the cache: nothing was loaded
	closed   bool // the cache was closed: err is ErrClosed, and nobody's failure
}

// loadCall is one call of a loader, for one key or more. It is cancelled when
// none of its flights is wanted.
type loadCall struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	flights []*flight
	wanted  int  // how many of them; guarded by loads.mu
	over    bool // the loader has returned: there is nothing to cancel; guarded by loads.mu
	fate    fate
	turn    turn
}

// loadPanic carries a loader's panic, and where it came from, to the callers.
type loadPanic struct {
	value any
	stack []byte
}

func (p *loadPanic) Error() string {
	if p.value == nil { // recover returns something else for panic(nil)
		return fmt.Sprintf("firn: a loader called runtime.Goexit, as FailNow of a test does\n\n%s", p.stack)
	}
	return fmt.Sprintf("firn: load panicked: %v\n\n%s", p.value, p.stack)
}

// Unwrap is the value that the loader panicked with, if it is an error.
func (p *loadPanic) Unwrap() error {
	err, _ := p.value.(error)
	return err
}

// newCall makes a call that keeps the values of ctx, but not its end. Asker is the
// loader that asks for it, nil for anybody else.
func (l *loads) newCall(ctx context.Context, asker *fate) *loadCall {
	call := &loadCall{fate: fate{of: l, within: asker}, turn: newTurn(asker.inside(l))}
	ctx = context.WithValue(context.WithoutCancel(ctx), fateKey{}, &call.fate)
	call.ctx, call.cancel = context.WithCancelCause(ctx)
	return call
}

// keys are copies of the keys, for the loader to do with as it likes.
func (call *loadCall) keys() [][]byte {
	keys := make([][]byte, len(call.flights))
	for i, f := range call.flights {
		keys[i] = append([]byte{}, f.key...)
	}
	return keys
}

// errOwnKey is what a loader gets that would wait for itself.
var errOwnKey = errors.New("firn: a loader asks for a key that it is loading")

// join enters a caller into the load of key. If there is none, it adds one to
// *call, a new call if that is nil, and leaves it to the caller to start it.
func (l *loads) join(ctx context.Context, key []byte, call **loadCall) (*flight, error) {
	asker := fateOf(ctx) // not under the lock: a context may be the user's own
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, ErrClosed
	}
	f := l.joinable(key)
	if f == nil {
		f = l.begin(ctx, asker, key, call)
	} else if f.call.fate.around(asker) {
		return nil, errOwnKey
	} else if asker.inside(l) {
		f.call.turn.hurry()
	}
	f.callers++
	return f, nil
}

// joinBackground adds a load of key that goes on without callers to *call, like
// join. It adds none if there is one, or if it would have to wait to find out:
// it is called by every reader of a value that is being refreshed.
func (l *loads) joinBackground(ctx context.Context, key []byte, call **loadCall) {
	asker := fateOf(ctx)
	if !l.mu.TryLock() {
		return
	}
	defer l.mu.Unlock()
	if !l.closed && l.joinable(key) == nil {
		l.begin(ctx, asker, key, call).background = true
	}
}

// joinable is the load of key that a caller can join, if there is one. The
// caller holds mu. It looks at the watch itself, for a writer who ended that may
// not have come to detach the load yet.
func (l *loads) joinable(key []byte) *flight {
	f := l.byKey[string(key)]
	if f != nil && f.watch.Voided() {
		l.detach(f)
		return nil
	}
	return f
}

// begin adds a load of key to *call. The caller holds mu.
func (l *loads) begin(ctx context.Context, asker *fate, key []byte, call **loadCall) *flight {
	if *call == nil {
		*call = l.newCall(ctx, asker)
	}
	if l.byKey == nil {
		l.byKey, l.all = make(map[string]*flight), make(map[*flight]struct{})
	}
	l.begun++
	f := &flight{key: append([]byte{}, key...), call: *call, number: l.begun, done: make(chan struct{})}
	f.watch.Written = func() { l.superseded(f) }
	f.call.flights = append(f.call.flights, f)
	f.call.wanted++
	l.byKey[string(f.key)] = f
	l.all[f] = struct{}{}
	l.active.Add(1)
	return f
}

// leave is called by a caller that does not wait for the end.
func (l *loads) leave(f *flight) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f.callers--; f.callers == 0 && (!f.background || f.watch.Voided()) {
		l.detach(f)
	}
}

// leaveRunning is leave for a caller that wants the load to go on.
func (l *loads) leaveRunning(f *flight) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f.callers--
	f.background = true
	if f.watch.Voided() {
		l.detach(f)
	}
}

// detach hides a load from later callers, keeps its value from being stored,
// and gives it up if nobody waits for it. The caller holds mu.
func (l *loads) detach(f *flight) {
	f.watch.Void()
	if l.byKey[string(f.key)] == f {
		delete(l.byKey, string(f.key))
	}
	if f.callers == 0 {
		l.giveUp(f)
	}
}

// giveUp says that a load is not wanted any more; with the last one its call is
// cancelled. The caller holds mu.
func (l *loads) giveUp(f *flight) {
	if f.unwanted {
		return
	}
	f.unwanted = true
	if f.call.wanted--; f.call.wanted == 0 && !f.call.over {
		f.call.cancel(nil)
	}
}

// superseded detaches a load of which the key was written.
func (l *loads) superseded(f *flight) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.detach(f)
}

// returned notes what a loader has returned, before it is stored. There is
// nothing to cancel any more.
func (l *loads) returned(call *loadCall, results []result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	call.over = true
	for i, f := range call.flights {
		if _, underWay := l.all[f]; underWay {
			f.result = results[i]
		}
	}
}

// end takes a load off the list and hands its result to the callers. A load that
// has ended stays as it is.
func (l *loads) end(f *flight, res result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endLocked(f, res)
}

func (l *loads) endLocked(f *flight, res result) {
	if _, underWay := l.all[f]; !underWay {
		return
	}
	if !f.unwanted {
		l.count.ended(res)
	}
	l.detach(f)
	l.giveUp(f)
	delete(l.all, f)
	l.active.Add(-1)
	f.result = res
	close(f.done)
}

// abandon ends the loads of a call without waiting for the loader, or for what it
// returned to be stored: its time is over, or nobody waits any more. A value that
// came in time is an answer, if not a stored one.
func (l *loads) abandon(call *loadCall, why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range call.flights {
		res := result{err: why}
		if call.over && why == ErrLoadTimeout {
			res = f.result
			res.unstored = why
		}
		l.endLocked(f, res)
	}
}

// close ends and cancels every load, and lets none begin.
func (l *loads) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for f := range l.all {
		f.call.cancel(ErrClosed)
		l.endLocked(f, result{err: ErrClosed, closed: true})
	}
}

// number is how many loads have begun.
func (l *loads) number() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.begun
}
