package migration

import (
	"context"
	"errors"
	"time"

	"github.com/firncache/firn"
)

// insteadOfFasterKvCache has no other side: that cache is of C#.
func insteadOfFasterKvCache(note noter) error {
	ctx := context.Background()

	c, err := firn.Open(firn.Options{RAMBytes: 64 << 20})
	if err != nil {
		return err
	}
	books, err := firn.NewTyped(c, "books", firn.TypedOptions[string, Book]{Codec: firn.JSONCodec[Book]()})
	if err != nil {
		return err
	}
	if err := books.Set("b1", firnBook); err != nil {
		return err
	}
	if err := books.SetWithTTL("b2", firnBook, 5*time.Minute); err != nil {
		return err
	}
	got, ok := books.Get("b1")
	note("get", got, ok)
	got, err = books.Lookup(ctx, "b2")
	note("get async", got, err)
	_, err = books.Lookup(ctx, "absent")
	note("miss", errors.Is(err, firn.ErrNotFound))
	if err := books.Delete("b1"); err != nil {
		return err
	}
	note("deleted", books.Has("b1"))

	values, err := firn.NewTyped(c, "values", firn.TypedOptions[string, any]{Codec: anything{}})
	if err != nil {
		return err
	}
	if err := values.Set("pages", 64); err != nil {
		return err
	}
	if err := values.SetWithTTL("title", "Firn", 5*time.Minute); err != nil {
		return err
	}
	pages, ok := values.Get("pages")
	note("get of any type", pages, ok)
	title, err := values.Lookup(ctx, "title")
	note("get of any type, async", title, err)
	if err := values.Delete("pages"); err != nil {
		return err
	}

	load := func(ctx context.Context, key string) (Book, error) { return Book{Title: "Snow", Pages: 8}, nil }
	got, err = books.GetOrLoad(ctx, "b3", load)
	note("get or add", got, err)
	return c.Close()
}
