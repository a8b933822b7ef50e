package loads

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
)

// The ErrClosed of a loader, which asks another cache perhaps, is a failure like
// others: what the cache has stays, and is the answer under StaleIfError.
func TestLoaderReturnsErrClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closed := harness.OpenSmall(t)
		closed.Close()
		load := func(ctx context.Context, key []byte) ([]byte, error) { return closed.GetOrLoad(ctx, nil, key, nil) }
		c := harness.OpenSmall(t, func(o *firn.Options) {
			o.TTL = time.Minute
			o.Loading = firn.LoadingOptions{NegativeTTL: time.Hour, StaleIfError: time.Hour}
		})
		if _, err := c.GetOrLoad(t.Context(), nil, []byte("none"), load); !errors.Is(err, firn.ErrClosed) {
			t.Errorf("GetOrLoad: %v, want ErrClosed", err)
		}
		if v, err := c.GetOrLoad(t.Context(), nil, []byte("none"), harness.Value("v")); string(v) != "v" || err != nil {
			t.Errorf("the next GetOrLoad: %q, %v", v, err)
		}
		k := []byte("k")
		if err := c.Set(k, []byte("old")); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Refresh(t.Context(), nil, k, load); !errors.Is(err, firn.ErrClosed) {
			t.Errorf("Refresh: %v, want ErrClosed", err)
		}
		if v, ok := c.Get(nil, k); string(v) != "old" || !ok {
			t.Errorf("after a Refresh that failed: %q, %v", v, ok)
		}
		time.Sleep(2 * time.Minute)
		if v, err := c.GetOrLoad(t.Context(), nil, k, load); string(v) != "old" || err != nil {
			t.Errorf("under StaleIfError: %q, %v", v, err)
		}
		if n := c.Stats().Loads.Errors; n != 3 {
			t.Errorf("%d loads failed, want 3", n)
		}
	})
}

// Close ends the loads under way itself: what a loader returns right after it is
// no answer, and not stored.
func TestCloseEndsLoadsItself(t *testing.T) {
	t.Parallel()
	for range 100 {
		c := harness.OpenSmall(t)
		_, err := c.Refresh(t.Context(), nil, []byte("k"), func(context.Context, []byte) ([]byte, error) {
			if err := c.Close(); err != nil {
				return nil, err
			}
			if n := c.Stats().Loads.Active; n != 0 {
				t.Errorf("%d loads go on after Close", n)
			}
			return []byte("v"), nil
		})
		if err != firn.ErrClosed {
			t.Errorf("Refresh: %v, want ErrClosed", err)
		}
	}
}

// A refresh in the background that a write has superseded is cancelled when the
// last caller that waits for it leaves.
func TestSupersededRefreshIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t, func(o *firn.Options) {
			o.TTL = time.Minute
			o.Loading.StaleWhileRevalidate, o.Loading.HardTimeout = time.Minute, firn.Forever
		})
		k := []byte("k")
		if err := c.Set(k, []byte("old")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(90 * time.Second)
		cancelled := false
		load := func(ctx context.Context, _ []byte) ([]byte, error) {
			<-ctx.Done()
			cancelled = true
			return nil, ctx.Err()
		}
		if v, err := c.GetOrLoad(t.Context(), nil, k, load); string(v) != "old" || err != nil {
			t.Fatalf("%q, %v: want the stale value", v, err)
		}
		time.Sleep(time.Minute) // past StaleWhileRevalidate: the next caller waits
		ctx, leave := context.WithCancel(t.Context())
		left := make(chan error)
		go func() {
			_, err := c.GetOrLoad(ctx, nil, k, harness.Value("unused"))
			left <- err
		}()
		synctest.Wait()
		if err := c.Set(k, []byte("new")); err != nil {
			t.Fatal(err)
		}
		if synctest.Wait(); cancelled {
			t.Error("cancelled while a caller waits")
		}
		leave()
		if err := <-left; err != context.Canceled {
			t.Errorf("the caller: %v", err)
		}
		if synctest.Wait(); !cancelled {
			t.Error("the loader goes on, and nobody wants what it loads")
		}
	})
}

// A Set that has won over a load is no error of Refresh, whatever the load would
// have come to.
func TestTooLargeLoadLosesQuietly(t *testing.T) {
	t.Parallel()
	c := harness.OpenSmall(t)
	k := []byte("k")
	_, err := c.Refresh(t.Context(), nil, k, func(context.Context, []byte) ([]byte, error) {
		return make([]byte, 1<<19), c.Set(k, []byte("set"))
	})
	if v, ok := c.Get(nil, k); err != nil || string(v) != "set" || !ok {
		t.Errorf("Refresh: %v, and there is %q, %v", err, v, ok)
	}
	if n := c.Stats().Loads.StoreErrors; n != 0 {
		t.Errorf("%d loaded values count as not stored", n)
	}
}
