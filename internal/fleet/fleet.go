package fleet

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strings"
	"sync/atomic"
	"time"
	"weak"

	"github.com/firncache/firn/internal/histogram"
	"github.com/firncache/firn/internal/inside"
	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/shared"
)

// Fleet is the shared tier over the local ones, which keep copies of what it has.
type Fleet struct {
	local      *local.Store
	shared     *server
	trust      *shared.Trust // of the copies
	numbers    *Numbers
	numberHook atomic.Pointer[Numbers] // numbers, for pushes, which may come before Open has returned
}

// server is the shared tier as the store uses it. It does not hold on to the store.
type server struct {
	tier    shared.Tier
	trust   *shared.Trust
	policy  shared.Policy
	count   counters
	untold  notifications
	closing atomic.Bool
}

const (
	sealBytes  = 8   // of a note that a copy was checked
	sealShare  = 8   // of the RAM budget, at most, for such notes, once copies are suspect
	sealedMean = 128 // bytes of the SSD for which there is one; copies in RAM note it themselves
)

// Overhead is how much of the RAM budget is on the heap.
func (s *Fleet) Overhead() int64 { return s.trust.SealBytes() + s.numbers.bytes() }

// seals is how many notes there may be.
func seals(cfg *local.Config, onSSD bool) int {
	if !onSSD {
		return shared.MinSeals
	}
	most := min(cfg.RAMBytes/sealShare/sealBytes, cfg.SSD.Bytes/sealedMean)
	return 1 << (bits.Len64(uint64(max(most, shared.MinSeals))) - 1)
}

// counters count what the store does with the tier: nothing of a hit in a local one.
type counters struct {
	hits, misses          atomic.Uint64
	copies, copiesRefused atomic.Uint64
	checks, unchanged     atomic.Uint64
	staleServed, errors   atomic.Uint64
	readTimes             histogram.Recorder // of requests that were answered
}

// Stats are the figures of the shared tier, and of the copies of what it has.
func (s *Fleet) Stats() shared.Stats { return s.shared.stats() }

// Shared is the shared tier, and which copies of what it has are trusted.
func (s *Fleet) Shared() (shared.Tier, *shared.Trust) { return s.shared.tier, s.trust }

func (t *server) stats() (n shared.Stats) {
	c := &t.count
	n.Hits, n.Misses = c.hits.Load(), c.misses.Load()
	n.Copies, n.CopiesRefused = c.copies.Load(), c.copiesRefused.Load()
	n.Checks, n.Unchanged = c.checks.Load(), c.unchanged.Load()
	n.StaleServed, n.Errors = c.staleServed.Load(), c.errors.Load()
	t.tier.Stats(&n)
	return n
}

// Prepare makes the configuration of the local tiers that of copies: OnEvict gets the values, and
// the SSD's directory is that of one shared tier.
func Prepare(cfg *local.Config, tier shared.Tier) {
	cfg.SSD.Fingerprint = fingerprint(tier.Policy().Fingerprint)
	if told := cfg.Evicted; told != nil {
		cfg.Evicted = withoutTrailers(told)
	}
}

// fingerprintOffset and its prime make the same sum in every process.
const fingerprintOffset, fingerprintPrime = 14695981039346656037, 1099511628211

// fingerprint is the FNV-1a sum of what is said of the entries, never 0.
func fingerprint(of string) uint64 {
	sum := uint64(fingerprintOffset)
	for i := range len(of) {
		sum = (sum ^ uint64(of[i])) * fingerprintPrime
	}
	return max(sum, 1)
}

// Open opens the shared tier over the local ones, which are open.
func (s *Fleet) Open(cfg *local.Config, tier shared.Tier, over *local.Store) error {
	t := &server{tier: tier, policy: tier.Policy()}
	s.local, s.shared = over, t
	seals := seals(cfg, over.HasSSD())
	now, grace := over.Times()
	trust, err := t.tier.Open(pushReceiver{weak.Make(s), now, grace, seals})
	if err != nil {
		return &local.OptionError{Field: "Shared", Err: fmt.Errorf("cannot be used: %w", err)}
	}
	t.trust, s.trust = trust, trust
	_ = over.RAM.Reserve(trust.SealBytes()) // of a budget that has nothing to spare it takes nothing
	trust.LendTo(over.RAM.Reserve)
	s.openNumbers(cfg.RAMBytes)
	return nil
}

// Closer is a function that ends the tier, and does not hold on to the store. What waits for the
// tier returns.
func (s *Fleet) Closer() func(context.Context) error { return s.shared.close }

