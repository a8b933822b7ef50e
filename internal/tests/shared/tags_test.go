package shared

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/internal/shared/sharedtest"
	"github.com/firncache/firn/internal/tests/harness"
)

// A tag that one process invalidates is invalidated for all, and their values with it, those of
// a process that has never seen the tag, too.
func TestSharedTags(t *testing.T) {
	server, a, b := two(t)
	a.set("k", "1", "s", "t")
	a.set("other", "1", "s")
	b.want("k", "1")
	b.want("other", "1")
	harness.Must(t, b.InvalidateTag(t.Context(), "t"))
	for _, p := range []*process{a, b, newProcess(t, server, firn.TypedOptions[string, string]{})} {
		p.want("k", "")
		p.want("other", "1")
	}
	if n := a.c.Stats().TagMisses; n == 0 {
		t.Error("no tag misses were counted")
	}
	a.set("k", "2", "t")
	b.want("k", "2")
}

// A trusted copy of a version may be behind: a value that was stored with a newer one is not
// deleted for it.
func TestSharedTagBehind(t *testing.T) {
	_, a, b := two(t)
	a.set("k", "1", "t")
	b.want("k", "1")
	b.tier.HoldPushes()
	harness.Must(t, a.InvalidateTag(t.Context(), "t"))
	b.want("k", "1") // within the bound
	a.set("l", "2", "t")
	b.want("l", "2")
	a.want("l", "2")
	b.tier.DeliverPushes()
	b.want("k", "")
	b.want("l", "2")
}

// loadThen begins a load of k in b, and does something before its tag is named or after it;
// then it tells whether another call finds the value.
func loadThen(b *process, early bool, meanwhile func()) (kept bool) {
	b.t.Helper()
	_, err := b.GetOrLoad(b.t.Context(), "k", func(ctx context.Context, _ string) (string, error) {
		if early {
			if err := firn.SetLoadTags(ctx, "t"); err != nil {
				return "", err
			}
		}
		meanwhile()
		return "1", firn.SetLoadTags(ctx, "t")
	})
	harness.Must(b.t, err)
	_, kept = b.Get("k")
	return kept
}

// A value whose tag is invalidated while it is loaded, by another process, is not kept, whenever
// the loader names the tag, and whether or not the process knew it.
func TestSharedTagOfLoad(t *testing.T) {
	for _, test := range []struct {
		name      string
		meanwhile func(a, b *process)
		kept      bool
	}{
		{"nothing", func(a, b *process) {}, true},
		{"another tag", func(a, b *process) { a.set("l", "1", "u") }, true},
		{"invalidated", func(a, b *process) { harness.Must(a.t, a.InvalidateTag(t.Context(), "t")) }, false},
		{"invalidated here", func(a, b *process) { harness.Must(a.t, b.InvalidateTag(t.Context(), "t")) }, false},
		{"invalidated unheard", func(a, b *process) {
			b.tier.HoldPushes()
			harness.Must(a.t, a.InvalidateTag(t.Context(), "t"))
			b.tier.Disconnect() // and the push is lost
			b.tier.DeliverPushes()
		}, false},
		{"the server is away", func(a, b *process) { b.tier.SetOnline(false) }, false},
	} {
		for name, prepare := range map[string]func(a, b *process){
			"unknown": func(a, b *process) {},
			"known":   func(a, b *process) { b.set("l", "1", "t") },
			"of old":  func(a, b *process) { a.set("l", "1", "t") },
		} {
			for _, early := range []bool{true, false} {
				t.Run(test.name+"/"+name+map[bool]string{true: "/early", false: "/late"}[early], func(t *testing.T) {
					_, a, b := two(t)
					prepare(a, b)
					kept := loadThen(b, early, func() { test.meanwhile(a, b) })
					if kept != test.kept {
						t.Errorf("the value is kept: %v, want %v", kept, test.kept)
					}
				})
			}
		}
	}
}

// The answer that shows a renewed number may come before its push. Then the number is asked for
// once more, and the push is there before that answer.
func TestSharedTagPushAfterAnswer(t *testing.T) {
	var a, b *process
	var naming atomic.Bool
	server := sharedtest.NewServer()
	b = newProcess(t, server, firn.TypedOptions[string, string]{}, func(tier *sharedtest.Tier) {
		var asked atomic.Int32 // numbers are fetched at once
		tier.OnReply = func(call, _ string) {
			if call == "Number" && naming.Load() && asked.Add(1) == 2 {
				tier.DeliverPushes()
			}
		}
	})
	a = newProcess(t, server, firn.TypedOptions[string, string]{})
	b.want("k", "")
	kept := loadThen(b, false, func() {
		b.tier.HoldPushes()
		harness.Must(t, a.InvalidateTag(t.Context(), "t"))
		naming.Store(true)
	})
	if kept {
		t.Error("a value is kept whose tag was invalidated while it was loaded")
	}
}

