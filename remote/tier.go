package remote

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firncache/firn/internal/clock"
	"github.com/firncache/firn/internal/flight"
	"github.com/firncache/firn/internal/loglines"
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/cluster"
	"github.com/firncache/firn/remote/internal/entry"
	"github.com/firncache/firn/remote/internal/link"
	"github.com/firncache/firn/remote/internal/wire"
)

// sharedTier is a Tier as its cache sees it.
type sharedTier struct {
	o     Options // with the defaults
	names entry.Names
	count counters

	common  *wire.Common
	cluster *cluster.Cluster // of one server until Open has found out
	large   chan struct{}    // a token for each long value that is on its way

	checks  flight.Group[checkOf, shared.Found]
	awaits  awaits
	holding holding

	trust atomic.Pointer[shared.Trust]
	store atomic.Pointer[localTiers]
	// unixOffset turns the store's time into Unix time, in milliseconds. It is even, as the lowest
	// bit of a deadline has a meaning, and stays the same.
	unixOffset atomic.Int64
	log        *loglines.Logger
	saidLost   atomic.Int64 // when it was logged last that a lease is gone, in clock.Boot
	stopDial   context.CancelCauseFunc

	mu     sync.Mutex
	opened bool
	closed bool
	done   chan struct{} // closed by Close
	ends   sync.WaitGroup
}

// counters are the tier's own, of shared.Stats.
type counters struct {
	invalidations, epochs   atomic.Uint64
	foreign, tooLarge       atomic.Uint64
	conflicts, compressed   atomic.Uint64
	reads, writes           atomic.Uint64
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
	t := &sharedTier{o: o, names: entry.Names{Prefix: o.Namespace + ":"}, done: make(chan struct{}), log: loglines.To(o.Log)}
	t.common = &wire.Common{
		Settings: link.Settings{
			Username: o.Username, Password: o.Password, TLS: o.TLS, Dial: o.Dial, DialTimeout: o.DialTimeout,
			Timeout: o.Timeout, Leases: o.Leases != LeasesOff, Rhythm: link.RhythmOf(o.Staleness), Names: t.names, Log: t.log,
		},
		Staleness: o.Staleness, CopyTTL: o.CopyTTL,
	}
	t.common.Dialing, t.stopDial = context.WithCancelCause(context.Background())
	t.large = make(chan struct{}, maxLarge)
	t.checks.Now = clock.Boot
	t.holding = holding{every: max(o.LeaseTime/3, time.Millisecond)}
	t.cluster = cluster.Single(t.common, host{t}, o.Addrs[0])
	return t
}

// advance is the clock of Trust.
func (t *sharedTier) advance() {
	trust := t.trust.Load()
	tick := time.NewTicker(t.common.Rhythm.Tick)
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

func bootMillis() int64 { return clock.Boot() / int64(time.Millisecond) }

// local is the store's side; nil before Open.
func (t *sharedTier) local() shared.Local {
	if l := t.store.Load(); l != nil {
		return l.Local
	}
	return nil
}

// Policy is how the store uses the tier.
func (t *sharedTier) Policy() shared.Policy {
	return shared.Policy{
		Fingerprint: fmt.Sprintf("%s envelope=%d", t.names.Prefix, entry.Format),
		CopyTTL:     t.o.CopyTTL, Bound: t.common.Rhythm.Bound, Degraded: shared.Degraded(t.o.Degraded), SoftTimeout: t.o.SoftTimeout, Log: t.o.Log,
	}
}

// noteUnstored counts a loaded value that was not stored, and logs it, once in a minute at most.
func (t *sharedTier) noteUnstored() {
	lost, now := t.count.leasesLost.Add(1), clock.Boot()
	if last := t.saidLost.Load(); (last == 0 || now-last > int64(time.Minute)) && t.saidLost.CompareAndSwap(last, now) {
		t.log.Warn("firn/remote: a loaded value is not stored, as its lease is gone: its key was written or removed since, "+
			"or the server was not reached for LeaseTime", "leaseTime", t.o.LeaseTime, "so far", lost)
	}
}

// maxLarge is how many long values are on their way at a time.
const maxLarge = 4
