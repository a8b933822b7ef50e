package load

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/shared/sharedtest"
)

// A negative entry of one process answers in all, and ends for all with a write.
func TestNegativeEntryOfAllProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, o := sharedtest.NewServer(), Options{NegativeTTL: 20 * time.Second}
		a, b := beginProcess(t, server, o), beginProcess(t, server, o)
		a.expect("k", none, a.loader("", local.ErrNotFound, 0), 1)
		b.expect("k", none, b.loader("by b", nil, 0), 0)
		before := b.tier.Calls()
		b.expect("k", none, b.loader("by b", nil, 0), 0)
		if n := b.tier.Calls() - before; n != 0 || b.loads.Stats().NegativeHits != 2 {
			t.Errorf("%d requests for a negative entry that is here, %d hits", n, b.loads.Stats().NegativeHits)
		}
		time.Sleep(20 * time.Second)
		b.expect("k", "by b", b.loader("by b", nil, 0), 1)
		a.remove("k")
		a.expect("k", none, a.loader("", local.ErrNotFound, 0), 1)
		b.set("k", "set")
		a.expect("k", "set", a.loader("", local.ErrNotFound, 0), 0)
	})
}

// A value past its deadline that the server alone has is an answer as one that is here: under
// StaleWhileRevalidate at once, and one process loads it anew; under StaleIfError if the load
// fails, or is late.
func TestStaleValueOnServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := sharedtest.NewServer()
		o := Options{StaleWhileRevalidate: time.Minute, StaleIfError: time.Hour, SoftTimeout: 100 * time.Millisecond}
		a, b, c := beginProcess(t, server, o), beginProcess(t, server, o), beginProcess(t, server, o)
		a.expect("k", "old", a.loader("old", nil, 0), 1)
		time.Sleep(life + 30*time.Second)
		b.expect("k", "old", b.loader("new", nil, time.Second), 1)
		c.expect("k", "old", c.loader("new", nil, time.Second), 0) // b does
		time.Sleep(time.Second)
		synctest.Wait()
		for _, p := range []*process{a, b, c} {
			p.expect("k", "new", p.loader("newer", nil, 0), 0)
		}
		onServer(t, server, "k", "new")

		time.Sleep(life + 2*time.Minute) // too old to be the answer at once
		d := beginProcess(t, server, o)
		d.expect("k", "new", d.loader("", errSource, 0), 1)
		if n := d.loads.Stats(); n.StaleOnError != 1 || n.StaleServed != 1 {
			t.Errorf("%d stale values after an error, %d in all, want 1", n.StaleOnError, n.StaleServed)
		}
		e := beginProcess(t, server, o)
		answer(t, e.begin("k", e.loader("newest", nil, time.Second)), "new", o.SoftTimeout)
		time.Sleep(time.Second)
		synctest.Wait()
		e.local("k", "newest")
		onServer(t, server, "k", "newest")
	})
}

// A suspect copy that is stale is no answer before it was checked: the server may have a newer
// value. If it cannot be checked it is one where the policy says so, and for the reasons for
// which a stale value is.
func TestSuspectStaleCopy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := sharedtest.NewServer()
		o := Options{StaleWhileRevalidate: time.Minute, StaleIfError: time.Hour}
		a, b := beginProcess(t, server, o, degrade), beginProcess(t, server, o, degrade)
		b.expect("k", "old", b.loader("old", nil, 0), 1)
		time.Sleep(life - time.Second)
		b.tier.HoldPushes()
		a.set("k", "new")
		b.tier.Disconnect() // and the push is lost
		time.Sleep(2 * time.Second)
		b.expect("k", "new", b.loader("loaded", nil, 0), 0)
		b.tier.DeliverPushes()

		time.Sleep(life + 10*time.Second)
		b.tier.Disconnect()
		b.tier.SetOnline(false)
		b.expect("k", "new", b.loader("", errSource, 0), 1)
	})
	synctest.Test(t, func(t *testing.T) { // without that policy, a suspect copy is none
		server, o := sharedtest.NewServer(), Options{StaleWhileRevalidate: time.Minute, StaleIfError: time.Hour}
		b := beginProcess(t, server, o)
		b.expect("k", "old", b.loader("old", nil, 0), 1)
		time.Sleep(life + time.Second)
		b.tier.Disconnect()
		b.tier.SetOnline(false)
		b.expect("k", errSource.Error(), b.loader("", errSource, 0), 1)
	})
}

