package load

import (
	"context"

	"github.com/firncache/firn/internal/ram"
)

// flight is the load of one key. Its fields are guarded by Group.mu, but for key,
// for watch, which guards itself, and for result, which is set before done is
// closed.
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
	key        []byte
	watch      ram.Watch // of the key, from before the loader is called until the end
	call       *loaderCall
	number     uint64 // Group.begun when it began
	callers    int    // that wait for it
	background bool   // it goes on without callers
	abandoned  bool   // it does not count in call.wanted any more

	done   chan struct{}
	result result
}

// loaderCall is one call of a loader, for one key or more. It is cancelled when
// all of its flights are abandoned.
type loaderCall struct {
	ctx        context.Context
	cancel     context.CancelCauseFunc
	flights    []*flight
	wanted     int  // how many of them are not abandoned; guarded by Group.mu
	returned   bool // the loader has: there is nothing to cancel; guarded by Group.mu
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
// last one. The caller holds Group.mu.
func (f *flight) abandon() {
	if f.abandoned {
		return
	}
	f.abandoned = true
	f.call.wanted--
	f.call.cancelIfUnused()
}

// cancelIfUnused cancels a call of which every load is abandoned. The caller
// holds Group.mu.
func (call *loaderCall) cancelIfUnused() {
	if call.wanted == 0 && !call.returned {
		call.cancel(nil)
	}
}
