package link

import (
	"context"
	"time"

	"github.com/firncache/firn/internal/clock"
	"github.com/firncache/firn/remote/internal/command"
	"github.com/firncache/firn/remote/internal/entry"
	"github.com/firncache/firn/remote/internal/slots"
	"github.com/redis/rueidis"
)

// Live sends heartbeats until the connection is lost: the first two at once, and one, with which the
// server sends its map, when it is poked.
func (c *Conn) Live(poked <-chan struct{}) {
	if !c.Server.Clustered {
		c.events.Map(c, &slots.Map{Primaries: []slots.Member{{Addr: c.Addr, Slots: slots.All}}, OK: true}, nil)
	}
	h := newHeartbeat(c.Rhythm.Bound)
	guard := newWatchdog(c.pulse.Load, c.Timeout, c.Rhythm.Silence, func() { c.events.Away(true) }, func() {
		c.Log.Warn("firn/remote: no sign of life", "server", c.Addr, "for", c.Rhythm.Silence)
		c.Kill()
	})
	c.events.Away(false) // the handshake was answered
	timer := time.NewTimer(0)
	defer timer.Stop()
	for began := clock.Boot(); ; {
		select {
		case <-c.gone:
			return
		case <-timer.C:
		case <-poked:
			c.watch.due = true
			timer.Reset(max(0, mapGap-time.Duration(clock.Boot()-began))) // no later for the next poke
			continue
		}
		began = clock.Boot()
		guard.arm()
		until, ok := c.beat(&h, began)
		guard.disarm()
		c.events.Away(c.refused)
		switch {
		case !ok:
			timer.Reset(c.Rhythm.Interval)
		case until == never:
			timer.Reset(0)
		default:
			c.trust(until)
			timer.Reset(max(0, c.Rhythm.Interval-time.Duration(clock.Boot()-began)))
		}
	}
}

// trust says until when copies are trusted.
func (c *Conn) trust(until int64) {
	c.events.Trusted(c, until/int64(time.Millisecond))
	c.heard.Store(until - int64(c.Rhythm.Bound))
	if c.AfterPong != nil {
		c.AfterPong()
	}
}

// beat sends a heartbeat and waits for its answer. Nothing else that the server may say is a sign of
// life: it reports false then. The heartbeat reads a token under the namespace, and what the server
// is: a primary that has become a replica goes on answering, but what others write now is not there.
// It writes nothing, so that a server whose writes are paused goes on being read.
func (c *Conn) beat(h *heartbeat, now int64) (until int64, ok bool) {
	if c.Server.Clustered {
		return c.beatCluster(h, now)
	}
	free := c.abandoned.Swap(0)
	h.ping(now)
	results := c.client.DoMulti(context.Background(), c.getToken(), command.New("INFO", "replication"))
	if results[0].NonRedisError() != nil {
		return never, false
	}
	c.free(free)
	if role, err := results[1].ToString(); err == nil && command.InfoField(role, "role") == "slave" {
		c.Log.Warn("firn/remote: not a primary any more", "server", c.Addr)
		c.Kill()
		return never, false
	}
	token, err := results[0].ToString()
	if c.refused = command.IsBusy(err); err != nil && !command.IsError(err, "WRONGTYPE") {
		return never, false
	}
	c.checkToken(token)
	return h.pong(), true
}

// checkToken ends the epoch if the token is another one than before: so is the server's data, by
// SWAPDB or from a dump, which it announces to no client.
func (c *Conn) checkToken(token string) {
	if token == "" {
		token = c.readToken(context.Background())
	}
	if token != c.token {
		c.token = token
		c.Log.Warn("firn/remote: the server has other data than before", "server", c.Addr)
		c.events.Flushed(c)
	}
}

// readToken is the token, which is made if there is none; "" if it cannot be made.
func (c *Conn) readToken(ctx context.Context) string {
	results := c.client.DoMulti(ctx, command.New("SET", c.Names.Token(), entry.NewToken(), "NX"), c.getToken())
	token, _ := results[1].ToString()
	return token
}

func (c *Conn) getToken() rueidis.Completed {
	return command.GetRange(c.Names.Token(), 0, entry.TokenLen)
}

// free gives back the room of requests that were not waited for: the server has answered them.
func (c *Conn) free(abandoned int64) {
	for range abandoned {
		<-c.room
	}
}
