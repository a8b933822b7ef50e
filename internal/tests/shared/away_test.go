package shared

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/internal/shared/sharedtest"
	"github.com/firncache/firn/internal/tests/harness"
)

// unavailable demands an error that says so.
func unavailable(t *testing.T, call string, err error) {
	t.Helper()
	if !errors.Is(err, shared.ErrUnavailable) {
		t.Errorf("%s: %v: want ErrSharedUnavailable", call, err)
	}
}

// writesFail demands that all writes fail.
func (p *process) writesFail() {
	p.t.Helper()
	ctx := p.t.Context()
	unavailable(p.t, "Set", p.Set("k", "2"))
	unavailable(p.t, "SetMulti", p.SetMulti(ctx, []string{"k"}, []string{"2"}))
	unavailable(p.t, "Delete", p.Delete("k"))
	unavailable(p.t, "DeleteMulti", p.DeleteMulti(ctx, "k"))
	unavailable(p.t, "Clear", p.Clear(ctx))
	_, err := p.SetIfAbsent(ctx, "k", "2")
	unavailable(p.t, "SetIfAbsent", err)
	_, err = p.CompareAndSwap(ctx, "k", "1", "2")
	unavailable(p.t, "CompareAndSwap", err)
	_, err = p.Touch(ctx, "k", time.Minute)
	unavailable(p.t, "Touch", err)
}

// While the number of a namespace was never known, reads miss, writes fail, and loads call the
// loader, of which nothing is kept; but where the policy wants errors, reads and loads fail.
func TestSharedNumberNeverKnown(t *testing.T) {
	for _, d := range []shared.Degraded{shared.DegradedMiss, shared.DegradedStale, shared.DegradedError} {
		_, a, b := two(t, func(tier *sharedtest.Tier) { tier.Does.Degraded = d })
		a.set("k", "1")
		b.tier.SetOnline(false)
		if d == shared.DegradedError {
			_, err := b.Lookup(t.Context(), "k")
			unavailable(t, "Lookup", err)
			err = b.GetMulti(t.Context(), new(firn.TypedBatch[string]), []string{"k"})
			unavailable(t, "GetMulti", err)
		} else {
			b.want("k", "")
		}
		if d == shared.DegradedError {
			_, err := b.GetOrLoad(t.Context(), "k", func(context.Context, string) (string, error) { return "2", nil })
			unavailable(t, "GetOrLoad", err)
		} else {
			b.load("k", "2", true)
			b.load("k", "3", true, "t")
		}
		v, err := b.Refresh(t.Context(), "k", func(context.Context, string) (string, error) { return "4", nil })
		if unavailable(t, "Refresh", err); v != "4" {
			t.Errorf("Refresh: %q", v)
		}
		b.writesFail()
		for range b.All() {
			t.Error("All yields something")
		}
		b.tier.SetOnline(true)
		b.want("k", "1")
	}
}

// The last known number of a namespace, and of a tag, will do where a suspect copy would: a
// server that is away makes no difference between them.
func TestSharedNumberDegraded(t *testing.T) {
	for _, d := range []shared.Degraded{shared.DegradedMiss, shared.DegradedStale, shared.DegradedError} {
		_, a, b := two(t, func(tier *sharedtest.Tier) { tier.Does.Degraded = d })
		a.set("k", "1", "t")
		b.want("k", "1")
		b.tier.SetOnline(false)
		b.want("k", "1")
		b.tier.Lapse()
		switch d {
		case shared.DegradedMiss:
			b.want("k", "")
			ctx := shared.WithCall(t.Context(), shared.Call{Degraded: shared.DegradedStale, HasDegraded: true})
			if v, err := b.Lookup(ctx, "k"); v != "1" || err != nil {
				t.Errorf("a call that takes a stale one: %q, %v", v, err)
			}
			b.load("k", "2", true)
		case shared.DegradedStale:
			b.want("k", "1")
		case shared.DegradedError:
			_, err := b.Lookup(t.Context(), "k")
			unavailable(t, "Lookup", err)
			if _, ok := b.Get("k"); ok {
				t.Error("Get finds a suspect copy")
			}
		}
		b.writesFail()
		if _, ok := b.Get("k"); ok {
			t.Error("a value is found after a Clear that may have been made")
		}
	}
}

// A number that another process is known to have changed will not do.
func TestSharedNumberVoidedWhileAway(t *testing.T) {
	_, a, b := two(t, func(tier *sharedtest.Tier) { tier.Does.Degraded = shared.DegradedStale })
	a.set("k", "1")
	b.want("k", "1")
	b.tier.SetOnline(false)
	harness.Must(t, a.Clear(t.Context()))
	b.want("k", "")
}

// A check of a number that takes longer than SoftTimeout goes on, and ends by itself.
func TestSharedNumberSoftTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := two(t, func(tier *sharedtest.Tier) {
			tier.Does.Degraded, tier.Does.SoftTimeout = shared.DegradedStale, 10*time.Millisecond
		})
		a.set("k", "1")
		b.want("k", "1")
		b.tier.Disconnect()
		b.tier.SetSilent(true)
		began := time.Now()
		if v, ok := b.Get("k"); v != "1" || !ok {
			t.Errorf("got %q, %v", v, ok)
		}
		if took := time.Since(began); took > 20*time.Millisecond {
			t.Errorf("it took %v: want two soft timeouts", took)
		}
		b.tier.SetSilent(false)
		synctest.Wait()
		before := b.tier.Called("Number")
		b.want("k", "1")
		if n := b.tier.Called("Number") - before; n != 0 {
			t.Errorf("the number was asked for %d times more", n)
		}
	})
}

