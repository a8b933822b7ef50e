package load

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/internal/shared/sharedtest"
	"github.com/firncache/firn/internal/store"
)

// While the shared tier is unavailable, loaders run, and their values are returned. They are
// kept where the policy lets suspect copies be answers.
func TestLoadWithoutServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := sharedtest.NewServer()
		a, b := beginProcess(t, server, Options{}), beginProcess(t, server, Options{}, degrade)
		for _, p := range []*process{a, b} {
			p.tier.SetOnline(false)
		}
		a.expect("k", "1", a.loader("1", nil, 0), 1)
		a.expect("k", "2", a.loader("2", nil, 0), 1)
		if n := a.store.Len(); n != 0 {
			t.Errorf("%d copies that can be no answer", n)
		}
		b.expect("k", "1", b.loader("1", nil, 0), 1)
		b.expect("k", "1", b.loader("2", nil, 0), 0)
		b.expect("l", none, b.loader("", local.ErrNotFound, 0), 1)
		b.local("k", none) // it is suspect
		b.tier.SetOnline(true)
		b.expect("k", "3", b.loader("3", nil, 0), 1)
		onServer(t, server, "k", "3")
	})
}

// Where the policy wants an error, a load fails instead while the shared tier is unavailable: the
// source is spared. Refresh asks it all the same.
func TestNoLoadWithoutServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, o := sharedtest.NewServer(), Options{ErrorTTL: time.Minute}
		a := beginProcess(t, server, o, func(tier *sharedtest.Tier, _ *store.Config) { tier.Does.Degraded = shared.DegradedError })
		a.expect("suspect", "v", a.loader("v", nil, 0), 1)
		a.tier.Disconnect()
		a.tier.SetOnline(false)
		for _, key := range []string{"suspect", "k"} {
			a.expect(key, shared.ErrUnavailable.Error(), a.loader("new", nil, 0), 0)
		}
		if got := a.getOrLoadMulti("k", func(_ context.Context, keys [][]byte) ([][]byte, error) { return keys, nil }); got != "- "+shared.ErrUnavailable.Error() {
			t.Errorf("GetOrLoadMulti: %s", got)
		}
		if v, err := a.refresh("k", a.loader("v", nil, 0)); v != "v" || !errors.Is(err, shared.ErrUnavailable) {
			t.Errorf("Refresh: %q, %v", v, err)
		}
		if n := a.loads.Stats(); n.Errors != 0 || n.Loads != 2 {
			t.Errorf("%d loads, %d failed", n.Loads, n.Errors)
		}
		a.tier.SetOnline(true)
		a.expect("suspect", "v", a.loader("new", nil, 0), 0)
		a.expect("k", "new", a.loader("new", nil, 0), 1)
	})
}

// A shared tier that does not answer holds a load up for its Timeout, once: before the loader
// runs, and a caller who finds a local answer not at all.
func TestLoadWithSilentServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := sharedtest.NewServer()
		a := beginProcess(t, server, Options{})
		a.expect("here", "v", a.loader("v", nil, 0), 1)
		a.expect("suspect", "v", a.loader("v", nil, 0), 1)
		a.tier.SetSilent(true)
		a.expect("here", "v", a.loader("again", nil, 0), 0)
		answer(t, a.begin("k", a.loader("v", nil, 0)), "v", time.Second)
		a.tier.Lapse()
		answer(t, a.begin("suspect", a.loader("new", nil, 0)), "new", time.Second)
	})
}

// A value that is returned while the shared tier does not take it: when its Timeout is over.
func TestStoreWithSilentServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := sharedtest.NewServer()
		a := beginProcess(t, server, Options{})
		come := a.begin("k", func(context.Context, []byte) ([]byte, error) {
			a.tier.SetSilent(true)
			return []byte("v"), nil
		})
		answer(t, come, "v", time.Second)
		if n := a.loads.Stats().Unstored; n != 1 {
			t.Errorf("%d values were not stored, want 1", n)
		}
		a.local("k", none)
	})
}

// Waiting for the shared tier, and for another process, is none of a loader's time.
func TestHardTimeoutIsOfLoader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := sharedtest.NewServer()
		server.LeaseTime, server.AwaitTime = 5*time.Second, time.Minute
		a := beginProcess(t, server, Options{HardTimeout: time.Hour})
		b := beginProcess(t, server, Options{HardTimeout: 2 * time.Second})
		first := a.begin("k", a.loader("late", nil, 10*time.Second))
		answer(t, b.begin("k", b.loader("v", nil, time.Second)), "v", 6*time.Second)
		answer(t, b.begin("l", b.loader("v", nil, 3*time.Second)), b.loads.timeout.Error(), 2*time.Second)
		<-first
	})
}

