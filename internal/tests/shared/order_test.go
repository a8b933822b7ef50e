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

// A value that was loaded before a Delete of this process is not found after it, though the server
// goes away before the load is over.
func TestDeleteThenAway(t *testing.T) {
	tier := sharedtest.NewServer().Tier()
	tier.Does.Bound = time.Second
	c := harness.Open(t, firn.Options{RAMBytes: 1 << 20, Shared: tier})
	_, err := c.GetOrLoad(t.Context(), nil, []byte("k"), func(context.Context, []byte) ([]byte, error) {
		harness.Must(t, c.Delete([]byte("k")))
		tier.SetOnline(false)
		return []byte("old"), nil
	})
	if v, ok := c.Get(nil, []byte("k")); ok {
		t.Errorf("%q after a Delete, which was loaded before (%v)", v, err)
	}
}

// A caller who comes when InvalidateTag has returned does not get what a load from before finds,
// also if that names its tags only then.
func TestJoinsLoadOfInvalidatedTag(t *testing.T) {
	for _, early := range []bool{true, false} {
		for _, negative := range []bool{false, true} {
			for _, multi := range []bool{false, true} {
				t.Run(fmt.Sprintf("early %v, negative %v, multi %v", early, negative, multi), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { joinsLoad(t, early, negative, multi) })
				})
			}
		}
	}
}

func joinsLoad(t *testing.T, early, negative, multi bool) {
	server := sharedtest.NewServer()
	a := newProcess(t, server, firn.TypedOptions[string, string]{})
	b := newProcess(t, server, firn.TypedOptions[string, string]{Loading: firn.LoadingOptions{NegativeTTL: time.Hour}})
	invalidated, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		_, _ = b.GetOrLoad(t.Context(), "k", func(ctx context.Context, _ string) (string, error) {
			if early {
				harness.Must(t, firn.SetLoadTags(ctx, "tag"))
			}
			<-invalidated
			if !early {
				harness.Must(t, firn.SetLoadTags(ctx, "tag"))
			}
			if negative {
				return "", firn.ErrNotFound
			}
			return "old", nil
		})
	}()
	synctest.Wait()
	harness.Must(t, a.InvalidateTag(t.Context(), "tag"))
	got := make(chan string, 1)
	go func() {
		if multi {
			var batch firn.TypedBatch[string]
			_ = b.GetOrLoadMulti(t.Context(), &batch, []string{"k"}, func(ctx context.Context, _ []string) (map[string]string, error) {
				return map[string]string{"k": "new"}, firn.SetLoadTags(ctx, "tag")
			})
			v, _ := batch.Value(0)
			got <- v
			return
		}
		v, err := b.GetOrLoad(t.Context(), "k", func(ctx context.Context, _ string) (string, error) {
			return "new", firn.SetLoadTags(ctx, "tag")
		})
		if errors.Is(err, firn.ErrNotFound) {
			v = "none"
		}
		got <- v
	}()
	synctest.Wait()
	close(invalidated)
	if v := <-got; v != "new" {
		t.Errorf("who came after InvalidateTag gets %q", v)
	}
	<-over
}

// What a server answers about a number decides with SoftTimeout too, while it is not trusted.
func TestSoftTimeoutOfNumbers(t *testing.T) {
	for name, change := range map[string]func(a *process) error{
		"Clear":         func(a *process) error { return a.Clear(a.t.Context()) },
		"InvalidateTag": func(a *process) error { return a.InvalidateTag(a.t.Context(), "tag") },
	} {
		t.Run(name, func(t *testing.T) {
			_, a, b := two(t)
			b.tier.Does.Degraded, b.tier.Does.SoftTimeout = shared.DegradedStale, time.Second
			a.set("k", "old", "tag")
			b.want("k", "old")
			b.tier.HoldPushes()
			b.tier.Lapse()
			harness.Must(t, change(a))
			b.want("k", "")
			b.want("k", "")
		})
	}
}

// A typed cache that remembers no negative answers loads where another of its namespace has one.
func TestNegativeOfAnother(t *testing.T) {
	server := sharedtest.NewServer()
	a := newProcess(t, server, firn.TypedOptions[string, string]{Loading: firn.LoadingOptions{NegativeTTL: time.Hour}})
	for name, other := range map[string]*firn.Typed[string, string]{
		"here":  typedShared(t, a.c, firn.TypedOptions[string, string]{}),
		"there": newProcess(t, server, firn.TypedOptions[string, string]{}).Typed,
	} {
		if _, err := a.GetOrLoad(t.Context(), name, func(context.Context, string) (string, error) { return "", firn.ErrNotFound }); !errors.Is(err, firn.ErrNotFound) {
			t.Error(err)
		}
		for range 2 {
			if v, err := other.GetOrLoad(t.Context(), name, func(context.Context, string) (string, error) { return "v", nil }); v != "v" {
				t.Errorf("%s: %q, %v: want its own loader's", name, v, err)
			}
		}
	}
}

// A write that cannot reach the server drops what was loaded without it, and what is being loaded.
func TestWriteWhileAway(t *testing.T) {
	tagged := firn.SetOptions{Tags: []string{"t"}}
	for name, write := range map[string]func(ctx context.Context, p *process) error{
		"Set":           func(_ context.Context, p *process) error { return p.Set("k", "set") },
		"SetWith":       func(ctx context.Context, p *process) error { return p.SetWith(ctx, "k", "set", tagged) },
		"SetMulti":      func(ctx context.Context, p *process) error { return p.SetMulti(ctx, []string{"k"}, []string{"set"}) },
		"Delete":        func(_ context.Context, p *process) error { return p.Delete("k") },
		"DeleteMulti":   func(ctx context.Context, p *process) error { return p.DeleteMulti(ctx, "other", "k") },
		"Clear":         func(ctx context.Context, p *process) error { return p.Clear(ctx) },
		"InvalidateTag": func(ctx context.Context, p *process) error { return p.InvalidateTag(ctx, "t") },
	} {
		t.Run(name, func(t *testing.T) {
			p := newProcess(t, sharedtest.NewServer(), firn.TypedOptions[string, string]{}, func(tier *sharedtest.Tier) { tier.Does.Bound = time.Second })
			p.tier.SetOnline(false)
			p.tier.Lapse()
			fail := func() {
				if err := write(t.Context(), p); !errors.Is(err, firn.ErrSharedUnavailable) {
					t.Errorf("%v: want one that says that the server is away", err)
				}
			}
			want := func(source string, meanwhile func()) {
				t.Helper()
				v, err := p.GetOrLoad(t.Context(), "k", func(context.Context, string) (string, error) { meanwhile(); return source, nil })
				if v != source || err != nil {
					t.Errorf("%q, %v: want %q", v, err, source)
				}
			}
			want("old", func() {})
			fail()
			want("newer", fail)
			want("newest", func() {})
		})
	}
}
