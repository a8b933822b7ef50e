package loads

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// fillBelow sets numbered keys, and returns n of them that the disk holds.
func fillBelow(t *testing.T, c *firn.Cache, n int) (below [][]byte) {
	t.Helper()
	const most = 6000 // twice what fits into RAM
	for i := range most {
		key, value := harness.Numbered(i)
		if err := c.Set(key, value); err != nil {
			t.Fatal(err)
		}
	}
	for i := 0; i < most && len(below) < n; i++ {
		key, _ := harness.Numbered(i)
		before := c.Stats().SSD.Hits
		if c.Get(nil, key); c.Stats().SSD.Hits > before {
			below = append(below, key)
		}
	}
	if len(below) < n {
		t.Fatalf("the disk holds %d keys: %+v", len(below), c.Stats())
	}
	return below
}

// stuckLoad is a load whose value waits for room: the disk does not take what would
// leave RAM for it. result is what Refresh returns. It is used in a bubble.
func stuckLoad(t *testing.T, loading firn.LoadingOptions) (c *firn.Cache, key []byte, in *vfstest.Injection, result chan error) {
	t.Helper()
	f := vfstest.NewFaulty(vfstest.NewMem())
	c = harness.OpenSmall(t, func(o *firn.Options) {
		o.Loading, o.Clock = loading, time.Now
		o.SSD = harness.With(harness.On(firn.SSDOptions{Bytes: 16 << 20, SegmentBytes: 64 << 10, Admission: firn.AdmitAll}, f), harness.Patiently)
	})
	fillBelow(t, c, 1)
	key = []byte("to be loaded")
	synctest.Wait()
	in = f.Inject(vfstest.Rule{On: vfstest.OpWrite, Name: "log", Block: true})
	result = make(chan error, 1)
	go func() { result <- harness.Err(c.Refresh(context.Background(), nil, key, harness.Value(large))) }()
	in.AwaitBlocked(1)
	synctest.Wait()
	select {
	case err := <-result:
		t.Fatalf("the Refresh waits for nothing: %v", err)
	default:
	}
	return c, key, in, result
}

// large is a value for which more has to leave RAM than the log has memory for.
var large = strings.Repeat("x", 200<<10)

// While a loaded value waits for the disk, nobody else does: not who uses other
// keys, or this one, nor who has no time left, nor Close.
func TestStuckLoadHoldsUpNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, key, in, result := stuckLoad(t, firn.LoadingOptions{})
		defer in.Remove()
		began, hot := time.Now(), []byte("hot")
		if err := errors.Join(c.Set(hot, hot), c.Delete(hot), c.Delete(key), c.Set(key, hot)); err != nil {
			t.Error(err)
		}
		if v, err := c.GetOrLoad(t.Context(), nil, []byte("other"), harness.Value("loaded")); err != nil || string(v) != "loaded" {
			t.Errorf("GetOrLoad of another key: %q, %v", v, err)
		}
		if v, ok := c.Get(nil, key); !ok || string(v) != "hot" {
			t.Errorf("Get of the key: %.20q, %v", v, ok)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.GetOrLoad(ctx, nil, []byte("a third"), harness.Value("v")); !errors.Is(err, context.Canceled) {
			t.Errorf("GetOrLoad whose context is over: %v", err)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("they took %v", took)
		}
		_ = c.Close()
		if err := <-result; err != nil && !errors.Is(err, firn.ErrClosed) {
			t.Errorf("the Refresh that waits for the disk, after Close: %v", err)
		}
	})
}

// At the hard timeout the callers get the value that came in time, though it waits
// for room still; a Refresh is told.
func TestStuckLoadEndsWithHardTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, key, in, result := stuckLoad(t, firn.LoadingOptions{HardTimeout: 50 * time.Millisecond})
		defer in.Remove()
		began := time.Now()
		if v, err := c.GetOrLoad(t.Context(), nil, key, harness.Value("newest")); err != nil || string(v) != large {
			t.Errorf("%.20q, %v: want what was loaded", v, err)
		}
		if err := <-result; !errors.Is(err, firn.ErrLoadTimeout) {
			t.Errorf("the Refresh that waits for the disk, at the hard timeout: %v", err)
		}
		if took := time.Since(began); took > 50*time.Millisecond {
			t.Errorf("they waited for %v", took)
		}
	})
}

// A caller that has its value at the hard timeout, and the load that ends behind it, share nothing:
// the race detector is the judge.
func TestStuckLoadEndsBehindItsCaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, key, in, result := stuckLoad(t, firn.LoadingOptions{HardTimeout: 50 * time.Millisecond})
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			time.Sleep(60 * time.Millisecond)
			in.Remove()
		}()
		if v, err := c.GetOrLoad(t.Context(), nil, key, harness.Value("newest")); err != nil || string(v) != large {
			t.Errorf("%.20q, %v: want what was loaded", v, err)
		}
		<-ended
		<-result
		synctest.Wait()
	})
}

// Who writes another key than those that are being loaded does not need the list
// of loads.
func TestWritesPassLoads(t *testing.T) {
	t.Parallel()
	c := harness.OpenSmall(t)
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
	release := sync.OnceFunc(harness.HoldLoads(c))
	defer release()
	harness.Returns(t, "a write of another key", func() {
		var keys, values [][]byte
		for i := range 1000 {
			keys, values = append(keys, fmt.Append(nil, i)), append(values, []byte("v"))
		}
		for _, key := range keys {
			if err := errors.Join(c.Set(key, key), c.SetWithTTL(key, key, time.Hour), c.Delete(key)); err != nil {
				t.Error(err)
			}
		}
		if err := c.SetMulti(ctx, keys, values); err != nil {
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
		"Set":      func(c *firn.Cache) error { return c.SetWithTTL(k, []byte("set"), firn.Forever) },
		"SetMulti": func(c *firn.Cache) error { return c.SetMulti(t.Context(), [][]byte{k}, [][]byte{k}) },
		"Delete":   func(c *firn.Cache) error { return c.Delete(k) },
		"Clear":    func(c *firn.Cache) error { return c.Clear(t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := harness.OpenSmall(t, func(o *firn.Options) { o.TTL, o.Loading.StaleWhileRevalidate = time.Minute, time.Hour })
				s := &source{}
				s.expect(t, c, "v1", nil)
				time.Sleep(2 * time.Minute)
				s.slow = time.Hour
				s.expect(t, c, "v1", nil)
				synctest.Wait()
				if n := c.Stats().Loads.Active; n != 1 {
					t.Fatalf("%d loads run", n)
				}
				if err := write(c); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if n := c.Stats().Loads.Active; n != 0 {
					t.Errorf("%d loads run after the write", n)
				}
			})
		})
	}
}
