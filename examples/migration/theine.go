package migration

import (
	"bytes"
	"context"
	"time"

	"github.com/Yiling-J/theine-go"
	"github.com/firncache/firn"
)

func usingTheine(note noter) error {
	ctx := context.Background()

	c, err := theine.NewBuilder[string, Book](100_000).Build()
	if err != nil {
		return err
	}
	note("set", c.Set("b1", firnBook, 1))
	note("set with a time to live", c.SetWithTTL("b2", firnBook, 1, time.Hour))
	c.Wait()
	got, ok := c.Get("b1")
	note("get", got, ok)
	_, ok = c.Get("absent")
	note("miss", ok)
	c.Range(func(key string, b Book) bool {
		note("entry", key, b.Title)
		return true
	})
	note("length", c.Len())
	note("cost", c.EstimatedSize())
	note("hits", c.Stats().Hits() > 0, c.Stats().HitRatio() > 0)
	c.Delete("b1")
	_, ok = c.Get("b1")
	note("deleted", ok)

	var saved bytes.Buffer
	if err := c.SaveCache(1, &saved); err != nil {
		return err
	}
	if err := c.LoadCache(1, &saved); err != nil {
		return err
	}
	c.Close()

	loading, err := theine.NewBuilder[string, Book](100_000).BuildWithLoader(func(ctx context.Context, key string) (theine.Loaded[Book], error) {
		return theine.Loaded[Book]{Value: Book{Title: "Snow", Pages: 8}, Cost: 1, TTL: time.Minute}, nil
	})
	if err != nil {
		return err
	}
	defer loading.Close()
	got, err = loading.Get(ctx, "b3")
	note("load", got, err)
	return nil
}

func insteadOfTheine(note noter) error {
	ctx := context.Background()

	c, err := firn.Open(firn.Options{RAMBytes: 64 << 20})
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
	err = books.SetWithTTL("b2", firnBook, time.Hour)
	note("set with a time to live", err == nil)
	got, ok := books.Get("b1")
	note("get", got, ok)
	_, ok = books.Get("absent")
	note("miss", ok)
	for key, b := range books.All() {
		note("entry", key, b.Title)
	}
	note("length", books.Len())
	s := c.Stats()
	note("hits", s.Hits > 0, s.HitRatio() > 0)
	if err := books.Delete("b1"); err != nil {
		return err
	}
	_, ok = books.Get("b1")
	note("deleted", ok)

	got, err = books.GetOrLoad(ctx, "b3", func(ctx context.Context, key string) (Book, error) {
		return Book{Title: "Snow", Pages: 8}, firn.SetLoadTTL(ctx, time.Minute)
	})
	note("load", got, err)
	return nil
}