// Close ends what waits for the shared tier: its callers get ErrClosed at once.
func TestCloseWhileWaitingForServer(t *testing.T) {
	inBubbles(t, map[string]func(p *process, holder *process) Func{
		"to be leased": func(p, _ *process) Func {
			p.tier.SetSilent(true)
			return p.loader("v", nil, 0)
		},
		"for another process": func(p, holder *process) Func {
			holder.begin("k", holder.loader("late", nil, time.Minute))
			return p.loader("v", nil, 0)
		},
		"to be checked": func(p, _ *process) Func {
			p.expect("k", "v", p.loader("v", nil, 0), 1)
			p.tier.Disconnect()
			p.tier.SetSilent(true)
			return p.loader("v", nil, 0)
		},
		"to be stored": func(p, _ *process) Func {
			return func(context.Context, []byte) ([]byte, error) {
				p.tier.SetSilent(true)
				return []byte("v"), nil
			}
		},
	}, func(t *testing.T, prepare func(p, holder *process) Func) {
		server := sharedtest.NewServer()
		p, holder := beginProcess(t, server, Options{}), beginProcess(t, server, Options{HardTimeout: 2 * time.Second})
		p.tier.Timeout = time.Hour
		come := p.begin("k", prepare(p, holder))
		p.close()
		answer(t, come, local.ErrClosed.Error(), 0)
		synctest.Wait()
		if n := p.loads.Stats().Active; n != 0 {
			t.Errorf("%d loads are under way", n)
		}
		time.Sleep(2 * time.Minute) // the holder's loader
	})
}

// While as many loaders run as may, what the shared tier has is an answer, no lease is held by
// those who wait for their turn, and who waits for another process takes no turn.
func TestLimitWithServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := sharedtest.NewServer()
		a, b := beginProcess(t, server, Options{MaxLoads: 1}), beginProcess(t, server, Options{})
		b.expect("there", "v", b.loader("v", nil, 0), 1)
		running := a.begin("slow", a.loader("v", nil, time.Minute/2-time.Second))
		a.expect("there", "v", a.loader("again", nil, 0), 0)
		queued := a.begin("k", a.loader("by a", nil, 0))
		b.expect("k", "by b", b.loader("by b", nil, 0), 1) // nobody has leased it
		answer(t, running, "v", time.Minute/2-time.Second)
		answer(t, queued, "by b", 0)

		other := b.begin("l", b.loader("by b", nil, 2*time.Second))
		waiting := a.begin("l", a.loader("by a", nil, 0))
		a.expect("m", "v", a.loader("v", nil, 0), 1)
		answer(t, other, "by b", 2*time.Second)
		answer(t, waiting, "by b", 0)
	})
}

// The call's options: one that skips the local tiers asks the server, one that skips the server
// loads what it does not find here.
func TestCallOptionsOfLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := sharedtest.NewServer()
		a, b := beginProcess(t, server, Options{}), beginProcess(t, server, Options{})
		a.expect("k", "v", a.loader("v", nil, 0), 1)
		skipLocal := shared.WithCall(t.Context(), shared.Call{SkipLocal: true})
		before := a.tier.Calls()
		if got := say(a.getOrLoad(skipLocal, "k", a.loader("again", nil, 0))); got != "v" || a.tier.Calls() == before {
			t.Errorf("%q, %d requests", got, a.tier.Calls()-before)
		}
		skipShared := shared.WithCall(t.Context(), shared.Call{SkipShared: true})
		before = b.tier.Calls()
		if got := say(b.getOrLoad(skipShared, "k", b.loader("by b", nil, 0))); got != "by b" || b.tier.Calls() != before {
			t.Errorf("%q, %d requests", got, b.tier.Calls()-before)
		}
		onServer(t, server, "k", "v")
	})
}

// Callers that leave while the server is asked cancel the question.
func TestLeaveWhileServerIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := sharedtest.NewServer()
		a := beginProcess(t, server, Options{})
		a.tier.Timeout = time.Hour
		a.tier.SetSilent(true)
		ctx, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		if _, err := a.getOrLoad(ctx, "k", a.loader("v", nil, 0)); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		synctest.Wait()
		if n := a.loads.Stats().Active; n != 0 || a.called != 0 {
			t.Errorf("%d loads under way, %d loaders called", n, a.called)
		}
	})
}
