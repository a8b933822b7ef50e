package migration

import (
	"context"

	"github.com/firncache/firn"
	"github.com/hashicorp/golang-lru/v2"
)

func usingGolangLRU(note noter) error {
	var left int

	c, err := lru.NewWithEvict(1000, func(key string, value Book) { left++ })
	if err != nil {
		return err
	}
	c.Add("b1", firnBook)
	got, ok := c.Get("b1")
	note("get", got, ok)
	_, ok = c.Get("absent")
	note("miss", ok)
	note("has", c.Contains("b1"), c.Contains("absent"))
	got, ok = c.Peek("b1")
	note("peek", got, ok)
	ok, evicted := c.ContainsOrAdd("b2", firnBook)
	note("contains or add", ok, evicted)
	_, ok, _ = c.PeekOrAdd("b3", firnBook)
	note("peek or add", ok)

	note("keys", len(c.Keys()), len(c.Values()))
	note("length", c.Len())
	oldest, _, ok := c.GetOldest()
	note("oldest", oldest, ok)
	note("smaller", c.Resize(500))

	note("deleted", c.Remove("b1"), left)
	oldest, _, ok = c.RemoveOldest()
	note("oldest deleted", oldest, ok)
	c.Purge()
	note("cleared", c.Len())
	return nil
}

func insteadOfGolangLRU(note noter) error {
	ctx, left := context.Background(), 0

	c, err := firn.Open(firn.Options{
		RAMBytes: 64 << 20,
		OnEvict: func(key, value []byte, cause firn.Cause) {
			if cause == firn.CauseDeleted {
				left++
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
	if err := books.Set("b1", firnBook); err != nil {
		return err
	}
	got, ok := books.Get("b1")
	note("get", got, ok)
	_, ok = books.Get("absent")
	note("miss", ok)
	note("has", books.Has("b1"), books.Has("absent"))
	got, ok = books.Get("b1")
	note("peek", got, ok)
	stored, err := books.SetIfAbsent(ctx, "b2", firnBook)
	note("contains or add", !stored, err != nil)
	stored, err = books.SetIfAbsent(ctx, "b3", firnBook)
	note("peek or add", !stored || err != nil)

	n := books.Len()
	note("keys", n, n)
	note("length", n)
	if err := c.SetRAMBytes(32 << 20); err != nil {
		return err
	}

	_, err = books.GetAndDelete(ctx, "b1")
	note("deleted", err == nil, left)
	if err := books.Clear(ctx); err != nil {
		return err
	}
	note("cleared", books.Len())
	return nil
}
