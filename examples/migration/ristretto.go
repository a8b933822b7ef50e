package migration

import (
	"context"
	"time"

	"github.com/dgraph-io/ristretto/v2"
	"github.com/firncache/firn"
)

// Book is a value of some structure.
type Book struct {
	Title string
	Pages int
}

var firnBook = Book{"Firn", 64}

func usingRistretto(note noter) error {
	c, err := ristretto.NewCache(&ristretto.Config[string, Book]{
		NumCounters: 1e4, MaxCost: 64 << 20, BufferItems: 64, Metrics: true,
	})
	if err != nil {
		return err
	}
	note("set", c.Set("b1", firnBook, 100))
	note("set with a time to live", c.SetWithTTL("b2", firnBook, 100, time.Hour))
	c.Wait()
	got, ok := c.Get("b1")
	note("get", got, ok)
	_, ok = c.Get("absent")
	note("miss", ok)
	ttl, ok := c.GetTTL("b2")
	note("time to live", ttl > 0 && ttl <= time.Hour, ok)

	c.IterValues(func(b Book) (stop bool) {
		note("value", b.Title)
		return false
	})
	note("room", c.RemainingCost() > 0, c.MaxCost())
	c.UpdateMaxCost(32 << 20)
	note("less room", c.MaxCost())
	note("hits", c.Metrics.Hits() > 0, c.Metrics.Misses() > 0)

	c.Del("b1")
	_, ok = c.Get("b1")
	note("deleted", ok)
	c.Clear()
	_, ok = c.Get("b2")
	note("cleared", ok)
	c.Close()
	return nil
}

func insteadOfRistretto(note noter) error {
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
	ttl, ok := books.TTL("b2")
	note("time to live", ttl > 0 && ttl <= time.Hour, ok)

	for _, b := range books.All() {
		note("value", b.Title)
	}
	s := c.Stats()
	note("room", s.RAM.Bytes-s.RAM.UsedBytes > 0, s.RAM.Bytes)
	if err := c.SetRAMBytes(32 << 20); err != nil {
		return err
	}
	note("less room", c.Stats().RAM.Bytes)
	note("hits", s.Hits > 0, s.Misses > 0)

	if err := books.Delete("b1"); err != nil {
		return err
	}
	_, ok = books.Get("b1")
	note("deleted", ok)
	if err := books.Clear(context.Background()); err != nil {
		return err
	}
	_, ok = books.Get("b2")
	note("cleared", ok)
	return nil
}
