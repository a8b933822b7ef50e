package tiered

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/firncache/firn/internal/histogram"
	"github.com/firncache/firn/internal/shared"
)

// sharedTier is the shared tier as the store uses it.
type sharedTier struct {
	tier    shared.Tier
	trust   *shared.Trust
	policy  shared.Policy
	count   sharedCounters
	untold  untold
	closing atomic.Bool
}

const (
	sealBytes  = 8   // of a note that a copy was checked
	sealShare  = 8   // of the RAM budget, at most, for such notes, once copies are suspect
	sealedMean = 128 // bytes of the SSD for which there is one; copies in RAM note it themselves
)

// heap is how much of the RAM budget is on the heap for the tier, if there is one.
func (t *sharedTier) heap() int64 {
	if t == nil {
		return 0
	}
	return t.trust.SealBytes()
}

// seals is how many notes there may be.
func (cfg *Config) seals(onSSD bool) int {
	if !onSSD {
		return shared.MinSeals
	}
	most := min(cfg.RAMBytes/sealShare/sealBytes, cfg.SSD.Bytes/sealedMean)
	return 1 << (bits.Len64(uint64(max(most, shared.MinSeals))) - 1)
}

// sharedCounters count what the store does with the tier: nothing of a hit in a local one.
type sharedCounters struct {
	hits, misses          atomic.Uint64
	copies, copiesRefused atomic.Uint64
	checks, unchanged     atomic.Uint64
	staleServed, errors   atomic.Uint64
	readTimes             histogram.Recorder // of requests that were answered
}

// HasShared reports whether there is a shared tier, so that a lookup may wait for a network.
func (s *Store) HasShared() bool { return s.shared != nil }

// Shared is the shared tier, and which copies of what it has are trusted; both nil if there is
// none.
func (s *Store) Shared() (shared.Tier, *shared.Trust) {
	if s.shared == nil {
		return nil, nil
	}
	return s.shared.tier, s.shared.trust
}

// SharedStats are the figures of the shared tier and of the copies of what it has; 0 if there
// is none.
func (s *Store) SharedStats() shared.Stats {
	if s.shared == nil {
		return shared.Stats{}
	}
	return s.shared.stats()
}

func (t *sharedTier) stats() (n shared.Stats) {
	c := &t.count
	n.Hits, n.Misses = c.hits.Load(), c.misses.Load()
	n.Copies, n.CopiesRefused = c.copies.Load(), c.copiesRefused.Load()
	n.Checks, n.Unchanged = c.checks.Load(), c.unchanged.Load()
	n.StaleServed, n.Errors = c.staleServed.Load(), c.errors.Load()
	t.tier.Stats(&n)
	return n
}

// prepareShared makes the configuration of the local tiers that of copies: OnEvict is told the
// values, and the SSD's directory is that of one shared tier.
func (cfg *Config) prepareShared() {
	if cfg.Shared == nil {
		return
	}
	cfg.SSD.Fingerprint = fingerprint(cfg.Shared.Policy().Fingerprint)
	if told := cfg.Evicted; told != nil {
		cfg.Evicted = tellValues(told)
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

// openShared opens the shared tier, if there is to be one, when the others are open.
func (s *Store) openShared(cfg *Config) error {
	if cfg.Shared == nil {
		return nil
	}
	t := &sharedTier{tier: cfg.Shared, policy: cfg.Shared.Policy()}
	s.shared = t
	seals := cfg.seals(s.ssd != nil)
	trust, err := t.tier.Open(localTiers{weakStore(s), s.now, s.grace, seals})
	if err != nil {
		s.shared = nil
		return &OptionError{"Shared", fmt.Errorf("cannot be used: %w", err)}
	}
	t.trust, s.trust = trust, trust
	_ = s.ram.Reserve(trust.SealBytes()) // of a budget that has nothing to spare it takes nothing
	trust.LendTo(s.ram.Reserve)
	s.openAgreed(cfg.RAMBytes)
	return nil
}

// close ends the tier, if there is one. What waits for it returns.
func (t *sharedTier) close(ctx context.Context) error {
	if t == nil || t.closing.Swap(true) {
		return nil
	}
	err := t.tier.Close(ctx)
	t.untold.close()
	t.trust.Advance(math.MaxInt64) // nothing is trusted any more
	return err
}

// copyTTL is how long a copy lives that a call makes, in milliseconds; 0: as long as its entry.
func (t *sharedTier) copyTTL(call *shared.Call) int64 {
	ttl := t.policy.CopyTTL
	if call.CopyTTL != 0 {
		ttl = call.CopyTTL
	}
	return int64((ttl + time.Millisecond - 1) / time.Millisecond)
}

// degraded is what a call does with a suspect copy that cannot be checked.
func (t *sharedTier) degraded(call *shared.Call) shared.Degraded {
	if call.HasDegraded {
		return call.Degraded
	}
	return t.policy.Degraded
}

// callOf are the options of a call, for which the commonest context is not asked.
func callOf(ctx context.Context) (c shared.Call) {
	if ctx == context.Background() {
		return c
	}
	return shared.CallOf(ctx)
}
