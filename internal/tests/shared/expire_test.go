package shared

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/internal/shared/sharedtest"
	"github.com/firncache/firn/internal/tests/harness"
)

var errSource = errors.New("the source is down")

func down(context.Context, string) (string, error) { return "", errSource }

// inFleet runs a test in a bubble with processes whose loads that fail have old values for an hour.
func inFleet(t *testing.T, processes int, test func(t *testing.T, server *sharedtest.Server, all []*process)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server := sharedtest.NewServer()
		var all []*process
		for range processes {
			all = append(all, staleProcess(t, server))
		}
		test(t, server, all)
	})
}

func staleProcess(t *testing.T, server *sharedtest.Server) *process {
	t.Helper()
	p := &process{t: t, tier: server.Tier()}
	p.c = harness.Open(t, firn.Options{RAMBytes: 1 << 20, Shared: p.tier, Clock: time.Now})
	p.Typed = typedShared(t, p.c, firn.TypedOptions[string, string]{
		Loading: firn.LoadingOptions{StaleIfError: time.Hour, RetryAfter: time.Millisecond, MaxLoads: 1},
	})
	return p
}

func (p *process) expire(tag string) {
	p.t.Helper()
	harness.Must(p.t, p.ExpireTag(p.t.Context(), tag))
}

// wantStale demands a stale answer while the source is down, or the source's error where it is empty.
func (p *process) wantStale(when, key, value string) {
	p.t.Helper()
	ctx := p.t.Context()
	for how, ctx := range map[string]context.Context{"": ctx, " past the copies": shared.WithCall(ctx, shared.Call{SkipLocal: true})} {
		time.Sleep(5 * time.Second) // beyond RetryAfter
		for _, call := range []string{"load", "during the pause"} {
			e, err := p.GetOrLoadEntry(ctx, key, down)
			switch {
			case value == "" && err != errSource:
				p.t.Errorf("%s, %s%s: %q, %v, %v of a source that is down", when, call, how, e.Value, e.Outcome, err)
			case value != "" && (e.Value != value || err != nil || e.Outcome != firn.OutcomeStale):
				p.t.Errorf("%s, %s%s: %q, %v, %v of a source that is down: want %q, stale", when, call, how, e.Value, e.Outcome, err, value)
			}
		}
	}
}

// A tag that one process lets expire is expired for all: no read finds its values, also in a process
// that has none of them yet, and while the source is down loads give them for as long as
// StaleIfError says. A load makes them new for all.
func TestSharedExpireTag(t *testing.T) {
	for name, test := range map[string]struct {
		ttl    time.Duration
		leases bool
	}{"Forever": {firn.Forever, true}, "a day": {24 * time.Hour, true}, "without leases": {firn.Forever, false}} {
		t.Run(name, func(t *testing.T) {
			inFleet(t, 2, func(t *testing.T, server *sharedtest.Server, all []*process) {
				server.Leases = test.leases
				ttl, a, b := test.ttl, all[0], all[1]
				harness.Must(t, a.SetWith(t.Context(), "k", "1", firn.SetOptions{TTL: ttl, Tags: []string{"s", "t"}}))
				harness.Must(t, a.SetWith(t.Context(), "late", "1", firn.SetOptions{TTL: ttl, Tags: []string{"t"}}))
				a.set("other", "1", "s")
				b.want("k", "1")
				b.expire("t")
				all = append(all, staleProcess(t, server))
				for i, p := range all {
					p.want("k", "")
					p.want("other", "1")
					p.wantStale(fmt.Sprintf("at once, process %d", i), "k", "1")
					p.want("k", "")
				}
				time.Sleep(58 * time.Minute)
				for i, p := range all {
					p.wantStale(fmt.Sprintf("after 58 minutes, process %d", i), "k", "1")
				}
				time.Sleep(10 * time.Second) // beyond RetryAfter
				v, err := all[2].GetOrLoad(t.Context(), "k", func(ctx context.Context, _ string) (string, error) {
					return "2", firn.SetLoadTags(ctx, "s", "t")
				})
				if v != "2" || err != nil {
					t.Errorf("%q, %v of the source", v, err)
				}
				for _, p := range all {
					p.want("k", "2")
				}
				time.Sleep(2 * time.Minute)
				for i, p := range all {
					p.wantStale(fmt.Sprintf("after an hour, process %d", i), "late", "")
				}
			})
		})
	}
}

