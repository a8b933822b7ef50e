package migration

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/coocood/freecache"
	"github.com/firncache/firn"
)

func usingFreecache(note noter) error {
	key, value, absent := []byte("key"), []byte("value"), []byte("absent")

	c := freecache.NewCache(64 << 20)
	if err := c.Set(key, value, 60); err != nil {
		return err
	}
	got, err := c.Get(key)
	note("get", string(got), err)
	_, err = c.Get(absent)
	note("miss", errors.Is(err, freecache.ErrNotFound))
	got, err = c.GetWithBuf(key, got)
	note("get into a buffer", string(got), err)
	err = c.GetFn(key, func(v []byte) error { note("look at", string(v)); return nil })
	note("looked", err)
	got, err = c.Peek(key)
	note("peek", string(got), err)
	note("looked in peace", c.PeekFn(key, func([]byte) error { return nil }))

	left, err := c.TTL(key)
	note("time to live", left > 0 && left <= 60, err)
	_, at, err := c.GetWithExpiration(key)
	note("expires", at > 0, err)
	_, at, err = c.GetWithExpirationAndBuf(key, got)
	note("expires", at > 0, err)
	_, at, err = c.PeekWithExpiration(key)
	note("expires", at > 0, err)
	note("touch", c.Touch(key, 120))
	left, err = c.TTL(key)
	note("touched", left > 60, err)

	_, err = c.GetOrSet([]byte("other"), value, 60)
	note("get or set", err)
	old, found, err := c.SetAndGet(key, []byte("newer"), 60)
	note("swap", string(old), found, err)
	_, _, err = c.Update(key, func(v []byte, found bool) ([]byte, bool, int) { return slices.Concat(v, []byte("s")), found, 60 })
	got, _ = c.Get(key)
	note("update", string(got), err)
	values, _ := c.MultiGet([][]byte{key, absent})
	note("many", string(values[0]), values[1] == nil)

	if err := c.SetInt(7, value, 60); err != nil {
		return err
	}
	got, err = c.GetInt(7)
	note("under a number", string(got), err)
	_, at, err = c.GetIntWithExpiration(7)
	note("expires", at > 0, err)
	note("number deleted", c.DelInt(7))

	for it := c.NewIterator(); ; {
		entry := it.Next()
		if entry == nil {
			break
		}
		note("entry", string(entry.Key), string(entry.Value))
	}
	note("length", c.EntryCount())
	note("hits", c.HitCount() > 0, c.MissCount() > 0, c.HitRate() > 0)
	note("counters", c.LookupCount() > 0, c.EvacuateCount(), c.ExpiredCount(), c.OverwriteCount() > 0, c.TouchedCount(), c.AverageAccessTime() > 0)
	c.ResetStatistics()

	note("deleted", c.Del(key), c.Del(absent))
	c.Clear()
	note("empty", c.EntryCount())
	return nil
}

func insteadOfFreecache(note noter) error {
	ctx := context.Background()
	key, value, absent := []byte("key"), []byte("value"), []byte("absent")

	c, err := firn.Open(firn.Options{RAMBytes: 64 << 20, TTL: time.Minute})
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.Set(key, value); err != nil {
		return err
	}
	got, err := c.Lookup(ctx, nil, key)
	note("get", string(got), err)
	_, err = c.Lookup(ctx, nil, absent)
	note("miss", errors.Is(err, firn.ErrNotFound))
	got, err = c.Lookup(ctx, got[:0], key)
	note("get into a buffer", string(got), err)
	note("look at", string(got))
	note("looked", err)
	note("peek", string(got), err)
	note("looked in peace", nil)

	ttl, ok := c.TTL(key)
	note("time to live", ok && ttl > 0 && ttl <= time.Minute, nil)
	for range 4 { // freecache's ways to ask
		note("expires", ok, nil)
	}
	_, err = c.Touch(ctx, key, 2*time.Minute)
	note("touch", err)
	entry, err := c.LookupEntry(ctx, nil, key)
	note("touched", entry.TTL > time.Minute, err)

	_, err = c.SetIfAbsent(ctx, []byte("other"), value)
	note("get or set", err)
	var before string
	var found bool
	err = c.Compute(ctx, key, func(old []byte, ok bool) ([]byte, firn.Op) {
		before, found = string(old), ok // old is lent until Compute returns
		return []byte("newer"), firn.OpSet
	})
	note("swap", before, found, err)
	err = c.Compute(ctx, key, func(old []byte, ok bool) ([]byte, firn.Op) { return append(old, 's'), firn.OpSet })
	got, _ = c.Get(nil, key)
	note("update", string(got), err)
	var batch firn.Batch
	c.GetMulti(ctx, &batch, [][]byte{key, absent})
	first, _ := batch.Value(0)
	_, ok = batch.Value(1)
	note("many", string(first), !ok)

	numbers, err := firn.NewTyped(c, "numbers", firn.TypedOptions[int64, []byte]{})
	if err != nil {
		return err
	}
	if err := numbers.Set(7, value); err != nil {
		return err
	}
	got, err = numbers.Lookup(ctx, 7)
	note("under a number", string(got), err)
	note("number deleted", numbers.Delete(7) == nil)

	for key, value := range c.All() {
		note("entry", string(key), string(value))
	}
	note("length", c.Len())
	s := c.Stats()
	note("hits", s.Hits > 0, s.Misses > 0, s.HitRatio() > 0)

	_, err = c.GetAndDelete(ctx, nil, key)
	_, errOfAbsent := c.GetAndDelete(ctx, nil, absent)
	note("deleted", err == nil, errOfAbsent == nil)
	if err := c.Clear(ctx); err != nil {
		return err
	}
	note("empty", c.Len())
	return nil
}
