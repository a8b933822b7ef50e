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
	note("touch", c.SetWithTTL(key, got, 2*time.Minute))
	ttl, _ = c.TTL(key)
	note("touched", ttl > time.Minute, nil)

	_, err = c.GetOrLoad(ctx, nil, []byte("other"), func(context.Context, []byte) ([]byte, error) { return value, nil })
	note("get or set", err)
	old, found := c.Get(nil, key)
	err = c.Set(key, []byte("newer"))
	note("swap", string(old), found, err)
	got, _ = c.Get(got[:0], key)
	got = append(got, 's')
	err = c.Set(key, got)
	note("update", string(got), err)
	var batch firn.Batch
	c.GetMulti(&batch, [][]byte{key, absent})
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

	n := 0
	for _, key := range [][]byte{key, []byte("other")} {
		if v, ok := c.Get(nil, key); ok {
			note("entry", string(key), string(v))
			n++
		}
	}
	note("length", n)
	s := c.Stats()
	note("hits", s.Hits > 0, s.Misses > 0, s.HitRatio() > 0)

	was, wasAbsent := c.Has(key), c.Has(absent)
	err = errors.Join(c.Delete(key), c.Delete(absent))
	note("deleted", was && err == nil, wasAbsent)
	if err := c.Clear(); err != nil {
		return err
	}
	note("empty", c.Len())
	return nil
}
