package load

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/internal/shared/sharedtest"
	"github.com/firncache/firn/internal/store"
)

// process is what a cache makes of its tiers and its loads, above a server that others share.
type process struct {
	t      *testing.T
	store  store.Store
	loads  Group
	tier   *sharedtest.Tier
	called int // loaders; of a bubble: it is looked at when nothing runs
}

const life = 10 * time.Minute // of loaded values

func beginProcess(t *testing.T, server *sharedtest.Server, o Options, change ...func(*sharedtest.Tier, *store.Config)) *process {
	t.Helper()
	p := &process{t: t, tier: server.Tier()}
	cfg := store.Config{Shared: p.tier, Config: local.Config{RAMBytes: 1 << 20, Clock: time.Now, Grace: o.Grace()}}
	for _, f := range change {
		f(p.tier, &cfg)
	}
	if err := p.store.Open(cfg); err != nil {
		t.Fatal(err)
	}
	p.loads.Open(&p.store, Config{Options: o, TTL: life})
	t.Cleanup(p.close)
	return p
}

// degrade makes suspect copies answers while the tier is unavailable.
func degrade(tier *sharedtest.Tier, _ *store.Config) { tier.Does.Degraded = shared.DegradedStale }

func (p *process) close() {
	p.loads.Close()
	_ = p.store.Close()
}

// getOrLoad is Cache.GetOrLoad.
func (p *process) getOrLoad(ctx context.Context, key string, load Func) (string, error) {
	v, deadline, known, err := p.store.LookupLocal(ctx, nil, []byte(key))
	if err == nil {
		if known && p.loads.NeedsRefresh(deadline) {
			p.loads.RefreshFound(ctx, []byte(key), load)
		}
		return string(v), nil
	}
	v, _, err = p.loads.Load(ctx, nil, []byte(key), load, false)
	return string(v), err
}

// begin begins a GetOrLoad, and returns when it waits: its answer comes.
func (p *process) begin(key string, load Func) (come chan string) {
	come = make(chan string, 1)
	go func() { come <- say(p.getOrLoad(p.t.Context(), key, load)) }()
	synctest.Wait()
	return come
}

// say is an answer in words: the value, or the error.
func say(v string, err error) string {
	if err != nil {
		return err.Error()
	}
	return v
}

// loader answers after a while.
func (p *process) loader(value string, err error, slow time.Duration) Func {
	return func(ctx context.Context, _ []byte) ([]byte, error) {
		p.called++
		if slow > 0 {
			time.Sleep(slow) // a loader that does not heed its context
		}
		return []byte(value), err
	}
}

// expect checks an answer, that it came without waiting, and how many loaders were called.
func (p *process) expect(key, want string, load Func, called int) {
	p.t.Helper()
	before, began := p.called, time.Now()
	if got := say(p.getOrLoad(p.t.Context(), key, load)); got != want {
		p.t.Errorf("GetOrLoad of %s: %q, want %q", key, got, want)
	}
	if d := time.Since(began); d != 0 {
		p.t.Errorf("GetOrLoad of %s took %v", key, d)
	}
	synctest.Wait()
	if n := p.called - before; n != called {
		p.t.Errorf("GetOrLoad of %s: %d loaders were called, want %d", key, n, called)
	}
}

// local demands the value of a key without a request, or that there is none.
func (p *process) local(key, want string) {
	p.t.Helper()
	before := p.tier.Calls()
	v, _, _, err := p.store.LookupLocal(p.t.Context(), nil, []byte(key))
	if got := say(string(v), err); got != want {
		p.t.Errorf("locally %s is %q, want %q", key, got, want)
	}
	if n := p.tier.Calls() - before; n != 0 {
		p.t.Errorf("%d requests for what is local", n)
	}
}

const none = "firn: not found"

// onServer demands what the server has of a key; none if nothing.
func onServer(t *testing.T, s *sharedtest.Server, key, want string) {
	t.Helper()
	got, ok := s.Value(key)
	if !ok {
		got = none
	}
	if got != want {
		t.Errorf("the server has %q of %s, want %q", got, key, want)
	}
}

// answer demands what a GetOrLoad that was begun answers, and how long from now it takes.
func answer(t *testing.T, come chan string, want string, after time.Duration) {
	t.Helper()
	began := time.Now()
	if got := <-come; got != want {
		t.Errorf("it answers %q, want %q", got, want)
	}
	if d := time.Since(began); d != after {
		t.Errorf("it answers after %v, want %v", d, after)
	}
}

var errSource = errors.New("the source is down")

// set and remove are writes by a process.
func (p *process) set(key, value string) {
	p.t.Helper()
	k := []byte(key)
	if err := p.store.Set(p.store.Hash(k), k, []byte(value), p.store.Now()+life.Milliseconds()); err != nil {
		p.t.Error(err)
	}
}

func (p *process) remove(key string) {
	p.t.Helper()
	if err := p.store.Delete([]byte(key)); err != nil {
		p.t.Error(err)
	}
}

// inBubbles runs a test in a bubble each, by name.
func inBubbles[T any](t *testing.T, cases map[string]T, test func(t *testing.T, x T)) {
	for name, x := range cases {
		t.Run(fmt.Sprint(name), func(t *testing.T) { synctest.Test(t, func(t *testing.T) { test(t, x) }) })
	}
}
