package loads

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
)

// keysOfShards are keys of so many different shards of the loads.
func keysOfShards(c *firn.Cache, n int) (keys [][]byte) {
	var shards []int
	for i := 0; len(keys) < n; i++ {
		key := fmt.Append(nil, "key ", i)
		if s := harness.LoadShard(c, key); !slices.Contains(shards, s) {
			shards, keys = append(shards, s), append(keys, key)
		}
	}
	return keys
}

// Loads, and writes of keys that are loaded, do not need the shard of another key.
func TestLoadsPassOtherShards(t *testing.T) {
	t.Parallel()
	c := harness.OpenSmall(t)
	keys := keysOfShards(c, 30)
	held, others := keys[0], keys[1:]
	release := sync.OnceFunc(harness.HoldLoadShard(c, harness.LoadShard(c, held)))
	defer release()
	waits := make(chan error, 1)
	go func() {
		_, err := c.GetOrLoad(t.Context(), nil, held, harness.Value("v"))
		waits <- err
	}()
	harness.Returns(t, "a load of another key", func() {
		for _, key := range others {
			v, err := c.GetOrLoad(t.Context(), nil, key, func(context.Context, []byte) ([]byte, error) {
				return []byte("old"), c.Set(key, []byte("new"))
			})
			if now, _ := c.Get(nil, key); err != nil || string(v) != "old" || string(now) != "new" {
				t.Errorf("%s: %q, %v; stored: %q", key, v, err, now)
			}
			if _, err := c.Refresh(t.Context(), nil, key, harness.Value("newest")); err != nil {
				t.Errorf("%s: Refresh: %v", key, err)
			}
		}
		var b firn.Batch
		if err := errors.Join(c.Clear(t.Context()), c.GetOrLoadMulti(t.Context(), &b, others, afterAll(0, "v"))); err != nil {
			t.Error(err)
		}
	})
	if n := len(waits); n != 0 {
		t.Error("a load of the key did not wait for its shard")
	}
	release()
	if err := <-waits; err != nil {
		t.Error(err)
	}
}

// Close ends a call with loads in many shards as one: every caller gets ErrClosed, as
// does the loader, and none counts as failed, though the loader returns at once.
func TestCloseEndsBulkLoads(t *testing.T) {
	t.Parallel()
	for range 50 {
		c := harness.OpenSmall(t)
		keys := keysOfShards(c, 50)
		loading := make(chan struct{})
		var group sync.WaitGroup
		group.Go(func() {
			var b firn.Batch
			err := c.GetOrLoadMulti(t.Context(), &b, keys, func(ctx context.Context, _ [][]byte) ([][]byte, error) {
				close(loading)
				<-ctx.Done()
				if cause := context.Cause(ctx); cause != firn.ErrClosed {
					t.Errorf("the loader's context ended with %v", cause)
				}
				return nil, ctx.Err()
			})
			if !errors.Is(err, firn.ErrClosed) {
				t.Error(err)
			}
		})
		<-loading
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		group.Wait()
		if s := c.Stats(); s.Loads.Errors != 0 || s.Loads.Active != 0 {
			t.Errorf("%d errors, %d loads under way", s.Loads.Errors, s.Loads.Active)
		}
	}
}

// Two loaders wait, in two shards, for a call that waits for its turn: it is let run
// once.
func TestMaxLoadsNestedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t, func(o *firn.Options) { o.Loading.MaxLoads = 2 })
		keys := keysOfShards(c, 4)
		ask := make(chan struct{})
		var group sync.WaitGroup
		for i := range 2 {
			group.Go(func() {
				v, err := c.GetOrLoad(t.Context(), nil, keys[i], func(ctx context.Context, _ []byte) ([]byte, error) {
					<-ask
					return c.GetOrLoad(ctx, nil, keys[2+i], harness.Value("other"))
				})
				if err != nil || string(v) != "bulk" {
					t.Errorf("%q, %v", v, err)
				}
			})
		}
		synctest.Wait()
		group.Go(func() {
			var b firn.Batch
			if err := c.GetOrLoadMulti(t.Context(), &b, keys[2:], afterAll(0, "bulk")); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		close(ask)
		group.Wait()
	})
}
