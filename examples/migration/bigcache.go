package migration

import (
	"context"
	"errors"
	"time"

	"github.com/allegro/bigcache/v3"
	"github.com/firncache/firn"
)

func usingBigcache(note noter) error {
	ctx, value := context.Background(), []byte("value")
	var left []string

	config := bigcache.DefaultConfig(10 * time.Minute)
	config.HardMaxCacheSize = 64
	config.Verbose = false
	config.OnRemoveWithReason = func(key string, entry []byte, reason bigcache.RemoveReason) {
		left = append(left, key)
	}
	c, err := bigcache.New(ctx, config)
	if err != nil {
		return err
	}
	if err := c.Set("key", value); err != nil {
		return err
	}
	got, err := c.Get("key")
	note("get", string(got), err)
	_, err = c.Get("absent")
	note("miss", errors.Is(err, bigcache.ErrEntryNotFound))
	got, info, err := c.GetWithInfo("key")
	note("expired", string(got), info.EntryStatus == bigcache.Expired, err)

	if err := c.Append("key", []byte("s")); err != nil {
		return err
	}
	got, _ = c.Get("key")
	note("appended", string(got))
	note("metadata", c.KeyMetadata("absent").RequestCount > 0)

	for it := c.Iterator(); it.SetNext(); {
		entry, err := it.Value()
		if err != nil {
			return err
		}
		note("entry", entry.Key(), string(entry.Value()))
	}
	note("length", c.Len())
	note("bytes", c.Capacity() > 0)
	note("hits", c.Stats().Hits > 0)
	if err := c.ResetStats(); err != nil {
		return err
	}

	if err := c.Delete("key"); err != nil {
		return err
	}
	note("left", left)
	if err := c.Reset(); err != nil {
		return err
	}
	note("empty", c.Len())
	return c.Close()
}

func insteadOfBigcache(note noter) error {
	ctx, value := context.Background(), []byte("value")
	key, absent := []byte("key"), []byte("absent")
	var left []string

	c, err := firn.Open(firn.Options{
		RAMBytes: 64 << 20,
		TTL:      10 * time.Minute,
		OnEvict: func(key, value []byte, cause firn.Cause) {
			if cause != firn.CauseReplaced {
				left = append(left, string(key))
			}
		},
	})
	if err != nil {
		return err
	}
	if err := c.Set(key, value); err != nil {
		return err
	}
	got, err := c.Lookup(ctx, nil, key)
	note("get", string(got), err)
	_, err = c.Lookup(ctx, nil, absent)
	note("miss", errors.Is(err, firn.ErrNotFound))
	ttl, ok := c.TTL(key)
	note("expired", string(got), !ok || ttl <= 0, nil)

	err = c.Compute(ctx, key, func(old []byte, ok bool) ([]byte, firn.Op) { return append(old, 's'), firn.OpSet })
	if err != nil {
		return err
	}
	got, _ = c.Get(got[:0], key)
	note("appended", string(got))
	note("metadata", false)

	for key, value := range c.All() {
		note("entry", string(key), string(value))
	}
	note("length", c.Len())
	note("bytes", c.Stats().RAM.UsedBytes > 0)
	note("hits", c.Stats().Hits > 0)

	if err := c.Delete(key); err != nil {
		return err
	}
	note("left", left)
	if err := c.Clear(ctx); err != nil {
		return err
	}
	note("empty", c.Len())
	return c.Close()
}