func (t *server) close(ctx context.Context) error {
	if t.closing.Swap(true) {
		return nil
	}
	err := t.tier.Close(ctx)
	t.untold.close()
	t.trust.Advance(math.MaxInt64) // nothing is trusted any more
	return err
}

// copyTTL is how long a copy lives that a call makes, in milliseconds; 0: as long as its entry.
func (t *server) copyTTL(call *shared.Call) int64 {
	ttl := t.policy.CopyTTL
	if call.CopyTTL != 0 {
		ttl = call.CopyTTL
	}
	return int64((ttl + time.Millisecond - 1) / time.Millisecond)
}

// degraded is what a call does with a suspect copy that cannot be checked.
func (t *server) degraded(call *shared.Call) shared.Degraded {
	if call.HasDegraded {
		return call.Degraded
	}
	return t.policy.Degraded
}

// callOf returns the options of a call. The background context, the commonest, has none.
func callOf(ctx context.Context) (c shared.Call) {
	if ctx == context.Background() {
		return c
	}
	return shared.CallOf(ctx)
}

// openNumbers makes the numbers ready, which take a part of RAM.
func (s *Fleet) openNumbers(ramBytes int64) {
	t := s.shared
	s.numbers = NewNumbers(t.tier, t.trust, ramBytes/numbersShare, t.closing.Load)
	_ = s.local.RAM.Reserve(s.numbers.bytes()) // of a budget that has nothing to spare, nothing
	s.numberHook.Store(s.numbers)
}

// Numbers are those of the shared tier.
func (s *Fleet) Numbers() *Numbers { return s.numbers }

// Health is the state of the shared tier, and what there is to say about it.
func (s *Fleet) Health() (inside.State, string) {
	n := s.shared.stats()
	return healthOf(&n, s.shared.closing.Load())
}

// healthOf is the state of the shared tier, and what there is to say about it.
func healthOf(n *shared.Stats, closing bool) (inside.State, string) {
	switch {
	case closing:
		return inside.Offline, "the cache is closed"
	case n.Servers == 0 && !n.Online:
		return inside.Offline, "no server has been reached"
	}
	var notes []string
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if n.ServersUp < n.Servers {
		note("%d of %d servers are up", n.ServersUp, n.Servers)
	}
	if n.BreakersOpen > 0 {
		note("breaker open: %d did not answer, and are not asked until a heartbeat comes back", n.BreakersOpen)
	}
	up := n.Online || n.ServersUp > 0
	switch {
	case !up:
	case !n.Tracking:
		note("no feed of changes: copies live by their TTL alone")
	default:
		note("trusted copies are at most %v behind", time.Duration(n.FeedLag).Round(time.Millisecond))
	}
	if !up {
		return inside.Offline, strings.Join(notes, "; ")
	}
	return inside.Online, strings.Join(notes, "; ")
}

// The requests for values: those that the tier has answered, with a value or without, are
// counted by the time that took. One that failed has been no answer.

// read is shared.Tier.Read.
func (t *server) read(ctx context.Context, dst []byte, q shared.Query) (shared.Found, error) {
	began := time.Now()
	f, err := t.tier.Read(ctx, dst, q)
	t.count.answered(err, time.Since(began))
	return f, err
}

// leaseFor is shared.Tier.Lease, which is how a load reads.
func (t *server) leaseFor(ctx context.Context, q shared.Query) (shared.Expect, *shared.Found, error) {
	began := time.Now()
	expect, f, err := t.tier.Lease(ctx, nil, q)
	t.count.answered(err, time.Since(began))
	return expect, f, err
}

// readMulti is shared.Tier.ReadMulti. The time that each takes is not the tier's.
func (t *server) readMulti(ctx context.Context, queries []shared.Query, each func(i int, f shared.Found, err error)) {
	took, best := time.Duration(0), shared.ErrUnavailable
	began := time.Now()
	t.tier.ReadMulti(ctx, queries, func(i int, f shared.Found, err error) {
		if took += time.Since(began); isAnswer(err) {
			best = nil
		}
		each(i, f, err)
		began = time.Now()
	})
	t.count.answered(best, took+time.Since(began))
}

// isAnswer reports whether a call that returned err has been answered.
func isAnswer(err error) bool {
	return err == nil || errors.Is(err, shared.ErrNotFound) || errors.Is(err, shared.ErrLeased)
}

func (c *counters) answered(err error, took time.Duration) {
	if isAnswer(err) {
		c.readTimes.Add(took)
	}
}

// ReadTimes is how long the shared tier took to answer reads, of one key or of many.
func (s *Fleet) ReadTimes() histogram.Histogram { return s.shared.count.readTimes.Snapshot() }
