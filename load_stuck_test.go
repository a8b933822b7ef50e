package firn_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/ssd"
	"github.com/firncache/firn/internal/vfs"
)

// returns fails the test if f does not return: it turns a hang into a failure.
func returns(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Errorf("%s does not return", what)
		t.FailNow()
	}
}

// fillBelow sets numbered keys, and returns n of them that the disk holds.
func fillBelow(t *testing.T, c *firn.Cache, n int) (below [][]byte) {
	t.Helper()
	const most = 6000 // twice what fits into RAM
	for i := range most {
		key, value := numbered(i)
		if err := c.Set(key, value); err != nil {
			t.Fatal(err)
		}
	}
	for i := 0; i < most && len(below) < n; i++ {
		key, _ := numbered(i)
		before := c.Stats().SSDHits
		if c.Get(nil, key); c.Stats().SSDHits > before {
			below = append(below, key)
		}
	}
	if len(below) < n {
		t.Fatalf("the disk holds %d keys: %+v", len(below), c.Stats())
	}
	return below
}

// stuckLoad is a load whose value is in RAM, while the disk does not come back
// from noting that what it holds is older. result is what Refresh returns.
func stuckLoad(t *testing.T, loading firn.LoadingOptions) (c *firn.Cache, key []byte, in *vfs.Injection, result chan error) {
	t.Helper()
	f := vfs.NewFaulty(vfs.NewMem())
	c, err := firn.Open(firn.Options{RAMBytes: 1 << 20, Loading: loading,
		SSD: firn.SSDOptions{Bytes: 16 << 20, SegmentBytes: 64 << 10, Admission: firn.AdmitAll}.On(f).With(func(c *ssd.Config) {
			c.Throttle, c.Patience = time.Minute, 20*time.Millisecond
		})})
	if err != nil {
		t.Fatal(err)
	}
	key = fillBelow(t, c, 1)[0]
	in = f.Inject(vfs.Rule{On: vfs.OpWrite, Name: "journal", Block: true})
	result = make(chan error, 1)
	go func() { result <- c.Refresh(context.Background(), key, value("new")) }()
	in.AwaitBlocked(1)
	return c, key, in, result
}

// While a loaded value waits for the disk, nobody else does: not who uses other
// keys, nor who has no time left, nor Close.
func TestStuckLoadHoldsUpNobody(t *testing.T) {
	t.Parallel()
	c, key, in, result := stuckLoad(t, firn.LoadingOptions{})
	defer in.Remove()
	hot := []byte("hot")
	returns(t, "Set of another key", func() {
		if err := c.Set(hot, []byte("v")); err != nil {
			t.Error(err)
		}
	})
	returns(t, "Delete of another key", func() {
		if err := c.Delete(hot); err != nil {
			t.Error(err)
		}
	})
	returns(t, "GetOrLoad of another key", func() {
		if v, err := c.GetOrLoad(context.Background(), nil, []byte("other"), value("loaded")); err != nil || string(v) != "loaded" {
			t.Errorf("%q, %v", v, err)
		}
	})
	returns(t, "a read of the loaded key", func() {
		if v, ok := c.Get(nil, key); !ok || string(v) != "new" {
			t.Errorf("%q, %v", v, ok)
		}
	})
	returns(t, "Refresh whose context ends", func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		if err := c.Refresh(ctx, key, value("newer")); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
	returns(t, "GetOrLoad whose context is over", func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := c.GetOrLoad(ctx, nil, []byte("a third"), value("v")); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	returns(t, "Close", func() { _ = c.Close() })
	returns(t, "the Refresh", func() {
		if err := <-result; !errors.Is(err, firn.ErrClosed) {
			t.Errorf("the Refresh that waits for the disk, after Close: %v", err)
		}
	})
}

// At the hard timeout the callers get the value that came in time, though it waits
// for the disk still; a Refresh is told.
func TestStuckLoadEndsWithHardTimeout(t *testing.T) {
	t.Parallel()
	c, key, in, result := stuckLoad(t, firn.LoadingOptions{HardTimeout: 50 * time.Millisecond})
	defer in.Remove()
	returns(t, "the Refresh", func() {
		if err := <-result; !errors.Is(err, firn.ErrLoadTimeout) {
			t.Errorf("the Refresh that waits for the disk, at the hard timeout: %v", err)
		}
	})
	returns(t, "GetOrLoad", func() {
		if v, err := c.GetOrLoad(context.Background(), nil, key, value("newest")); err != nil || string(v) != "new" {
			t.Errorf("%q, %v: want what was loaded", v, err)
		}
	})
	returns(t, "Close", func() { _ = c.Close() })
}

// Who writes another key than those that are being loaded does not need the list
// of loads.
func TestWritesPassLoads(t *testing.T) {
	t.Parallel()
	c := openSmall(t)
	ctx, cancel := context.WithCancel(context.Background())
	loading := make(chan struct{})
	over := make(chan struct{})
	go func() {
		defer close(over)
		_, _ = c.GetOrLoad(ctx, nil, []byte("k"), func(ctx context.Context, _ []byte) ([]byte, error) {
			close(loading)
			<-ctx.Done()
			return nil, ctx.Err()
		})
	}()
	<-loading
	release := sync.OnceFunc(c.HoldLoads())
	defer release()
	returns(t, "a write of another key", func() {
		var keys, values [][]byte
		for i := range 1000 {
			keys, values = append(keys, fmt.Append(nil, i)), append(values, []byte("v"))
		}
		for _, key := range keys {
			if err := errors.Join(c.Set(key, key), c.SetWithTTL(key, key, time.Hour), c.Delete(key)); err != nil {
				t.Error(err)
			}
		}
		if err := c.SetMulti(keys, values); err != nil {
			t.Error(err)
		}
	})
	release()
	cancel()
	<-over
}

// A background load whose key is written is cancelled: nobody wants it.
func TestWriteCancelsBackgroundLoad(t *testing.T) {
	k := []byte("k")
	for name, write := range map[string]func(c *firn.Cache) error{
		"Set":      func(c *firn.Cache) error { return c.SetWithTTL(k, []byte("set"), 0) },
		"SetMulti": func(c *firn.Cache) error { return c.SetMulti([][]byte{k}, [][]byte{k}) },
		"Delete":   func(c *firn.Cache) error { return c.Delete(k) },
		"Clear":    func(c *firn.Cache) error { return c.Clear() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := openSmall(t, func(o *firn.Options) { o.TTL, o.Loading.StaleFor = time.Minute, time.Hour })
				s := &source{}
				s.expect(t, c, "v1", nil)
				time.Sleep(2 * time.Minute)
				s.slow = time.Hour
				s.expect(t, c, "v1", nil)
				synctest.Wait()
				if n := c.Stats().LoadsActive; n != 1 {
					t.Fatalf("%d loads run", n)
				}
				if err := write(c); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if n := c.Stats().LoadsActive; n != 0 {
					t.Errorf("%d loads run after the write", n)
				}
			})
		})
	}
}