// A suspect copy that is the latest is an answer after its check, and its value is not sent.
func TestSuspectCopyIsChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := sharedtest.NewServer()
		b := beginProcess(t, server, Options{})
		b.expect("k", "v", b.loader("v", nil, 0), 1)
		b.tier.Disconnect()
		before := b.tier.Calls()
		b.expect("k", "v", b.loader("again", nil, 0), 0)
		if n := b.tier.Calls() - before; n != 1 || b.store.SharedStats().Unchanged != 1 {
			t.Errorf("%d requests, %d copies unchanged, want 1", n, b.store.SharedStats().Unchanged)
		}
		b.local("k", "v")
	})
}

// A value that is due is refreshed by one process. The others leave it to that one, do not ask
// again at once, and get its value with the next call.
func TestRefreshByOneProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, o := sharedtest.NewServer(), Options{RefreshAfter: life / 2}
		a, b := beginProcess(t, server, o), beginProcess(t, server, o)
		a.expect("k", "old", a.loader("old", nil, 0), 1)
		b.expect("k", "old", b.loader("old", nil, 0), 0)
		time.Sleep(life/2 + time.Second)
		slow := 500 * time.Millisecond
		a.expect("k", "old", a.loader("new", nil, slow), 1)
		asked := b.tier.Calls()
		b.expect("k", "old", b.loader("another", nil, slow), 0)
		b.expect("k", "old", b.loader("another", nil, slow), 0)
		if n, active := b.tier.Calls()-asked, b.loads.Stats().Active; n != 1 || active != 0 {
			t.Errorf("%d requests to leave a refresh to another process, want 1; %d wait for it", n, active)
		}
		time.Sleep(slow)
		synctest.Wait()
		for _, p := range []*process{a, b} {
			p.expect("k", "new", p.loader("newer", nil, 0), 0)
		}
	})
}

// A process that joins a refresh that is to be left to another gets an answer.
func TestMissJoinsRefreshOfOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, o := sharedtest.NewServer(), Options{RefreshAfter: life / 2, StaleIfError: time.Hour}
		a, b := beginProcess(t, server, o), beginProcess(t, server, o)
		a.expect("k", "old", a.loader("old", nil, 0), 1)
		b.expect("k", "old", b.loader("old", nil, 0), 0)
		time.Sleep(life - 100*time.Millisecond)
		a.expect("k", "old", a.loader("new", nil, time.Second), 1)
		asks, ask := make(chan bool), make(chan bool)
		b.tier.OnRequest = func(call, _ string) {
			if call == "Lease" {
				asks <- true
				<-ask
			}
		}
		b.expectBegun("k", "old", b.loader("by b", nil, 0))
		<-asks
		time.Sleep(200 * time.Millisecond) // the value has expired
		come := b.begin("k", b.loader("by b", nil, 0))
		b.tier.OnRequest = nil
		close(ask)
		answer(t, come, "new", 800*time.Millisecond)
		if b.called != 0 {
			t.Errorf("%d loaders were called", b.called)
		}
	})
}

// expectBegun is expect that does not wait for what begins in the background.
func (p *process) expectBegun(key, want string, load Func) {
	p.t.Helper()
	if got := say(p.getOrLoad(p.t.Context(), key, load)); got != want {
		p.t.Errorf("GetOrLoad of %s: %q, want %q", key, got, want)
	}
}

