package shared

import (
	"context"
	"testing"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/internal/shared/sharedtest"
	"github.com/firncache/firn/internal/tests/harness"
)

// A value that another process has set is a hit of the shared tier, then of RAM; a call that skips
// local copies reads the shared tier, whatever values are hot.
func TestSharedOutcomes(t *testing.T) {
	for name, hot := range map[string]int{"hot": 0, "not hot": -1} {
		server := sharedtest.NewServer()
		opts := firn.TypedOptions[string, string]{HotValues: hot}
		a, b := newProcess(t, server, opts), newProcess(t, server, opts)
		harness.Must(t, a.Set("k", "1"))
		want := func(step string, ctx context.Context, want firn.Tier) {
			t.Helper()
			e, err := b.GetOrLoadEntry(ctx, "k", nil)
			if err != nil || e.Value != "1" || e.Outcome != firn.OutcomeHit || e.Tier != want {
				t.Errorf("%s, %s: %+v, %v, want a hit of %v", name, step, e, err, want)
			}
		}
		want("first", t.Context(), firn.TierShared)
		want("then", t.Context(), firn.TierRAM)
		want("past the copy", shared.WithCall(t.Context(), shared.Call{SkipLocal: true}), firn.TierShared)
	}
}
