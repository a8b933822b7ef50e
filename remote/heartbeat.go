package remote

import (
	"context"
	"math"
	"time"

	"github.com/firncache/firn/remote/internal/entry"
	"github.com/redis/rueidis"
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

// rhythm is the heartbeat's times, which follow from Options.Staleness.
type rhythm struct {
	interval time.Duration // between PINGs
	silence  time.Duration // after which a connection without a sign of life is lost
	tick     time.Duration // of Trust's clock
	minRetry time.Duration // about the pause after an attempt to connect, doubled each time
	maxRetry time.Duration // so that copies are trusted within Staleness when a server is there again
	bound    time.Duration // Staleness less what Trust's clock may be late
}

func rhythmOf(staleness time.Duration) rhythm {
	tick := min(max(staleness/50, time.Millisecond), 20*time.Millisecond)
	return rhythm{
		interval: min(staleness/5, time.Second),
		silence:  min(max(staleness, time.Second), 5*time.Second),
		tick:     tick,
		minRetry: min(staleness/4, 50*time.Millisecond),
		maxRetry: min(staleness/2, time.Second),
		bound:    staleness - 2*tick - time.Millisecond, // it counts whole milliseconds
	}
}

// retry is the pause after an attempt, from that before it.
func (r rhythm) retry(before time.Duration) time.Duration {
	return min(max(2*before, r.minRetry), r.maxRetry)
}

// live sends heartbeats until the connection is lost. The first two follow each other at once.
func (c *conn) live() {
	r := c.w.t.rhythm
	c.claimAll()
	h := newHeartbeat(r.bound)
	guard := newWatchdog(c.pulse.Load, c.w.t.o.Timeout, r.silence, func() { c.w.presence.set(true) }, func() {
		c.w.t.o.Log.Warn("firn/remote: no sign of life", "server", c.w.addr, "for", r.silence)
		c.kill()
	})
	c.w.presence.set(false) // the handshake was answered
	timer := time.NewTimer(0)
	defer timer.Stop()
	for began := bootNanos(); ; {
		select {
		case <-c.gone:
			return
		case <-timer.C:
		case <-c.w.poked:
			c.watch.due = true
			timer.Reset(max(0, mapGap-time.Duration(bootNanos()-began))) // no later for the next poke
			continue
		}
		began = bootNanos()
		guard.arm()
		until, ok := c.beat(&h, began)
		guard.disarm()
		c.w.presence.set(c.refused)
		if !ok {
			timer.Reset(r.interval)
			continue
		}
		if until == never {
			timer.Reset(0)
			continue
		}
		c.extend(until / int64(time.Millisecond))
		c.heard.Store(until - int64(r.bound))
		if after := c.w.t.afterPong; after != nil {
			after()
		}
		timer.Reset(max(0, r.interval-time.Duration(bootNanos()-began)))
	}
}

// beat sends a heartbeat and waits for its answer. Nothing else that the server may say is a sign of
// life: it reports false then. The heartbeat reads a token under the namespace, and what the server
// is: a primary that has become a replica goes on answering, but what others write now is not there.
// It writes nothing, so that a server whose writes are paused goes on being read.
func (c *conn) beat(h *heartbeat, now int64) (until int64, ok bool) {
	if c.inCluster() {
		return c.beatCluster(h, now)
	}
	free := c.abandoned.Swap(0)
	h.ping(now)
	results := c.client.DoMulti(context.Background(), getRange(c.w.t.names.Token(), 0, entry.TokenLen), command("INFO", "replication"))
	if results[0].NonRedisError() != nil {
		return never, false
	}
	c.free(free)
	if role, err := results[1].ToString(); err == nil && infoField(role, "role") == "slave" {
		c.w.t.o.Log.Warn("firn/remote: not a primary any more", "server", c.w.addr)
		c.kill()
		return never, false
	}
	token, err := results[0].ToString()
	if c.refused = isBusy(err); err != nil && !isServerError(err, "WRONGTYPE") {
		return never, false
	}
	c.checkToken(token)
	return h.pong(), true
}

// checkToken ends the epoch if the token is another one than before: so is the server's data, by
// SWAPDB or from a dump, which it announces to no client.
func (c *conn) checkToken(token string) {
	if token == "" {
		token = c.readToken(context.Background())
	}
	if token != c.token {
		c.token = token
		c.w.t.o.Log.Warn("firn/remote: the server has other data than before", "server", c.w.addr)
		c.w.onFlushed(c)
	}
}

// readToken is the token, which is made if there is none; "" if it cannot be made.
func (c *conn) readToken(ctx context.Context) string {
	name := c.w.t.names.Token()
	results := c.client.DoMulti(ctx, command("SET", name, entry.NewToken(), "NX"), getRange(name, 0, entry.TokenLen))
	token, _ := results[1].ToString()
	return token
}

// free gives back the room of requests that were not waited for: the server has answered them.
func (c *conn) free(abandoned int64) {
	for range abandoned {
		<-c.room
	}
}

func isPong(r rueidis.RedisResult) bool {
	s, err := r.ToString()
	return err == nil && s == "PONG"
}