// Refresh asks the source, whatever other processes have or load, and waits for none of them.
// What it finds none of is taken out for all; as is what SetLoadTTL lets nobody keep.
func TestRefreshReplacesForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := sharedtest.NewServer()
		a, b := beginProcess(t, server, Options{}), beginProcess(t, server, Options{})
		refresh := func(p *process, want string, load Func) {
			t.Helper()
			if got := say(p.refresh("k", load)); got != want {
				t.Errorf("Refresh: %q, want %q", got, want)
			}
		}
		a.expect("k", "old", a.loader("old", nil, 0), 1)
		refresh(b, "new", b.loader("new", nil, 0))
		a.expect("k", "new", a.loader("", errSource, 0), 0)
		refresh(b, errSource.Error(), b.loader("", errSource, 0))
		a.expect("k", "new", a.loader("", errSource, 0), 0)
		refresh(b, none, b.loader("", local.ErrNotFound, 0))
		onServer(t, server, "k", none)
		a.local("k", none)

		first := a.begin("k", a.loader("by a", nil, time.Second))
		refresh(b, "by b", b.loader("by b", nil, 0))
		onServer(t, server, "k", "by b")
		answer(t, first, "by a", time.Second)
		a.expect("k", "by b", a.loader("", errSource, 0), 0)

		refresh(b, "kept by nobody", func(ctx context.Context, _ []byte) ([]byte, error) {
			return []byte("kept by nobody"), SetTTL(ctx, 0)
		})
		onServer(t, server, "k", none)
		a.local("k", none)
		b.local("k", none)
		a.expect("k", "again", a.loader("again", nil, 0), 1)
	})
}

func (p *process) refresh(key string, load Func) (string, error) {
	v, err := p.loads.Refresh(p.t.Context(), nil, []byte(key), load)
	return string(v), err
}

// A loader is shown the value that the server alone has, and keeps it for all.
func TestNotModifiedOnServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, o := sharedtest.NewServer(), Options{StaleIfError: time.Hour}
		a, b := beginProcess(t, server, o), beginProcess(t, server, o)
		a.expect("k", "v", a.loader("v", nil, 0), 1)
		time.Sleep(life + time.Second)
		b.expect("k", "v", func(ctx context.Context, _ []byte) ([]byte, error) {
			b.called++
			if v, ok := CachedValue(ctx, nil); !ok || string(v) != "v" {
				t.Errorf("the loader is shown %q, %v", v, ok)
			}
			return nil, ErrNotModified
		}, 1)
		a.expect("k", "v", a.loader("again", nil, 0), 0)
		time.Sleep(life - time.Second)
		b.local("k", "v")
	})
}

// A remembered error is no answer where another process has a value by now.
func TestErrorOfOneProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, o := sharedtest.NewServer(), Options{ErrorTTL: time.Minute}
		a, b := beginProcess(t, server, o), beginProcess(t, server, o)
		b.expect("k", errSource.Error(), b.loader("", errSource, 0), 1)
		b.expect("k", errSource.Error(), b.loader("by b", nil, 0), 0)
		if n := b.loads.Stats().ErrorHits; n != 1 {
			t.Errorf("%d error hits, want 1", n)
		}
		a.expect("k", "by a", a.loader("by a", nil, 0), 1)
		b.expect("k", "by a", b.loader("by b", nil, 0), 0)
		b.tier.SetOnline(false)
		b.expect("l", errSource.Error(), b.loader("", errSource, 0), 1)
		b.expect("l", errSource.Error(), b.loader("by b", nil, 0), 0)
	})
}

// A value that is too large for the shared tier is returned, and kept nowhere; nor is an older
// one.
func TestTooLargeForServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := sharedtest.NewServer()
		server.TooLarge = 10
		a := beginProcess(t, server, Options{})
		a.expect("k", "small", a.loader("small", nil, 0), 1)
		v, err := a.refresh("k", a.loader("larger than that", nil, 0))
		if v != "larger than that" || !errors.Is(err, local.ErrTooLarge) {
			t.Errorf("Refresh: %q, %v", v, err)
		}
		onServer(t, server, "k", none)
		a.local("k", none)
		a.expect("k", "larger than that", a.loader("larger than that", nil, 0), 1)
		a.expect("k", "small", a.loader("small", nil, 0), 1)
		if n := a.loads.Stats().Unstored; n != 2 {
			t.Errorf("%d values were not stored, want 2", n)
		}
	})
}
