package migration

import (
	"context"
	"errors"
	"time"

	"github.com/eko/gocache/lib/v4/cache"
	"github.com/eko/gocache/lib/v4/store"
	"github.com/eko/gocache/store/go_cache/v4"
	"github.com/firncache/firn"
	gocache "github.com/patrickmn/go-cache"
)

func usingEkoGocache(note noter) error {
	ctx, loads := context.Background(), 0

	c := cache.New[Book](go_cache.NewGoCache(gocache.New(10*time.Minute, time.Minute)))
	note("set", c.Set(ctx, "b1", firnBook, store.WithTags([]string{"snow"})))
	note("set with a time to live", c.Set(ctx, "b2", firnBook, store.WithExpiration(time.Hour)))
	got, err := c.Get(ctx, "b1")
	note("get", got, err)
	_, err = c.Get(ctx, "absent")
	note("miss", errors.Is(err, store.NotFound{}))
	_, ttl, err := c.GetWithTTL(ctx, "b2")
	note("time to live", ttl > 0 && ttl <= time.Hour, err)

	l := cache.NewLoadable(func(_ context.Context, key any) (Book, []store.Option, error) {
		loads++
		return Book{Title: key.(string)}, []store.Option{store.WithExpiration(time.Minute)}, nil
	}, c)
	got, err = l.Get(ctx, "b3")
	note("load", got, err)
	if err := l.Close(); err != nil { // which waits until it is stored
		return err
	}
	got, err = c.Get(ctx, "b3")
	note("loaded", got, err, loads)

	note("invalidate", c.Invalidate(ctx, store.WithInvalidateTags([]string{"snow"})))
	_, err = c.Get(ctx, "b1")
	note("invalidated", err != nil)
	note("delete", c.Delete(ctx, "b2"))
	note("hits", c.GetCodec().GetStats().Hits > 0)
	note("type", c.GetType())
	note("clear", c.Clear(ctx))
	_, err = c.Get(ctx, "b3")
	note("cleared", err != nil)
	return nil
}

func insteadOfEkoGocache(note noter) error {
	ctx, loads := context.Background(), 0

	c, err := firn.Open(firn.Options{RAMBytes: 64 << 20, TTL: 10 * time.Minute})
	if err != nil {
		return err
	}
	defer c.Close()
	books, err := firn.NewTyped(c, "books", firn.TypedOptions[string, Book]{})
	if err != nil {
		return err
	}
	note("set", books.SetWith(ctx, "b1", firnBook, firn.SetOptions{Tags: []string{"snow"}}))
	note("set with a time to live", books.SetWithTTL("b2", firnBook, time.Hour))
	got, err := books.Lookup(ctx, "b1")
	note("get", got, err)
	_, err = books.Lookup(ctx, "absent")
	note("miss", errors.Is(err, firn.ErrNotFound))
	entry, err := books.LookupEntry(ctx, "b2")
	note("time to live", entry.TTL > 0 && entry.TTL <= time.Hour, err)

	load := func(ctx context.Context, key string) (Book, error) {
		loads++
		return Book{Title: key}, firn.SetLoadTTL(ctx, time.Minute)
	}
	got, err = books.GetOrLoad(ctx, "b3", load)
	note("load", got, err)
	got, err = books.GetOrLoad(ctx, "b3", load)
	note("loaded", got, err, loads)

	note("invalidate", books.InvalidateTag(ctx, "snow"))
	_, err = books.Lookup(ctx, "b1")
	note("invalidated", err != nil)
	note("delete", books.Delete("b2"))
	note("hits", c.Stats().Hits+c.Stats().FrontHits > 0)
	note("clear", books.Clear(ctx))
	_, err = books.Lookup(ctx, "b3")
	note("cleared", err != nil)
	return nil
}
