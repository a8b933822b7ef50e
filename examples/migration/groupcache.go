package migration

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/firncache/firn"
	"github.com/golang/groupcache"
)

// groups numbers groups: groupcache never forgets one.
var groups atomic.Int64

func usingGroupcache(note noter) error {
	ctx, loads := context.Background(), 0
	gone := errors.New("gone")

	name := fmt.Sprint("titles ", groups.Add(1))
	g := groupcache.NewGroup(name, 64<<20, groupcache.GetterFunc(func(ctx context.Context, key string, dest groupcache.Sink) error {
		if loads++; key == "absent" {
			return gone
		}
		return dest.SetString("title of " + key)
	}))
	note("known", groupcache.GetGroup(name) == g && g.Name() == name)
	for range 2 {
		var title string
		err := g.Get(ctx, "b1", groupcache.StringSink(&title))
		note("get", title, err)
	}
	note("loads", loads)
	var view []byte
	err := g.Get(ctx, "absent", groupcache.AllocatingByteSliceSink(&view))
	note("error", errors.Is(err, gone))
	note("hits", g.Stats.CacheHits.Get() > 0, g.CacheStats(groupcache.MainCache).Items)
	return nil
}

func insteadOfGroupcache(note noter) error {
	ctx, loads := context.Background(), 0
	gone := errors.New("gone")

	c, err := firn.Open(firn.Options{RAMBytes: 64 << 20})
	if err != nil {
		return err
	}
	defer c.Close()
	titles, err := firn.NewTyped(c, "titles", firn.TypedOptions[string, string]{})
	if err != nil {
		return err
	}
	load := func(ctx context.Context, key string) (string, error) {
		if loads++; key == "absent" {
			return "", gone
		}
		return "title of " + key, nil
	}
	for range 2 {
		title, err := titles.GetOrLoad(ctx, "b1", load)
		note("get", title, err)
	}
	note("loads", loads)
	_, err = titles.GetOrLoad(ctx, "absent", load)
	note("error", errors.Is(err, gone))
	note("hits", c.Stats().Hits > 0, titles.Len())
	return nil
}
