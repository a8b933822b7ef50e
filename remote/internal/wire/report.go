package wire

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/firncache/firn/internal/clock"
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/link"
)

// Stats adds what the wire knows of its server.
func (w *Wire) Stats(s *shared.Stats) {
	s.Servers++
	s.BreakerOpened += w.presence.times.Load()
	if w.Away() {
		s.BreakersOpen++
	}
	c := w.Conn()
	if c == nil {
		return
	}
	s.Tracking = c.Server.Tracking
	heard := c.Heard()
	if heard == 0 {
		return
	}
	lag := clock.Boot() - heard
	s.FeedLag = max(s.FeedLag, lag)
	if time.Duration(lag) <= w.common.Staleness {
		s.ServersUp++
	}
}

// Away reports whether requests fail at once.
func (w *Wire) Away() bool { return w.presence.away.Load() }

// Can is what the server can do, if need be after the attempt to connect that is under
// way. If there is none, the request that needs it fails anyway.
func (w *Wire) Can(ctx context.Context) link.Abilities {
	w = w.Real()
	if c := w.Conn(); c != nil {
		return c.Server.Can
	}
	within, cancel := context.WithTimeout(ctx, w.common.Timeout)
	defer cancel()
	c, err := w.present(within)
	if err != nil {
		return link.Abilities{Eval: true}
	}
	return c.Server.Can
}

// CanLease reports whether there is one load for all processes.
func (w *Wire) CanLease(ctx context.Context) bool {
	return w.common.Leases && w.Can(ctx).Conditional()
}

// Announces reports whether the server announces changes.
func (w *Wire) Announces() bool {
	c := w.Real().Conn()
	return c != nil && c.Server.Tracking
}

func (w *Wire) noteConnected(c *link.Conn) {
	w.common.connects.Add(1)
	if !w.losses.logged() {
		return
	}
	w.causes.Clear() // the next outage is another one
	log := w.common.Log.Info
	if !c.Server.Tracking {
		log = w.common.Log.Warn
	}
	log("firn/remote: connected", "server", w.Addr, "version", c.Server.Name+" "+c.Server.Version, "tracking", c.Server.Tracking)
}

func (w *Wire) noteFailed(err error) {
	w.common.Owner.Unreached()
	if _, said := w.causes.LoadOrStore(causeOf(err), true); !said {
		w.common.Log.Warn("firn/remote: cannot connect", "err", err)
	}
}

func (w *Wire) noteLost() {
	w.noteBegun(&w.losses, "firn/remote: connection lost")
	w.common.Owner.EpochEnded()
}

// noteBegun logs what may begin and end many times in a second.
func (w *Wire) noteBegun(o *outages, what string) {
	log, last := o.begin(clock.Boot())
	if last {
		what += " (the last line of it for a minute, as it comes so often)"
	}
	if log {
		w.common.Log.Warn(what, "server", w.Addr)
	}
}

// notePresence logs that the server went away, or is back.
func (w *Wire) notePresence(away bool) {
	if away {
		w.noteBegun(&w.absences, "firn/remote: requests fail at once until the server answers")
	} else if w.absences.logged() {
		w.common.Log.Info("firn/remote: the server answers again", "server", w.Addr)
	}
}

// noteMap is called when a server's answer about the cluster cannot be used.
func (w *Wire) noteMap(err error) {
	if _, said := w.causes.LoadOrStore(causeOf(err), true); !said {
		w.common.Log.Warn("firn/remote: no map of the cluster", "server", w.Addr, "err", err)
	}
}

// noteRefused logs that a server refuses requests: once in a minute for each reason, as OOM.
func (w *Wire) noteRefused(err error) {
	reason, _, _ := strings.Cut(err.Error(), " ")
	now := clock.Boot()
	if last, ok := w.refusals.Load(reason); ok && now-last.(int64) < int64(time.Minute) {
		return
	}
	w.refusals.Store(reason, now)
	w.common.Log.Warn("firn/remote: the server refuses requests", "server", w.Addr, "err", err)
}

// causeOf is the innermost error, by which an outage differs from the next, without digits: not the call
// that found it, nor the port of this end, which change with each attempt.
func causeOf(err error) string {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, err.Error())
}
