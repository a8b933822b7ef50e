package migration

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/firncache/firn"
	"github.com/maypok86/otter/v2"
	"github.com/maypok86/otter/v2/stats"
)

func usingOtter(note noter) error {
	ctx := context.Background()
	var left atomic.Int64
	load := otter.LoaderFunc[string, Book](func(ctx context.Context, key string) (Book, error) { return Book{Title: "Snow", Pages: 8}, nil })
	none := otter.LoaderFunc[string, Book](func(ctx context.Context, key string) (Book, error) { return Book{}, otter.ErrNotFound })
	bulk := otter.BulkLoaderFunc[string, Book](func(ctx context.Context, keys []string) (map[string]Book, error) {
		found := map[string]Book{}
		for _, key := range keys {
			found[key] = Book{Title: key}
		}
		return found, nil
	})

	c, err := otter.New(&otter.Options[string, Book]{
		MaximumSize:       100_000,
		ExpiryCalculator:  otter.ExpiryWriting[string, Book](10 * time.Minute),
		RefreshCalculator: otter.RefreshWriting[string, Book](8 * time.Minute),
		StatsRecorder:     stats.NewCounter(),
		OnAtomicDeletion: func(e otter.DeletionEvent[string, Book]) {
			if e.Cause == otter.CauseInvalidation {
				left.Add(1)
			}
		},
	})
	if err != nil {
		return err
	}
	defer c.StopAllGoroutines()
	_, added := c.Set("b1", firnBook)
	note("set", added)
	c.Set("b2", firnBook)
	c.SetExpiresAfter("b2", time.Hour)
	c.SetRefreshableAfter("b2", 50*time.Minute)
	got, ok := c.GetIfPresent("b1")
	note("get", got, ok)
	_, ok = c.GetIfPresent("absent")
	note("miss", ok)
	entry, ok := c.GetEntry("b2")
	note("time to live", entry.ExpiresAfter() > 50*time.Minute, ok)
	_, ok = c.GetEntryQuietly("b2")
	note("has", ok)

	got, err = c.Get(ctx, "b3", load)
	note("load", got, err)
	_, err = c.Get(ctx, "b4", none)
	note("load of nothing", errors.Is(err, otter.ErrNotFound))
	found, err := c.BulkGet(ctx, []string{"b1", "b5"}, bulk)
	note("bulk load", found["b1"].Title, found["b5"].Title, err)
	refreshed := <-c.Refresh(ctx, "b3", load)
	note("refresh", refreshed.Err)
	for _, r := range <-c.BulkRefresh(ctx, []string{"b5"}, bulk) {
		note("bulk refresh", r.Key, r.Err)
	}

	note("all", len(slices.Collect(c.Keys())), len(slices.Collect(c.Values())))
	for key, book := range c.All() {
		note("entry", key, book.Pages)
	}
	note("hits", c.IsRecordingStats() && c.Stats().Hits > 0)
	c.CleanUp()
	note("length", c.EstimatedSize())
	note("order of use", len(slices.Collect(c.Hottest())), len(slices.Collect(c.Coldest())))
	note("weight", c.IsWeighted(), c.WeightedSize())
	c.SetMaximum(50_000)
	note("less room", c.GetMaximum())

	_, stored := c.SetIfAbsent("b1", Book{Title: "Snow"})
	note("set if absent", stored)
	got, _ = c.ComputeIfAbsent("b6", func() (Book, bool) { return Book{Title: "Snow"}, false })
	note("compute if absent", got.Title)
	got, _ = c.ComputeIfPresent("b6", func(old Book) (Book, otter.ComputeOp) { old.Pages++; return old, otter.WriteOp })
	note("compute if present", got.Pages)
	got, _ = c.Compute("b6", func(old Book, found bool) (Book, otter.ComputeOp) { old.Pages++; return old, otter.WriteOp })
	note("compute", got.Pages)

	old, ok := c.Invalidate("b1")
	note("deleted", old.Title, ok)
	note("left", left.Load())
	c.InvalidateAll()
	note("cleared", c.EstimatedSize())
	return nil
}

func insteadOfOtter(note noter) error {
	ctx := context.Background()
	var left atomic.Int64
	load := func(ctx context.Context, key string) (Book, error) { return Book{Title: "Snow", Pages: 8}, nil }
	none := func(ctx context.Context, key string) (Book, error) { return Book{}, firn.ErrNotFound }
	bulk := func(ctx context.Context, keys []string) (map[string]Book, error) {
		found := map[string]Book{}
		for _, key := range keys {
			found[key] = Book{Title: key}
		}
		return found, nil
	}

	c, err := firn.Open(firn.Options{
		RAMBytes: 64 << 20,
		TTL:      10 * time.Minute,
		Loading:  firn.LoadingOptions{RefreshAfter: 8 * time.Minute},
		OnEvict: func(key, value []byte, cause firn.Cause) {
			if cause == firn.CauseDeleted {
				left.Add(1)
			}
		},
	})
	if err != nil {
		return err
	}
	defer c.Close()
	books, err := firn.NewTyped(c, "books", firn.TypedOptions[string, Book]{})
	if err != nil {
		return err
	}
	err = books.Set("b1", firnBook)
	note("set", err == nil)
	if err := books.Set("b2", firnBook); err != nil {
		return err
	}
	if _, err := books.Touch(ctx, "b2", time.Hour); err != nil {
		return err
	}
	got, ok := books.Get("b1")
	note("get", got, ok)
	_, ok = books.Get("absent")
	note("miss", ok)
	ttl, ok := books.TTL("b2")
	note("time to live", ttl > 50*time.Minute, ok)
	note("has", books.Has("b2"))

	got, err = books.GetOrLoad(ctx, "b3", load)
	note("load", got, err)
	_, err = books.GetOrLoad(ctx, "b4", none)
	note("load of nothing", errors.Is(err, firn.ErrNotFound))
	var batch firn.TypedBatch[Book]
	err = books.GetOrLoadMulti(ctx, &batch, []string{"b1", "b5"}, bulk)
	first, _ := batch.Value(0)
	second, _ := batch.Value(1)
	note("bulk load", first.Title, second.Title, err)
	_, err = books.Refresh(ctx, "b3", load)
	note("refresh", err)
	_, err = books.Refresh(ctx, "b5", func(ctx context.Context, key string) (Book, error) { return Book{Title: key}, nil })
	note("bulk refresh", "b5", err)

	for key, book := range books.All() {
		note("entry", key, book.Pages)
	}
	n := books.Len()
	note("all", n, n)
	note("length", n)
	note("hits", c.Stats().Hits > 0)
	if err := c.SetRAMBytes(32 << 20); err != nil {
		return err
	}

	stored, err := books.SetIfAbsent(ctx, "b1", Book{Title: "Snow"})
	note("set if absent", stored && err == nil)
	got, _, err = books.Compute(ctx, "b6", func(old Book, ok bool) (Book, firn.Op) {
		if ok {
			return old, firn.OpKeep
		}
		return Book{Title: "Snow"}, firn.OpSet
	})
	note("compute if absent", got.Title)
	for _, what := range []string{"compute if present", "compute"} {
		got, _, err = books.Compute(ctx, "b6", func(old Book, ok bool) (Book, firn.Op) { old.Pages++; return old, firn.OpUpdate })
		note(what, got.Pages)
	}
	if err != nil {
		return err
	}

	old, err := books.GetAndDelete(ctx, "b1")
	note("deleted", old.Title, err == nil)
	note("left", left.Load())
	if err := books.Clear(ctx); err != nil {
		return err
	}
	note("cleared", books.Len())
	return nil
}