// While an expired value is being refreshed it is the answer, once: then the new one is, for all.
func TestSharedExpireTagRevalidates(t *testing.T) {
	for name, call := range map[string]shared.Call{"of its copy": {}, "of the server": {SkipLocal: true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, a, b := two(t)
				a.Typed = typedShared(t, a.c, firn.TypedOptions[string, string]{Loading: firn.LoadingOptions{StaleWhileRevalidate: time.Hour}})
				a.set("k", "1", "t")
				b.expire("t")
				loads := 0
				load := func() (firn.TypedEntry[string], error) {
					defer synctest.Wait()
					return a.GetOrLoadEntry(shared.WithCall(t.Context(), call), "k", func(context.Context, string) (string, error) {
						loads++
						return "2", nil
					})
				}
				if e, err := load(); e.Value != "1" || e.Outcome != firn.OutcomeStale || err != nil || loads != 1 {
					t.Errorf("%+v, %v after %d loads: want the old value, and one load behind it", e, err, loads)
				}
				if e, err := load(); e.Value != "2" || e.Outcome != firn.OutcomeHit || err != nil || loads != 1 {
					t.Errorf("%+v, %v after %d loads: want the new value", e, err, loads)
				}
				b.want("k", "2")
			})
		})
	}
}

// A load that waits for its turn finds an expired value as stale as one that has it.
func TestSharedExpireTagBehindALoad(t *testing.T) {
	inFleet(t, 2, func(t *testing.T, _ *sharedtest.Server, all []*process) {
		a, b := all[0], all[1]
		a.set("k", "1", "t")
		b.set("l", "1", "t")
		a.expire("t")
		b.want("l", "") // b knows the number, and has no copy of k
		end, done := make(chan struct{}), make(chan error)
		go func() {
			_, err := b.GetOrLoad(t.Context(), "busy", func(context.Context, string) (string, error) { <-end; return "1", nil })
			done <- err
		}()
		synctest.Wait()
		go func() {
			ctx := shared.WithCall(t.Context(), shared.Call{SkipLocal: true})
			e, err := b.GetOrLoadEntry(ctx, "k", down)
			if err == nil && (e.Value != "1" || e.Outcome != firn.OutcomeStale) {
				err = fmt.Errorf("%q, %v", e.Value, e.Outcome)
			}
			done <- err
		}()
		synctest.Wait()
		close(end)
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}

// Each of the last expiries counts from its own moment: a later one does not give back what was over.
func TestSharedExpireTagAgain(t *testing.T) {
	inFleet(t, 2, func(t *testing.T, _ *sharedtest.Server, all []*process) {
		a, b := all[0], all[1]
		a.set("old", "1", "t")
		a.set("both", "1", "t", "u")
		a.expire("t")
		time.Sleep(40 * time.Minute)
		a.expire("u")
		b.set("new", "2", "t")
		b.expire("t")
		for _, p := range all {
			p.wantStale("twice", "old", "1")
			p.wantStale("by two tags", "both", "1")
			p.wantStale("once", "new", "2")
		}
		time.Sleep(30 * time.Minute)
		for _, p := range all {
			p.wantStale("for more than an hour", "old", "")
			p.wantStale("by one tag for more than an hour", "both", "")
			p.wantStale("for less than an hour", "new", "2")
		}
		for range shared.MaxFormer {
			b.expire("t")
		}
		for _, p := range all {
			p.wantStale("by more expiries than are remembered", "new", "")
		}
	})
}

// What is invalidated is not stale, whichever of its tags, and whatever has expired before and after.
func TestSharedExpireAndInvalidate(t *testing.T) {
	for name, change := range map[string]func(a, b *process){
		"before":      func(a, b *process) { harness.Must(a.t, a.InvalidateTag(a.t.Context(), "t")); b.expire("t") },
		"after":       func(a, b *process) { a.expire("t"); harness.Must(b.t, b.InvalidateTag(b.t.Context(), "t")) },
		"another tag": func(a, b *process) { a.expire("t"); harness.Must(b.t, b.InvalidateTag(b.t.Context(), "s")) },
		"over": func(a, b *process) {
			time.Sleep(31 * time.Minute)
			harness.Must(b.t, b.InvalidateTag(b.t.Context(), "t"))
		},
		"cleared": func(a, b *process) { a.expire("t"); harness.Must(b.t, b.Clear(b.t.Context())) },
	} {
		t.Run(name, func(t *testing.T) {
			inFleet(t, 2, func(t *testing.T, _ *sharedtest.Server, all []*process) {
				a, b := all[0], all[1]
				harness.Must(t, a.SetWith(t.Context(), "k", "1", firn.SetOptions{TTL: 30 * time.Minute, Tags: []string{"s", "t"}}))
				b.want("k", "1")
				change(a, b)
				for _, p := range all {
					p.wantStale("invalidated", "k", "")
				}
			})
		})
	}
}

// A number that the server has lost leaves nothing to be stale.
func TestSharedExpireTagForgotten(t *testing.T) {
	inFleet(t, 1, func(t *testing.T, server *sharedtest.Server, all []*process) {
		a := all[0]
		a.set("k", "1", "t")
		a.expire("t")
		a.wantStale("expired", "k", "1")
		server.ForgetNumbers()
		a.wantStale("forgotten", "k", "")
		a.set("k", "2", "t")
		server.ForgetNumbers()
		a.expire("t")
		a.wantStale("expired after it was forgotten", "k", "")
	})
}

// A value that a load makes while its tag expires is stale, or is not kept; never fresh.
func TestSharedExpireTagDuringLoad(t *testing.T) {
	for name, early := range map[string]bool{"named before": true, "named after": false} {
		t.Run(name, func(t *testing.T) {
			inFleet(t, 2, func(t *testing.T, _ *sharedtest.Server, all []*process) {
				a, b := all[0], all[1]
				if loadThen(b, early, func() { a.expire("t") }) {
					t.Error("a value from before is found")
				}
				b.want("k", "")
				a.want("k", "")
			})
		})
	}
}

// A loader that finds its value not modified makes the expired one new, for all.
func TestSharedExpireTagNotModified(t *testing.T) {
	inFleet(t, 2, func(t *testing.T, _ *sharedtest.Server, all []*process) {
		a, b := all[0], all[1]
		a.set("k", "1", "t", "u")
		a.expire("t")
		v, err := b.GetOrLoad(t.Context(), "k", func(ctx context.Context, _ string) (string, error) {
			if old, ok := b.CachedValue(ctx); !ok || old != "1" {
				t.Errorf("the loader sees %q, %v", old, ok)
			}
			return "", firn.ErrNotModified
		})
		if v != "1" || err != nil {
			t.Errorf("%q, %v", v, err)
		}
		a.want("k", "1")
		b.want("k", "1")
	})
}

// A tag does not expire while the server is away, and the value stays.
func TestSharedExpireTagAway(t *testing.T) {
	inFleet(t, 1, func(t *testing.T, _ *sharedtest.Server, all []*process) {
		a := all[0]
		a.set("k", "1", "t")
		a.tier.SetOnline(false)
		if err := a.ExpireTag(t.Context(), "t"); !errors.Is(err, shared.ErrUnavailable) {
			t.Errorf("%v: want it unavailable", err)
		}
		a.tier.SetOnline(true)
		a.want("k", "1")
	})
}
