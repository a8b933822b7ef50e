package link

import (
	"math"
	"time"
)

// heartbeat says until when the copies of a feed are trusted, from the times at which PINGs
// were sent and PONGs came. The server sends what it announces at the end of its event loop's
// turn, after the answers of the turn: so PONG n says nothing about what was written before
// PING n, but everything that was written before PING n-1 was sent has been announced before
// PONG n, and applied, because one goroutine reads both.
//
//	ours      PING n-1 ........... PONG n-1  PING n ........ PONG n: trusted until send(n-1) + bound
//	server         answer, pushes                answer, pushes
//
// One PING is in flight at a time. Times are in nanoseconds of a clock that does not stop.
type heartbeat struct {
	bound    int64 // how old what is trusted may be
	sent     int64 // when the PING in flight was
	answered int64 // when the one before it was sent, which has its PONG
}

const never = math.MinInt64

func newHeartbeat(bound time.Duration) heartbeat {
	return heartbeat{bound: int64(bound), sent: never, answered: never}
}

// ping is called before a PING is sent.
func (h *heartbeat) ping(now int64) { h.sent = now }

// pong is called when its PONG has arrived. Copies are trusted until the time that it returns,
// if it is not never.
func (h *heartbeat) pong() (until int64) {
	before := h.answered
	h.answered = h.sent
	if before == never {
		return never
	}
	return before + h.bound
}
