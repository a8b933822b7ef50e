package remote

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firncache/firn/internal/flight"
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/entry"
)

// sharedTier is a Tier as its cache sees it.
type sharedTier struct {
	o      Options // with the defaults
	names  entry.Names
	rhythm rhythm
	count  counters

	wire    *wire         // the server, without a cluster
	cluster *cluster      // nil without
	large   chan struct{} // a token for each long value that is on its way

	checks  flight.Group[checkOf, shared.Found]
	awaits  awaits
	holding holding

	trust atomic.Pointer[shared.Trust]
	below atomic.Pointer[localTiers]
	// unixOffset turns the store's time into Unix time, in milliseconds. It is even, as the lowest
	// bit of a deadline has a meaning, and stays the same.
	unixOffset atomic.Int64
	saidLost   atomic.Int64    // when it was logged last that a lease is gone, in bootNanos
	dialing    context.Context // ends when the tier is closed
	stopDial   context.CancelCauseFunc

	afterPong func() // of tests; set before Open

	mu     sync.Mutex
	opened bool
	closed bool
	done   chan struct{} // closed by Close
	ends   sync.WaitGroup
}

// counters are the tier's own, of shared.Stats.
type counters struct {
	connects, reconnects    atomic.Uint64
	invalidations, epochs   atomic.Uint64
	foreign, tooLarge       atomic.Uint64
	conflicts, compressed   atomic.Uint64
	reads, writes, moved    atomic.Uint64
	leasesWon, leaseWaits   atomic.Uint64
	leasesExpired           atomic.Uint64
	leasesLost              atomic.Uint64
	bytesRead, bytesWritten atomic.Uint64 // of entries, envelopes and compression included
}

var _ shared.Tier = (*sharedTier)(nil)

// localTiers are the store's.
type localTiers struct{ shared.Local }

func newTier(given Options) *sharedTier {
	o := given.withDefaults()
	t := &sharedTier{o: o, names: entry.Names{Prefix: o.Namespace + ":"}, rhythm: rhythmOf(o.Staleness), done: make(chan struct{})}
	t.dialing, t.stopDial = context.WithCancelCause(context.Background())
	t.large = make(chan struct{}, maxLarge)
	t.checks.Now = bootNanos
	t.holding = holding{every: max(o.LeaseTime/3, time.Millisecond)}
	t.wire = newWire(t, o.Addrs[0])
	return t
}

// advance is the clock of Trust.
func (t *sharedTier) advance() {
	trust := t.trust.Load()
	tick := time.NewTicker(t.rhythm.tick)
	defer tick.Stop()
	for {
		select {
		case <-t.done:
			return
		case <-tick.C:
			trust.Advance(bootMillis())
		}
	}
}

func bootMillis() int64 { return bootNanos() / int64(time.Millisecond) }

// local is the store's side; nil before Open.
func (t *sharedTier) local() shared.Local {
	if l := t.below.Load(); l != nil {
		return l.Local
	}
	return nil
}

// timeoutOf is how long a request may take that sends or gets so many bytes.
func (t *sharedTier) timeoutOf(bytes int) time.Duration {
	return t.o.Timeout * time.Duration(1+bytes>>20)
}

// Policy is how the store uses the tier.
func (t *sharedTier) Policy() shared.Policy {
	return shared.Policy{
		Fingerprint: fmt.Sprintf("%s envelope=%d", t.names.Prefix, entry.Format),
		CopyTTL:     t.o.CopyTTL, Bound: t.rhythm.bound, Degraded: shared.Degraded(t.o.Degraded), SoftTimeout: t.o.SoftTimeout, Log: t.o.Log,
	}
}

func (t *sharedTier) noteConnected(w *wire, c *conn) {
	first := t.count.connects.Add(1) == 1
	if !first {
		t.count.reconnects.Add(1)
	}
	w.lastError.Store("") // the next outage is another one
	log := t.o.Log.Info
	if !c.server.tracking {
		log = t.o.Log.Warn
	}
	log("firn/remote: connected", "server", w.addr, "version", c.server.name+" "+c.server.version, "tracking", c.server.tracking)
}

func (t *sharedTier) noteFailed(w *wire, err error) {
	if t.cluster != nil {
		t.cluster.seek()
	}
	if said := causeOf(err); w.lastError.Swap(said) == said {
		return // already
	}
	t.o.Log.Warn("firn/remote: cannot connect", "err", err)
}

// noteMap is called when a server's answer about the cluster cannot be used.
func (t *sharedTier) noteMap(w *wire, err error) {
	if said := causeOf(err); w.lastError.Swap(said) != said {
		t.o.Log.Warn("firn/remote: no map of the cluster", "server", w.addr, "err", err)
	}
}

// noteRefused logs that a server refuses requests: once in a minute for each reason, as OOM.
func (t *sharedTier) noteRefused(w *wire, err error) {
	reason, _, _ := strings.Cut(err.Error(), " ")
	now := bootNanos()
	if last, ok := w.refusals.Load(reason); ok && now-last.(int64) < int64(time.Minute) {
		return
	}
	w.refusals.Store(reason, now)
	t.o.Log.Warn("firn/remote: the server refuses requests", "server", w.addr, "err", err)
}

// causeOf is the innermost error, which tells an outage from the next, without digits: not the call
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

// noteUnstored counts a loaded value that was not stored, and logs it, once in a minute at most.
func (t *sharedTier) noteUnstored() {
	lost, now := t.count.leasesLost.Add(1), bootNanos()
	if last := t.saidLost.Load(); (last == 0 || now-last > int64(time.Minute)) && t.saidLost.CompareAndSwap(last, now) {
		t.o.Log.Warn("firn/remote: a loaded value is not stored, as its lease is gone: its key was written or removed since, "+
			"or the server was not reached for LeaseTime", "leaseTime", t.o.LeaseTime, "so far", lost)
	}
}

func (t *sharedTier) noteLost(w *wire) {
	t.o.Log.Warn("firn/remote: connection lost", "server", w.addr)
	t.noteEpoch()
}

// maxLarge is how many long values are on their way at a time.
const maxLarge = 4
