package typed

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// onTagTiers runs a test over RAM alone, over RAM and SSD, and with a front, in a bubble.
func onTagTiers(t *testing.T, test func(t *testing.T, typed *firn.Typed[string, string]), change ...func(*firn.Options)) {
	t.Parallel()
	opts := firn.TypedOptions[string, string]{}
	for name, run := range map[string]func(t *testing.T){
		"RAM": func(t *testing.T) { test(t, harness.NewTyped(t, harness.OpenSmall(t, change...), "n", opts)) },
		"SSD": func(t *testing.T) {
			test(t, harness.NewTyped(t, harness.OpenOn(t, vfstest.NewMem(), change...), "n", opts))
		},
		"front": func(t *testing.T) {
			test(t, harness.NewTyped(t, harness.OpenSmall(t, change...), "n", harness.WithFront(opts)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, run)
		})
	}
}

// heldSource is what loaders ask. A load that is held up waits after it has asked.
type heldSource struct {
	value string
	loads int
	held  chan struct{} // nil: loads are not held up
}

func (s *heldSource) ask() string {
	s.loads++
	v := s.value
	if s.held != nil {
		<-s.held
	}
	return v
}

// tagLoaders name their tags before they ask the source, or afterwards, or both.
var tagLoaders = map[string]func(s *heldSource) firn.TypedLoadFunc[string, string]{
	"tags first": func(s *heldSource) firn.TypedLoadFunc[string, string] {
		return func(ctx context.Context, _ string) (string, error) {
			if err := firn.SetLoadTags(ctx, "a", "b"); err != nil {
				return "", err
			}
			return s.ask(), nil
		}
	},
	"tags last": func(s *heldSource) firn.TypedLoadFunc[string, string] {
		return func(ctx context.Context, _ string) (string, error) {
			v := s.ask()
			return v, firn.SetLoadTags(ctx, "a", "b")
		}
	},
	"tags twice": func(s *heldSource) firn.TypedLoadFunc[string, string] {
		return func(ctx context.Context, _ string) (string, error) {
			if err := firn.SetLoadTags(ctx, "a"); err != nil {
				return "", err
			}
			v := s.ask()
			return v, firn.SetLoadTags(ctx, "a", "b")
		}
	},
}

// A tag that is invalidated while a loader runs leaves none of its value: callers that wait
// since before get it, and nobody else.
func TestInvalidateTagDuringLoad(t *testing.T) {
	for name, loader := range tagLoaders {
		t.Run(name, func(t *testing.T) {
			onTagTiers(t, func(t *testing.T, typed *firn.Typed[string, string]) {
				s := &heldSource{value: "old", held: make(chan struct{})}
				load := loader(s)
				ctx := t.Context()
				got := make(chan string, 4)
				get := func() {
					v, err := typed.GetOrLoad(ctx, "k", load)
					got <- fmt.Sprint(v, " ", err)
				}
				getMulti := func() {
					var b firn.TypedBatch[string]
					err := typed.GetOrLoadMulti(ctx, &b, []string{"k"}, func(ctx context.Context, keys []string) (map[string]string, error) {
						v, err := load(ctx, keys[0])
						return map[string]string{keys[0]: v}, err
					})
					v, _ := b.Value(0)
					got <- fmt.Sprint(v, " ", err)
				}
				go get()
				synctest.Wait()
				s.value = "new"
				invalidate(t, typed, "b")
				go get() // joins the load, which is no answer for it
				go getMulti()
				synctest.Wait()
				if s.loads != 1 {
					t.Fatalf("%d loads, want 1 that all wait for", s.loads)
				}
				s.held <- struct{}{}
				synctest.Wait()
				if v := <-got; v != "old <nil>" {
					t.Errorf("the caller from before got %s, want old", v)
				}
				close(s.held)
				for range 2 {
					if v := <-got; v != "new <nil>" {
						t.Errorf("a caller that came after InvalidateTag got %s, want new", v)
					}
				}
				if v, ok := typed.Get("k"); !ok || v != "new" || s.loads != 2 {
					t.Errorf("then %q, %v, after %d loads: want new after 2", v, ok, s.loads)
				}
			})
		})
	}
}

// A load of which the tags were invalidated before it began, or of another value, is kept.
func TestInvalidateTagBeforeLoad(t *testing.T) {
	for name, loader := range tagLoaders {
		t.Run(name, func(t *testing.T) {
			onTagTiers(t, func(t *testing.T, typed *firn.Typed[string, string]) {
				s := &heldSource{value: "v", held: make(chan struct{})}
				invalidate(t, typed, "a")
				invalidate(t, typed, "b")
				go typed.GetOrLoad(t.Context(), "k", loader(s))
				synctest.Wait()
				invalidate(t, typed, "other")
				close(s.held)
				synctest.Wait()
				if v, ok := typed.Get("k"); !ok || v != "v" {
					t.Errorf("%q, %v, want v", v, ok)
				}
				invalidate(t, typed, "a")
				if typed.Has("k") {
					t.Error("the value is found after its tag was invalidated")
				}
			})
		})
	}
}

