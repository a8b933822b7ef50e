package migration

import (
	"bytes"
	"context"
	"encoding/gob"
	"time"

	"github.com/firncache/firn"
	"github.com/patrickmn/go-cache"
)

func usingGoCache(note noter, file string) error {
	var left []string

	c := cache.New(10*time.Minute, time.Minute)
	c.OnEvicted(func(key string, value any) { left = append(left, key) })
	c.Set("title", "Firn", time.Hour)
	c.SetDefault("pages", 64)
	c.Set("forever", true, cache.NoExpiration)
	v, ok := c.Get("title")
	title, isString := v.(string)
	note("get", title, ok && isString)
	_, ok = c.Get("absent")
	note("miss", ok)
	_, expires, ok := c.GetWithExpiration("pages")
	note("expires", time.Until(expires) <= 10*time.Minute, ok)

	note("add", c.Add("title", "Snow", time.Hour) == nil)
	note("replace", c.Replace("absent", "Snow", time.Hour) == nil)
	pages, err := c.IncrementInt("pages", 1)
	note("increment", pages, err)
	pages, err = c.DecrementInt("pages", 1)
	note("decrement", pages, err)

	note("items", len(c.Items()))
	note("count", c.ItemCount())
	c.DeleteExpired()

	var saved bytes.Buffer
	if err := c.Save(&saved); err != nil {
		return err
	}
	if err := c.Load(&saved); err != nil {
		return err
	}
	if err := c.SaveFile(file); err != nil {
		return err
	}
	if err := c.LoadFile(file); err != nil {
		return err
	}

	c.Delete("title")
	note("left", len(left))
	c.Flush()
	note("empty", c.ItemCount())
	return nil
}

func insteadOfGoCache(note noter) error {
	ctx, left := context.Background(), 0

	c, err := firn.Open(firn.Options{
		RAMBytes: 64 << 20,
		TTL:      10 * time.Minute,
		OnEvict: func(key, value []byte, cause firn.Cause) {
			if cause == firn.CauseDeleted || cause == firn.CauseExpired {
				left++
			}
		},
	})
	if err != nil {
		return err
	}
	defer c.Close()
	values, err := firn.NewTyped(c, "values", firn.TypedOptions[string, any]{Codec: anything{}})
	if err != nil {
		return err
	}
	if err := values.SetWithTTL("title", "Firn", time.Hour); err != nil {
		return err
	}
	if err := values.Set("pages", 64); err != nil {
		return err
	}
	if err := values.SetWithTTL("forever", true, firn.Forever); err != nil {
		return err
	}
	v, ok := values.Get("title")
	title, isString := v.(string)
	note("get", title, ok && isString)
	_, ok = values.Get("absent")
	note("miss", ok)
	ttl, ok := values.TTL("pages")
	note("expires", ttl <= 10*time.Minute, ok)

	titles, err := firn.NewTyped(c, "titles", firn.TypedOptions[string, string]{})
	if err != nil {
		return err
	}
	if err := titles.Set("title", "Firn"); err != nil {
		return err
	}
	stored, err := titles.SetIfAbsent(ctx, "title", "Snow")
	note("add", stored && err == nil)
	_, ok, err = titles.Compute(ctx, "absent", func(old string, ok bool) (string, firn.Op) {
		if !ok {
			return "", firn.OpKeep
		}
		return "Snow", firn.OpSetTTL(time.Hour)
	})
	note("replace", ok && err == nil)
	counters, err := firn.NewTyped(c, "counters", firn.TypedOptions[string, int]{})
	if err != nil {
		return err
	}
	if err := counters.Set("pages", 64); err != nil {
		return err
	}
	pages, err := firn.Increment(ctx, counters, "pages", 1)
	note("increment", pages, err)
	pages, err = firn.Increment(ctx, counters, "pages", -1)
	note("decrement", pages, err)

	if err := values.Delete("title"); err != nil {
		return err
	}
	note("left", left)
	if err := c.Clear(ctx); err != nil {
		return err
	}
	note("empty", c.Len())
	return nil
}

// anything is a codec for values of many types under one cache: gob writes the name of a value's type
// before it. Types of your own have to be registered, by gob.Register.
type anything struct{}

func (anything) Name() string { return "gob, any" }

func (anything) Append(dst []byte, v any) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	err := gob.NewEncoder(b).Encode(&v)
	return b.Bytes(), err
}

func (anything) Decode(src []byte) (v any, err error) {
	err = gob.NewDecoder(bytes.NewReader(src)).Decode(&v)
	return v, err
}
