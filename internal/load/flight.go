package load

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/fleet"
	"github.com/firncache/firn/internal/watch"
)

// flight is the load of one key. Its fields are guarded by its shard's mu, except
// those that do not change, for watch, which guards itself, and for result, which is set
// before done is closed.
//
//	   joinOrBegin, joinBackground
//	              |
//	.-------------v--------------.   forget: the key was      .---------------------------.
//	| joinable                   |   written, or its last     | forgotten                 |
//	| callers find it by its key |   caller left and it does  | its watch is void: its    |
//	'-------------|--------------'   not go on (goesOn) ----> | value will not be stored; |
//	              |                                           | later callers begin a load|
//	              |                                           '-----|---------------|-----'
//	              |                                             end |               | the last caller leaves
//	              | end: the answer is stored; or endEarly:         |               v
//	              | Close, HardTimeout                              |    .---------------------.
//	              |                                                 |    | abandoned           |  when all of a call are,
//	              |                                                 |    | no callers wait     |  its loader's context is
//	              |                                                 |    |                     |  cancelled
//	              |                                                 |    '----------|----------'
//	.-------------v-------------------------------------------------v---------------v---------.
//	| ended: result is set, done is closed; all waiters have the answer                       |
//	'-----------------------------------------------------------------------------------------'
//
// A load is wanted by those who wait for it, whom callers counts. Without them it goes
// on if it is joinable, and began in the background, or its loader was called and
// Options.CancelUnwanted does not say otherwise: one that waits for a slot has cost
// nothing yet, and those who gave it up would queue without bound.
type flight struct {
	shard      *shard
	hash       uint64
	key        []byte
	watch      watch.Watch // of the key, from before the loader is called until the end
	call       *loaderCall
	number     uint64       // Group.begun when it began
	callers    int          // that wait for it
	background bool         // it goes on without callers, also while it waits for a slot
	lease      *fleet.Lease // from before the loader is called; nil: none, or it was used or released
	abandoned  bool         // it does not count in call.wanted any more
	returned   bool         // its loader has: result is what that returned
	sole       bool         // one caller waited when the result had been stored: nothing else refers to that

	done   chan struct{}
	result result
}

// underWay reports whether the load has not ended. The caller holds mu of its shard.
func (f *flight) underWay() bool {
	_, ok := f.shard.underWay[f]
	return ok
}

// loaderCall is one call of a loader, for one key or more, of any shards. It is
// cancelled when all of its flights are abandoned.
type loaderCall struct {
	of         *Group
	ctx        loaderContext
	flights    []*flight
	wanted     atomic.Int64 // how many of them are not abandoned
	called     atomic.Bool  // the loader is: the call waits for no slot any more, and for no other process
	returned   atomic.Bool  // the loader has: there is nothing to cancel
	directives directives
	slot       slot
	loader     loader
	purpose    purpose

	// With a shared tier, and of run's goroutine:
	waits      int   // for other processes
	impatient  bool  // it has waited for long enough
	remembered error // of a paused call: that of the load that failed

	evicted evicted.List // what left the cache for the call's values, or when the shared tier was read

	// Of a call for one key, as most are, the parts that others allocate.
	flight    flight
	oneFlight [1]*flight
	oneValue  [1][]byte
	oneResult [1]result
}

// loader is the user's function: for one key, or for many.
type loader struct {
	one   Func
	many  MultiFunc
	gives bool // its caller may have what one returns, and change it: nothing else refers to that
}

// load calls the loader: its values are those of the flights, in their order.
func (call *loaderCall) load(ctx context.Context) ([][]byte, error) {
	if call.loader.one == nil {
		return call.loader.many(ctx, call.keys())
	}
	key := call.flights[0].key
	v, err := call.loader.one(ctx, append(key[len(key):], key...)) // its own, in the same memory
	call.oneValue[0] = v
	return call.oneValue[:], err
}

// keys are copies of the keys, for the loader to do with as it likes.
func (call *loaderCall) keys() [][]byte {
	keys := make([][]byte, len(call.flights))
	for i, f := range call.flights {
		keys[i] = append([]byte{}, f.key...)
	}
	return keys
}

// goesOn reports whether a load without callers goes on. The caller holds mu of
// its shard.
func (f *flight) goesOn(cancelUnwanted bool) bool {
	return (f.background || !cancelUnwanted && f.call.called.Load()) && !(f.watch.Voided() && (f.lease == nil || !f.lease.Held()))
}

// inBackground reports whether the load goes on without callers.
func (f *flight) inBackground() bool {
	f.shard.mu.Lock()
	defer f.shard.mu.Unlock()
	return f.background
}

// abandon marks a load as without callers, and cancels its call with the
// last one. The caller holds mu of its shard.
func (f *flight) abandon() {
	if f.abandoned {
		return
	}
	f.abandoned = true
	f.call.unwant()
}

// unwant says that a call is wanted for one load less.
func (call *loaderCall) unwant() {
	if call.wanted.Add(-1) == 0 && !call.returned.Load() {
		if first := call.ctx.end(context.Canceled, nil); first && call.called.Load() {
			go call.of.endEarly(call, context.Canceled) // it takes locks; run does it for a loader that was not called
		}
	}
}

// waitsFor reports whether the loader of a load, or one that it waits for, waits for a load of a call.
func (f *flight) waitsFor(call *loaderCall, seen map[*loaderCall]bool) bool {
	own := f.callUnderWay()
	if own == nil || seen[own] {
		return false
	}
	seen[own] = true
	d := &own.directives
	d.mu.Lock()
	waits := slices.Clone(d.waits)
	d.mu.Unlock()
	for _, next := range waits {
		if c := next.callUnderWay(); c == call || c != nil && next.waitsFor(call, seen) {
			return true
		}
	}
	return false
}

// callUnderWay is the call of a load, nil if that has ended.
func (f *flight) callUnderWay() *loaderCall {
	f.shard.mu.Lock()
	defer f.shard.mu.Unlock()
	if !f.underWay() {
		return nil
	}
	return f.call
}

// since is the outcome for a caller who came when before loads had begun. The load is nil if there was
// none.
func (f *flight) since(before uint64, came Outcome) Outcome {
	if came == Joined && f.number > before {
		return JoinedNewer
	}
	return came
}

func (f *flight) ended() bool {
	select {
	case <-f.done:
		return true
	default:
		return false
	}
}