// What another process's slow loader has stored under an obsolete tag is no answer of a load
// that begins later.
func TestSharedObsoleteFoundByLoad(t *testing.T) {
	server, a, b := two(t)
	harness.Must(t, b.InvalidateTag(t.Context(), "t"))
	b.want("k", "")
	v, err := b.GetOrLoad(t.Context(), "k", func(ctx context.Context, _ string) (string, error) {
		harness.Must(t, firn.SetLoadTags(ctx, "t"))
		b.tier.HoldPushes() // what it stores is valid as far as it knows
		harness.Must(t, a.InvalidateTag(ctx, "t"))
		return "old", nil
	})
	if err != nil || v != "old" {
		t.Errorf("the load from before got %q, %v", v, err)
	}
	c := newProcess(t, server, firn.TypedOptions[string, string]{}) // knows nothing of the tag
	c.load("k", "new", true, "t")
	a.load("k", "new", false)
	b.tier.DeliverPushes()
	b.want("k", "new")
}

// A bulk load keeps the same rules.
func TestSharedLoadMulti(t *testing.T) {
	_, a, b := two(t)
	load := func(p *process, value string, want int, meanwhile func()) {
		t.Helper()
		var batch firn.TypedBatch[string]
		var loaded atomic.Int64 // of calls that may run at once
		err := p.GetOrLoadMulti(t.Context(), &batch, []string{"k", "l"}, func(ctx context.Context, keys []string) (map[string]string, error) {
			meanwhile()
			loaded.Add(int64(len(keys)))
			found := map[string]string{}
			for _, key := range keys {
				found[key] = value
			}
			return found, firn.SetLoadTags(ctx, "t")
		})
		for i := range 2 {
			if v, ok := batch.Value(i); v != value || !ok || err != nil {
				t.Errorf("value %d is %q, %v, %v: want %q", i, v, ok, err, value)
			}
		}
		if loaded := loaded.Load(); loaded != int64(want) {
			t.Errorf("%d keys were loaded: want %d", loaded, want)
		}
	}
	load(a, "1", 2, func() {})
	load(b, "1", 0, func() {})
	harness.Must(t, a.InvalidateTag(t.Context(), "t"))
	load(b, "2", 2, func() { harness.Must(t, a.InvalidateTag(t.Context(), "t")) })
	load(b, "3", 2, func() {})
	load(a, "3", 0, func() {})
	a.tier.SetOnline(false)
	a.tier.Lapse()
	load(a, "4", 2, func() {})
}

// Without the number of a tag nothing is written with it.
func TestSharedTagUnavailable(t *testing.T) {
	_, a, _ := two(t)
	a.set("k", "1")
	a.tier.SetOnline(false)
	if err := a.SetWith(t.Context(), "k", "2", firn.SetOptions{Tags: []string{"t"}}); !errors.Is(err, shared.ErrUnavailable) {
		t.Errorf("SetWith: %v", err)
	}
	if err := a.InvalidateTag(t.Context(), "t"); !errors.Is(err, shared.ErrUnavailable) {
		t.Errorf("InvalidateTag: %v", err)
	}
	a.want("k", "1")
}

// However often another process replaces what a load finds, and invalidates its tag before that is
// checked, the load ends with a value of its own loader.
func TestSharedTagsOutrun(t *testing.T) {
	for name, load := range map[string]func(p *process) (string, error){
		"one": func(p *process) (string, error) {
			return p.GetOrLoad(t.Context(), "k", func(context.Context, string) (string, error) { return "own", nil })
		},
		"many": func(p *process) (v string, err error) {
			var batch firn.TypedBatch[string]
			err = p.GetOrLoadMulti(t.Context(), &batch, []string{"k"}, func(context.Context, []string) (map[string]string, error) {
				return map[string]string{"k": "own"}, nil
			})
			v, _ = batch.Value(0)
			return v, err
		},
	} {
		server := sharedtest.NewServer()
		a := newProcess(t, server, firn.TypedOptions[string, string]{})
		a.set("k", "another's", "t")
		var outruns, found atomic.Int64
		outrun := func(call, _ string) {
			if call == "Read" || call == "Lease" || call == "ReadMulti" {
				found.Add(1)
				harness.Must(t, a.InvalidateTag(context.Background(), "t"))
				a.set("k", "another's", "t")
				outruns.Add(1)
			}
		}
		b := newProcess(t, server, firn.TypedOptions[string, string]{}, func(tier *sharedtest.Tier) { tier.OnReply = outrun })
		if v, err := load(b); v != "own" || err != nil {
			t.Errorf("%s: %q, %v after %d values of another process: want its loader's", name, v, err, found.Load())
		}
	}
}