// A context ends the wait for a number.
func TestSharedNumberContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, b := two(t)
		b.tier.SetSilent(true)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		_, err := b.Lookup(ctx, "k")
		_, lerr := b.GetOrLoad(ctx, "k", func(context.Context, string) (string, error) { return "", nil })
		for call, err := range map[string]error{
			"Lookup": err, "GetOrLoad": lerr,
			"SetWith": b.SetWith(ctx, "k", "1", firn.SetOptions{}), "SetWith, tags": b.SetWith(ctx, "k", "1", firn.SetOptions{Tags: []string{"t"}}),
			"DeleteMulti, 1": b.DeleteMulti(ctx, "k"), "Clear": b.Clear(ctx),
			"SetMulti":      b.SetMulti(ctx, []string{"k"}, []string{"1"}),
			"DeleteMulti":   b.DeleteMulti(ctx, "k", "l"),
			"InvalidateTag": b.InvalidateTag(ctx, "t"),
		} {
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", call, err)
			}
		}
		if got := b.c.Close(); got != nil {
			t.Error(got)
		}
		if _, err := b.Lookup(t.Context(), "k"); !errors.Is(err, firn.ErrClosed) {
			t.Errorf("Lookup after Close: %v", err)
		}
		if err := b.Set("k", "1"); !errors.Is(err, firn.ErrClosed) {
			t.Errorf("Set after Close: %v", err)
		}
	})
}

// An old and a new version of a program share the keys: a read of one deletes nothing that the
// other can read, and a write or load of one is one for both.
func TestSharedRollOut(t *testing.T) {
	server := sharedtest.NewServer()
	old := newProcess(t, server, firn.TypedOptions[string, string]{})
	next := newProcess(t, server, firn.TypedOptions[string, string]{Version: 1})
	old.set("k", "1")
	next.wantRead("k", "")
	if n := next.Stats().Mismatches; n == 0 {
		t.Error("no mismatches were counted")
	}
	if _, ok, err := next.Compute(t.Context(), "k", func(string, bool) (string, firn.Op) { return "", firn.OpKeep }); ok || err != nil {
		t.Errorf("a Compute finds %v, %v", ok, err)
	}
	old.want("k", "1")
	next.load("k", "2", true)
	next.want("k", "2")
	old.wantRead("k", "")
	next.want("k", "2")
	harness.Must(t, old.Delete("k"))
	next.want("k", "")
	next.set("k", "3")
	harness.Must(t, old.Clear(t.Context()))
	next.want("k", "")
}

// While the number of a namespace is not known, the source is asked for a key once in each bound, also
// where the numbers of its tags are not known either. What is kept of that is no answer once the
// number was known again, or a tag was invalidated, and nothing of it is on the server.
func TestOneTypedLoadEachBoundWhileAway(t *testing.T) {
	for _, d := range []shared.Degraded{shared.DegradedMiss, shared.DegradedStale} {
		for _, tags := range [][]string{nil, {"t", "u"}} {
			synctest.Test(t, func(t *testing.T) { testOneTypedLoadEachBound(t, d, tags) })
		}
	}
}

func testOneTypedLoadEachBound(t *testing.T, d shared.Degraded, tags []string) {
	_, _, b := two(t, func(tier *sharedtest.Tier) { tier.Does.Bound, tier.Does.Degraded = time.Second, d })
	calls := 0
	load := func(want string) {
		t.Helper()
		v, err := b.GetOrLoad(t.Context(), "k", func(ctx context.Context, _ string) (string, error) {
			calls++
			return "source", firn.SetLoadTags(ctx, tags...)
		})
		if v != want || err != nil {
			t.Errorf("GetOrLoad: %q, %v: want %q", v, err, want)
		}
	}
	loadMulti := func() {
		t.Helper()
		batch := new(firn.TypedBatch[string])
		err := b.GetOrLoadMulti(t.Context(), batch, []string{"k"}, func(ctx context.Context, _ []string) (map[string]string, error) {
			calls++
			return map[string]string{"k": "source"}, firn.SetLoadTags(ctx, tags...)
		})
		if v, ok := batch.Value(0); !ok || v != "source" || err != nil {
			t.Errorf("GetOrLoadMulti: %q, %v, %v", v, ok, err)
		}
	}
	b.tier.SetOnline(false)
	b.tier.Lapse()
	for range 15 {
		load("source")
		time.Sleep(100 * time.Millisecond)
		loadMulti()
		time.Sleep(100 * time.Millisecond)
	}
	if calls > 4 {
		t.Errorf("%v, tags %q: %d loads in 3 s: want one a second", d, tags, calls)
	}
	load("source") // now
	if calls = 0; d == shared.DegradedMiss && tags != nil {
		unavailable(t, "InvalidateTag", b.InvalidateTag(t.Context(), "u"))
		if load("source"); calls != 1 {
			t.Errorf("%d loads after InvalidateTag: want one", calls)
		}
	}
	b.tier.SetOnline(true)
	b.tier.Resume()
	b.want("k", "")
	b.tier.Disconnect()
	b.tier.SetOnline(false)
	calls = 0
	if load("source"); calls != 1 {
		t.Errorf("%v, tags %q: %d loads: what was kept in the outage before is an answer", d, tags, calls)
	}
}

// A value whose tags could not be had, though the server had been asked for its key, is kept
// nowhere.
func TestTagsUnknownMeanwhile(t *testing.T) {
	_, a, b := two(t)
	for range 2 {
		calls := 0
		_, err := b.GetOrLoad(t.Context(), "k", func(ctx context.Context, _ string) (string, error) {
			calls++
			b.tier.SetOnline(false)
			defer b.tier.SetOnline(true)
			return "1", firn.SetLoadTags(ctx, "t")
		})
		if calls != 1 || err != nil {
			t.Errorf("%d loads, %v: want one", calls, err)
		}
		a.want("k", "")
	}
}
