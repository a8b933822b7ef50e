package ssd

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/firntest"
)

// A hit is a read that was answered: neither what looks at a value on the SSD without being a
// read, nor a read that finds there what is no answer.
func TestHitsOnSSD(t *testing.T) {
	ctx, key := context.Background(), []byte("key")
	for name, x := range map[string]struct {
		call         func(c *firntest.Cache)
		hits, misses uint64
	}{
		"Get":      {func(c *firntest.Cache) { c.Get(nil, key) }, 1, 0},
		"GetMulti": {func(c *firntest.Cache) { c.GetMulti(ctx, new(firn.Batch), [][]byte{key, []byte("none")}) }, 1, 1},
		"Compute": {func(c *firntest.Cache) {
			_ = c.Compute(ctx, key, func([]byte, bool) ([]byte, firn.Op) { return nil, firn.OpKeep })
		}, 1, 0},
		"Has":   {func(c *firntest.Cache) { c.Has(key) }, 0, 0},
		"TTL":   {func(c *firntest.Cache) { c.TTL(key) }, 0, 0},
		"Touch": {func(c *firntest.Cache) { _, _ = c.Touch(ctx, key, time.Hour) }, 0, 0},
		"Get of an expired value": {func(c *firntest.Cache) {
			c.Clock.Advance(2 * time.Minute)
			c.Get(nil, key)
		}, 0, 1},
		"GetOrLoad that answers with a stale value": {func(c *firntest.Cache) {
			c.Clock.Advance(2 * time.Minute)
			v, err := c.GetOrLoad(ctx, nil, key, func(context.Context, []byte) ([]byte, error) { return nil, errors.New("down") })
			if string(v) != "value" || err != nil {
				t.Errorf("%q, %v", v, err)
			}
		}, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			c := firntest.New(t, firntest.SSD(), firntest.Options(func(o *firn.Options) {
				o.TTL, o.Loading.StaleIfError = time.Minute, time.Hour
			}))
			if err := c.Set(key, []byte("value")); err != nil {
				t.Fatal(err)
			}
			if !c.Demote(key) {
				t.Fatal("there is nothing to demote")
			}
			x.call(c)
			if s := c.Stats(); s.Hits != x.hits || s.Misses != x.misses || s.SSD.Hits != x.hits {
				t.Errorf("%d hits, %d of them on the SSD, %d misses: want %d, %d", s.Hits, s.SSD.Hits, s.Misses, x.hits, x.misses)
			}
		})
	}
}
