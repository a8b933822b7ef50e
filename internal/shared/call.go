package shared

import (
	"context"
	"time"
)

// Call is how one call uses the tiers; the zero Call does as Policy says.
type Call struct {
	SkipLocal   bool          // read from the shared tier, whatever copies there are
	SkipShared  bool          // use the local tiers alone: trusted copies
	CopyTTL     time.Duration // as in Policy, if not 0
	Degraded    Degraded
	HasDegraded bool // Degraded counts
}

type callKey struct{}

// WithCall gives the calls that are made with a context their options.
func WithCall(ctx context.Context, c Call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

// CallOf are the options of a call with this context.
func CallOf(ctx context.Context) Call {
	c, _ := ctx.Value(callKey{}).(Call)
	return c
}
