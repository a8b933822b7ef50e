package remote

import (
	"context"
	"time"

	"github.com/firncache/firn/internal/shared"
)

// Tier is a tier that processes share: give it to firn.Options.Shared. The cache's Close closes it.
type Tier struct {
	given Options
	tier  *sharedTier
}

// Open makes a tier for firn.Options.Shared. It fails if Validate does, and connects to no server:
// the tier begins its work with firn.Open, and ends it with the Close of that cache, which is
// the only one that it serves.
//
// firn.Open fails if the server says what waiting does not mend: of a wrong password, a user
// without the rights that are needed, a certificate that is not valid, a replica, a sentinel. If
// the server cannot be reached it does not fail: the cache begins with the shared tier
// unavailable, which connects by itself when it can.
func Open(o Options) (*Tier, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return &Tier{o, newTier(o)}, nil
}

// Options are those that the tier was opened with.
func (t *Tier) Options() Options { return t.given }

// Shared is for firn.Open.
func (t *Tier) Shared() shared.Tier { return t.tier }

// Call is how one call uses the tiers: see With.
type Call struct {
	SkipLocal   bool          // read from the server, whatever copies there are
	SkipShared  bool          // read RAM and SSD alone: trusted copies
	CopyTTL     time.Duration // in place of Options.CopyTTL, if not 0
	Degraded    Degraded      // in place of Options.Degraded, with HasDegraded
	HasDegraded bool
}

// With gives the calls that are made with the context options of their own.
func With(ctx context.Context, c Call) context.Context {
	return shared.WithCall(ctx, shared.Call{
		SkipLocal: c.SkipLocal, SkipShared: c.SkipShared, CopyTTL: c.CopyTTL,
		Degraded: shared.Degraded(c.Degraded), HasDegraded: c.HasDegraded,
	})
}
