package load

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/internal/shared/sharedtest"
	"github.com/firncache/firn/internal/store"
)

// bounded has what was loaded be kept for a second while the tier is away.
func bounded(tier *sharedtest.Tier, _ *store.Config) { tier.Does.Bound = time.Second }

// An outage of the shared tier is none of the source: it is asked for a key once in each bound,
// which is counted from when its loader began.
func TestOneLoadEachBoundWhileAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := beginProcess(t, sharedtest.NewServer(), Options{}, bounded)
		a.tier.SetOnline(false)
		a.tier.Lapse()
		const reads, pause = 50, 100 * time.Millisecond
		for range reads {
			if got := say(a.getOrLoad(t.Context(), "k", a.loader("v", nil, 0))); got != "v" {
				t.Fatal(got)
			}
			time.Sleep(pause)
		}
		if most := int(reads*pause/time.Second) + 1; a.called > most {
			t.Errorf("%d loads in %v: want one a second", a.called, reads*pause)
		}
		before := a.called
		for range 3 {
			a.getOrLoad(t.Context(), "slow", a.loader("v", nil, time.Second))
		}
		if n := a.called - before; n != 3 {
			t.Errorf("%d loads of a value whose loader takes the whole bound: want 3", n)
		}
	})
}

// So it is for a server that has no room for what is loaded, and does not have it: also where suspect
// copies may be answers.
func TestOneLoadEachBoundWithoutRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := sharedtest.NewServer()
		server.Leases = false
		a := beginProcess(t, server, Options{}, bounded, degrade)
		a.tier.OnRequest = func(call, _ string) { a.tier.SetOnline(call != "Write") }
		for range 20 {
			if got := say(a.getOrLoad(t.Context(), "k", a.loader("v", nil, 0))); got != "v" {
				t.Fatal(got)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if a.called > 3 {
			t.Errorf("%d loads in 2 s: want one a second", a.called)
		}
	})
}

// What was kept while the tier was away ends with the bound, and with a write of the key.
func TestKeptWhileAwayEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := sharedtest.NewServer()
		a, b := beginProcess(t, server, Options{NegativeTTL: time.Hour}, bounded), beginProcess(t, server, Options{})
		a.tier.SetOnline(false)
		a.tier.Lapse()
		a.expect("k", "loaded", a.loader("loaded", nil, 0), 1)
		a.expect("absent", none, a.loader("", local.ErrNotFound, 0), 1)
		a.expect("absent", none, a.loader("", local.ErrNotFound, 0), 0)
		a.tier.HoldPushes()
		b.set("k", "by b")
		b.set("absent", "by b")
		a.expect("k", "loaded", a.loader("loaded later", nil, 0), 0)
		a.tier.Disconnect()
		a.tier.SetOnline(true)
		time.Sleep(time.Second + 2*time.Millisecond) // deadlines are odd
		a.expect("k", "by b", a.loader("loaded late", nil, 0), 0)
		a.expect("absent", "by b", a.loader("loaded late", nil, 0), 0)

		a.tier.SetOnline(false)
		a.tier.Lapse()
		a.expect("own", "loaded", a.loader("loaded", nil, 0), 1)
		if err := a.store.Delete([]byte("own")); err == nil {
			t.Error("deleted without a server")
		}
		a.expect("own", "loaded anew", a.loader("loaded anew", nil, 0), 1)
	})
}

// With DegradedError a value that is within the bound is an answer, too; a key without one is an
// error, and its loader is not called.
func TestNothingIsLoadedWhileAwayForErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := beginProcess(t, sharedtest.NewServer(), Options{}, bounded, func(tier *sharedtest.Tier, _ *store.Config) {
			tier.Does.Degraded = shared.DegradedError
		})
		a.expect("k", "v", a.loader("v", nil, 0), 1)
		a.tier.SetOnline(false)
		a.tier.Lapse()
		a.expect("k", shared.ErrUnavailable.Error(), a.loader("v", nil, 0), 0)
	})
}