// A value that was invalidated during its load is not stored, and neither is the older one
// kept. Refresh is the same.
func TestInvalidatedLoadStoresNothing(t *testing.T) {
	onTagTiers(t, func(t *testing.T, typed *firn.Typed[string, string]) {
		if err := typed.Set("k", "from before"); err != nil {
			t.Fatal(err)
		}
		s := &heldSource{value: "old", held: make(chan struct{})}
		done := make(chan error)
		go func() {
			_, err := typed.Refresh(t.Context(), "k", tagLoaders["tags first"](s))
			done <- err
		}()
		synctest.Wait()
		invalidate(t, typed, "a")
		close(s.held)
		if err := <-done; err != nil {
			t.Error(err)
		}
		if v, ok := typed.Get("k"); ok {
			t.Errorf("%q is found", v)
		}
	})
}

// A value of which a tag was invalidated is no answer while its source fails, or is slow.
func TestInvalidatedIsNotStale(t *testing.T) {
	onTagTiers(t, func(t *testing.T, typed *firn.Typed[string, string]) {
		for _, tag := range []string{"a", "other"} {
			setTagged(t, typed, "k", "stale", "a")
			time.Sleep(90 * time.Second) // the bubble's
			invalidate(t, typed, tag)
			failed := errors.New("failed")
			v, err := typed.GetOrLoad(t.Context(), "k", func(context.Context, string) (string, error) { return "", failed })
			if tag == "a" && err != failed || tag == "other" && v != "stale" {
				t.Errorf("after %s was invalidated: %q, %v", tag, v, err)
			}
		}
	}, func(o *firn.Options) {
		o.Clock, o.TTL, o.Loading.StaleIfError = time.Now, time.Minute, time.Hour
	})
}

// All values of a bulk load have its tags.
func TestMultiLoadTags(t *testing.T) {
	onTagTiers(t, func(t *testing.T, typed *firn.Typed[string, string]) {
		keys := []string{"1", "2", "3"}
		load := func(ctx context.Context, keys []string) (map[string]string, error) {
			values := map[string]string{}
			for _, k := range keys {
				values[k] = "value of " + k
			}
			return values, firn.SetLoadTags(ctx, "a")
		}
		setTagged(t, typed, "2", "value of 2", "b")
		var b firn.TypedBatch[string]
		if err := typed.GetOrLoadMulti(t.Context(), &b, keys, load); err != nil {
			t.Fatal(err)
		}
		invalidate(t, typed, "a")
		for i, k := range keys {
			if v, ok := b.Value(i); !ok || v != "value of "+k {
				t.Errorf("loaded %q, %v", v, ok)
			}
			if typed.Has(k) != (k == "2") {
				t.Errorf("after a was invalidated, there is a value of %s: %v", k, k != "2")
			}
		}
	})
}

// A value that was invalidated during its load takes no room: nobody could find it.
func TestInvalidatedLoadIsNotStored(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t)
		typed := harness.NewTyped(t, c, "n", firn.TypedOptions[string, string]{})
		s := &heldSource{value: "old", held: make(chan struct{})}
		done := make(chan error)
		go func() {
			_, err := typed.GetOrLoad(t.Context(), "k", tagLoaders["tags last"](s))
			done <- err
		}()
		synctest.Wait()
		invalidate(t, typed, "b")
		close(s.held)
		if err := <-done; err != nil {
			t.Error(err)
		}
		if n := c.Len(); n != 0 {
			t.Errorf("%d entries, want none", n)
		}
	})
}

// A loader is given the value that its key has, with tags or without, unless one of them was
// invalidated. If it was not modified, it keeps them.
func TestTaggedNotModified(t *testing.T) {
	onTagTiers(t, func(t *testing.T, typed *firn.Typed[string, string]) {
		ask := func(want bool) {
			t.Helper()
			v, err := typed.Refresh(t.Context(), "k", func(ctx context.Context, _ string) (string, error) {
				v, ok := typed.CachedValue(ctx)
				if ok != want || ok && v != "value" {
					t.Errorf("the loader was given %q, %v, want %v", v, ok, want)
				}
				if !ok {
					return "new", nil
				}
				return "", firn.ErrNotModified
			})
			if want && v != "value" || !want && v != "new" || err != nil {
				t.Errorf("Refresh: %q, %v", v, err)
			}
		}
		setTagged(t, typed, "k", "value", "a")
		ask(true)
		if v, ok := typed.Get("k"); !ok || v != "value" {
			t.Errorf("it is %q, %v after it was not modified", v, ok)
		}
		invalidate(t, typed, "a")
		if typed.Has("k") {
			t.Error("a value that was not modified has lost its tag")
		}
		setTagged(t, typed, "k", "value", "a")
		invalidate(t, typed, "a")
		ask(false)
	})
}
