package shared

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/shared/sharedtest"
	"github.com/firncache/firn/internal/tests/harness"
)

// process is a process of its own on a shared server, with a typed cache.
type process struct {
	t    *testing.T
	tier *sharedtest.Tier
	c    *firn.Cache
	*firn.Typed[string, string]
}

// newProcess begins a process.
func newProcess(t *testing.T, server *sharedtest.Server, opts firn.TypedOptions[string, string], change ...func(*sharedtest.Tier)) *process {
	t.Helper()
	p := &process{t: t, tier: server.Tier()}
	for _, f := range change {
		f(p.tier)
	}
	p.c = harness.Open(t, firn.Options{RAMBytes: 1 << 20, Shared: p.tier})
	p.Typed = typedShared(t, p.c, opts)
	return p
}

func typedShared(t *testing.T, c *firn.Cache, opts firn.TypedOptions[string, string]) *firn.Typed[string, string] {
	t.Helper()
	typed, err := firn.NewTyped(c, "users", opts)
	if err != nil {
		t.Fatal(err)
	}
	return typed
}

// two are two processes on a server.
func two(t *testing.T, change ...func(*sharedtest.Tier)) (server *sharedtest.Server, a, b *process) {
	server = sharedtest.NewServer()
	opts := firn.TypedOptions[string, string]{}
	return server, newProcess(t, server, opts, change...), newProcess(t, server, opts, change...)
}

func (p *process) set(key, value string, tags ...string) {
	p.t.Helper()
	if err := p.SetWith(context.Background(), key, value, firn.SetOptions{Tags: tags}); err != nil {
		p.t.Fatal(err)
	}
}

// want demands a value, or none if it is empty, of every kind of read.
func (p *process) want(key, value string) {
	p.t.Helper()
	p.wantRead(key, value)
	if ok := p.Has(key); ok != (value != "") {
		p.t.Errorf("Has %q: %v", key, ok)
	}
}

// wantRead is want, but for Has, which does not look whether the value can be read.
func (p *process) wantRead(key, value string) {
	p.t.Helper()
	v, ok := p.Get(key)
	if v != value || ok != (value != "") {
		p.t.Errorf("Get of %q: %q, %v: want %q", key, v, ok, value)
	}
	v, err := p.Lookup(p.t.Context(), key)
	if v != value || (err == nil) != (value != "") || err != nil && !errors.Is(err, firn.ErrNotFound) {
		p.t.Errorf("Lookup of %q: %q, %v: want %q", key, v, err, value)
	}
	var b firn.TypedBatch[string]
	if err := p.GetMulti(p.t.Context(), &b, []string{key}); err != nil {
		p.t.Error(err)
	}
	if v, ok := b.Value(0); v != value || ok != (value != "") {
		p.t.Errorf("GetMulti of %q: %q, %v: want %q", key, v, ok, value)
	}
}

// load demands that GetOrLoad returns a value, calling the loader or not, which sets tags.
func (p *process) load(key, value string, called bool, tags ...string) {
	p.t.Helper()
	var calls atomic.Int64
	v, err := p.GetOrLoad(p.t.Context(), key, func(ctx context.Context, _ string) (string, error) {
		calls.Add(1)
		return value, firn.SetLoadTags(ctx, tags...)
	})
	if err != nil || v != value || calls.Load() != map[bool]int64{true: 1}[called] {
		p.t.Errorf("GetOrLoad of %q: %q, %v, with %d calls of the loader: want %q, called %v", key, v, err, calls.Load(), value, called)
	}
}

// All processes find what one has stored, and nothing once another has cleared the namespace,
// a process that begins later neither.
func TestSharedNamespace(t *testing.T) {
	server, a, b := two(t)
	if n := a.tier.Calls(); n != 0 {
		t.Errorf("NewTyped made %d requests: want none", n)
	}
	a.set("k", "1")
	b.want("k", "1")
	before := b.tier.Calls()
	b.Get("k")
	if n := b.tier.Calls() - before; n != 0 {
		t.Errorf("a local read made %d requests: want none", n)
	}
	harness.Must(t, b.Clear(t.Context()))
	a.want("k", "")
	b.want("k", "")
	newProcess(t, server, firn.TypedOptions[string, string]{}).want("k", "")
	b.set("k", "2")
	a.want("k", "2")
	if n := a.Len(); n != 1 {
		t.Errorf("%d entries are here: want 1", n)
	}
	for k, v := range a.All() {
		if k != "k" || v != "2" {
			t.Errorf("All yields %q, %q", k, v)
		}
	}
}

// Until a push is here, and for no longer than the bound, the namespace is what it was.
func TestSharedNamespacePush(t *testing.T) {
	_, a, b := two(t)
	a.set("k", "1")
	b.want("k", "1")
	b.tier.HoldPushes()
	harness.Must(t, a.Clear(t.Context()))
	b.want("k", "1")
	b.tier.Lapse()
	b.want("k", "")
	b.tier.Resume()
	b.tier.DeliverPushes()
	b.want("k", "")
}

// A write in a namespace that another process had cleared is made again where others look.
func TestSharedWriteAfterClear(t *testing.T) {
	for name, write := range map[string]func(b *process) error{
		"Set":         func(b *process) error { return b.Set("k", "new") },
		"SetMulti":    func(b *process) error { return b.SetMulti(t.Context(), []string{"k"}, []string{"new"}) },
		"Compute":     func(b *process) error { _, err := b.SetIfAbsent(b.t.Context(), "k", "new"); return err },
		"Delete":      func(b *process) error { return b.Delete("k") },
		"DeleteMulti": func(b *process) error { return b.DeleteMulti(t.Context(), "k") },
		"GetAndDelete": func(b *process) error {
			if _, err := b.GetAndDelete(b.t.Context(), "k"); !errors.Is(err, firn.ErrNotFound) {
				return err
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			var a *process
			var armed atomic.Bool
			server := sharedtest.NewServer()
			opts := firn.TypedOptions[string, string]{}
			b := newProcess(t, server, opts, func(tier *sharedtest.Tier) {
				tier.OnRequest = func(call, _ string) {
					if call != "Number" && armed.Swap(false) { // as of a request that is on its way
						harness.Must(t, a.Clear(t.Context()))
						if name == "Delete" || name == "DeleteMulti" {
							a.set("k", "old")
						}
					}
				}
			})
			a = newProcess(t, server, opts)
			b.set("other", "1")
			a.want("other", "1")
			armed.Store(true)
			harness.Must(t, write(b))
			want := "new"
			if name == "Delete" || name == "DeleteMulti" || name == "GetAndDelete" {
				want = ""
			}
			a.want("k", want)
			b.want("k", want)
		})
	}
}

// A number that the server has lost is another: nothing of before is found.
func TestSharedNumbersLost(t *testing.T) {
	server, a, b := two(t)
	a.set("k", "1", "t")
	a.load("l", "1", true, "t")
	b.want("k", "1")
	server.ForgetNumbers()
	for _, p := range []*process{a, b} {
		p.want("k", "")
		p.want("l", "")
	}
	a.set("k", "2", "t")
	b.want("k", "2")
}
