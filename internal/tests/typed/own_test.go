package typed_test

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
)

// Every caller may change the bytes that it was given, whatever call they came from, and no
// later call changes them: long ones are not copied out of the memory that they were read to.
func TestBytesAreTheCallers(t *testing.T) {
	ctx := context.Background()
	for _, n := range []int{1, 500, 1000, 1012, 1013, 1100, 5000, 20_000} {
		synctest.Test(t, func(t *testing.T) {
			c := harness.OpenSmall(t)
			pages := harness.NewTyped(t, c, "pages", firn.TypedOptions[int, []byte]{})
			texts := harness.NewTyped(t, c, "texts", firn.TypedOptions[int, string]{HotValues: -1})
			page, text := bytes.Repeat([]byte("p"), n), string(bytes.Repeat([]byte("t"), n))
			load := func(context.Context, int) ([]byte, error) { return bytes.Clone(page), nil }
			for round := range 3 {
				loaded, err := pages.GetOrLoad(ctx, round, load)
				found, ok := pages.Get(round)
				looked, err2 := pages.Lookup(ctx, round)
				again, err3 := pages.GetOrLoad(ctx, round, load)
				fresh, err4 := pages.Refresh(ctx, round, load)
				entry, err5 := pages.LookupEntry(ctx, round)
				for i, got := range [][]byte{loaded, found, looked, again, fresh, entry.Value} {
					if !bytes.Equal(got, page) {
						t.Fatalf("%d bytes, call %d: %d others, %v %v %v %v %v %v", n, i, len(got), err, ok, err2, err3, err4, err5)
					}
					_ = append(got, "behind"...)
					for j := range got {
						got[j] = byte(i)
					}
				}
				harness.Must(t, texts.Set(round, text))
				kept, _ := texts.Get(round)
				harness.Must(t, texts.Set(round, string(bytes.Repeat([]byte("u"), n)))) // over the same scratch
				harness.Must(t, pages.Set(round+100, page))
				if kept != text {
					t.Fatalf("%d bytes: a string changed after it was returned", n)
				}
				if got, ok := pages.Get(round); !ok || !bytes.Equal(got, page) {
					t.Fatalf("%d bytes: a caller has changed the cache's value", n)
				}
			}
		})
	}
}

// Callers that wait for one load have a copy each, and so has the cache.
func TestLoadedBytesAreEachCallers(t *testing.T) {
	for _, callers := range []int{1, 2, 9} {
		synctest.Test(t, func(t *testing.T) {
			pages := harness.NewTyped(t, harness.OpenSmall(t), "n", firn.TypedOptions[int, []byte]{})
			page := bytes.Repeat([]byte("p"), 10_000)
			load := func(context.Context, int) ([]byte, error) {
				time.Sleep(time.Second)
				return page, nil
			}
			var wg sync.WaitGroup
			for i := range callers {
				wg.Go(func() {
					got, err := pages.GetOrLoad(t.Context(), 7, load)
					for range 3 { // the others have theirs meanwhile
						if err != nil || !bytes.Equal(got, bytes.Repeat(got[:1], len(page))) {
							t.Errorf("%d callers: %v, or another caller's changes", callers, err)
						}
						for j := range got {
							got[j] = byte(i)
						}
						time.Sleep(time.Second)
					}
				})
			}
			wg.Wait()
			if got, ok := pages.Get(7); !ok || !bytes.Equal(got, page) {
				t.Errorf("%d callers: the cache's value is another", callers)
			}
		})
	}
}

// What a loader was given of the value that is there, and keeps, is not what its caller gets.
func TestCachedBytesAreTheLoaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pages := harness.NewTyped(t, harness.OpenSmall(t), "n", firn.TypedOptions[int, []byte]{TTL: time.Second, Loading: firn.LoadingOptions{StaleIfError: time.Hour}})
		page := bytes.Repeat([]byte("p"), 10_000)
		harness.Must(t, pages.Set(1, page))
		time.Sleep(time.Minute)
		var value, raw []byte
		got, err := pages.GetOrLoad(t.Context(), 1, func(ctx context.Context, _ int) ([]byte, error) {
			value, _ = pages.CachedValue(ctx)
			raw, _ = firn.CachedValue(ctx)
			return nil, firn.ErrNotModified
		})
		if err != nil || !bytes.Equal(got, page) {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
		clear(got)
		if !bytes.Equal(value, page) || !bytes.HasSuffix(raw, page) {
			t.Error("the caller has changed what the loader has")
		}
	})
}
