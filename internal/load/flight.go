package load

import (
	"context"
	"sync/atomic"

	"github.com/firncache/firn/internal/ram"
)

// flight is the load of one key. Its fields are guarded by its shard's mu, but for
// those that do not change, for watch, which guards itself, and for result, which is set
// before done is closed.
//
//	   joinOrBegin, joinBackground
//	              |
//	.-------------v--------------.   forget: the key was      .---------------------------.
//	| joinable                   |   written, or nobody       | forgotten                 |
//	| callers find it by its key |   wants it any more        | its watch is void: its    |
//	'-------------|--------------' -------------------------> | value will not be stored; |
//	              |                                           | later callers load anew   |
//	              |                                           '-----|---------------|-----'
//	              |                                             end |               | the last caller leaves
//	              | end: the answer is stored; or endEarly:         |               v
//	              | Close, HardTimeout                              |    .---------------------.
//	              |                                                 |    | abandoned           |  when all of a call are,
//	              |                                                 |    | nobody is counted   |  its loader's context is
//	              |                                                 |    | who waits           |  cancelled
//	              |                                                 |    '----------|----------'
//	.-------------v-------------------------------------------------v---------------v---------.
//	| ended: result is set, done is closed; whoever waits has the answer                      |
//	'-----------------------------------------------------------------------------------------'
//
// Somebody wants a load who waits for it, which callers counts, or, if it is
// joinable, who began it in the background.
type flight struct {
	shard      *shard
	hash       uint64
	key        []byte
	watch      ram.Watch // of the key, from before the loader is called until the end
	call       *loaderCall
	number     uint64 // Group.begun when it began
	callers    int    // that wait for it
	background bool   // it goes on without callers
	abandoned  bool   // it does not count in call.wanted any more
	returned   bool   // its loader has: result is what that returned

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
	ctx        context.Context
	cancel     context.CancelCauseFunc
	flights    []*flight
	wanted     atomic.Int64 // how many of them are not abandoned
	returned   atomic.Bool  // the loader has: there is nothing to cancel
	directives directives
	slot       slot
}

// keys are copies of the keys, for the loader to do with as it likes.
func (call *loaderCall) keys() [][]byte {
	keys := make([][]byte, len(call.flights))
	for i, f := range call.flights {
		keys[i] = append([]byte{}, f.key...)
	}
	return keys
}

// abandon says that nobody wants a load any more, and cancels its call with the
// last one. The caller holds mu of its shard.
func (f *flight) abandon() {
	if f.abandoned {
		return
	}
	f.abandoned = true
	if f.call.wanted.Add(-1) == 0 && !f.call.returned.Load() {
		f.call.cancel(nil)
	}
}
