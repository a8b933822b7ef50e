package bytes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// spans is a Tracer that notes its spans when they end.
type spans struct {
	mu    sync.Mutex
	ended []string
}

type spanKey struct{}

func (s *spans) end(name string) func(error) {
	return func(err error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ended = append(s.ended, fmt.Sprintf("%s: %v", name, err))
	}
}

func (s *spans) StartLoad(ctx context.Context, keys int, background bool) (context.Context, func(error)) {
	name := fmt.Sprintf("load of %d below %v, background %v", keys, ctx.Value(spanKey{}), background)
	return context.WithValue(ctx, spanKey{}, "load"), s.end(name)
}

func (s *spans) StartSSDRead(ctx context.Context, records int) func(error) {
	return s.end(fmt.Sprintf("read of %d below %v", records, ctx.Value(spanKey{})))
}

func (s *spans) want(t *testing.T, want ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.ended, want) {
		t.Errorf("spans %q, want %q", s.ended, want)
	}
	s.ended = nil
}

// Each call of a loader has a span, also one that fails, panics or that nobody waits for, and
// the loader's context is the span's.
func TestTracerOfLoads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s spans
		c := harness.Open(t, firn.Options{RAMBytes: 1 << 20, Clock: time.Now, TTL: time.Minute, Tracer: &s,
			Loading: firn.LoadingOptions{RefreshAfter: 30 * time.Second}})
		ctx := context.WithValue(context.Background(), spanKey{}, "caller")
		load := func(ctx context.Context, _ []byte) ([]byte, error) {
			if ctx.Value(spanKey{}) != "load" {
				t.Error("the loader's context is not that of its span")
			}
			firn.SetLoadTTL(ctx, time.Minute) // which needs the context of a loader
			return []byte("v"), nil
		}
		get := func(key string, load firn.LoadFunc) {
			defer func() { _ = recover() }()
			_, _ = c.GetOrLoad(ctx, nil, []byte(key), load)
			synctest.Wait()
		}
		get("k", load)
		s.want(t, "load of 1 below caller, background false: <nil>")
		get("k", load)
		s.want(t)
		time.Sleep(40 * time.Second)
		get("k", load)
		s.want(t, "load of 1 below caller, background true: <nil>")
		get("fails", func(context.Context, []byte) ([]byte, error) { return nil, errors.New("down") })
		s.want(t, "load of 1 below caller, background false: down")
		get("panics", func(context.Context, []byte) ([]byte, error) { panic("in a loader") })
		synctest.Wait()
		s.want(t, "load of 1 below caller, background false: firn: the loader panicked")
		var b firn.Batch
		_ = c.GetOrLoadMulti(ctx, &b, [][]byte{[]byte("1"), []byte("2"), []byte("k")}, func(_ context.Context, keys [][]byte) ([][]byte, error) {
			return make([][]byte, len(keys)), nil
		})
		s.want(t, "load of 2 below caller, background false: <nil>")
	})
}

// Each read of the disk has a span, if its caller has a context, also one of many records
// and of a value in parts.
func TestTracerOfReads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s spans
		o := harness.HybridOptions(vfstest.NewMem())
		o.Tracer = &s
		c, err := firn.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		harness.Set(t, c, []byte("long"), make([]byte, 200_000))
		for i := range 6000 {
			key, value := harness.Numbered(i)
			harness.Set(t, c, key, value)
		}
		synctest.Wait()
		i := 0
		for before := c.Stats().SSD.Reads; c.Stats().SSD.Reads == before; i++ {
			key, _ := harness.Numbered(i)
			c.Get(nil, key)
		}
		s.want(t)
		ctx := context.WithValue(context.Background(), spanKey{}, "caller")
		for ; len(s.ended) == 0; i++ {
			key, _ := harness.Numbered(i)
			if _, err := c.Lookup(ctx, nil, key); err != nil {
				t.Fatal(err)
			}
		}
		s.want(t, "read of 1 below caller: <nil>")
		if key, _ := harness.Numbered(i - 1); c.Has(key) { // which is in RAM now
			c.Lookup(ctx, nil, key)
		}
		if _, err := c.Lookup(ctx, nil, []byte("absent")); !errors.Is(err, firn.ErrNotFound) {
			t.Fatal(err)
		}
		s.want(t)
		if _, err := c.Lookup(ctx, nil, []byte("long")); err != nil {
			t.Fatal(err)
		}
		if len(s.ended) == 0 {
			t.Error("a value in parts was read without a span")
		}
		s.ended = nil
		var b firn.Batch
		var keys [][]byte
		for n := range 500 {
			key, _ := harness.Numbered(i + n)
			keys = append(keys, key)
		}
		before := c.Stats().SSD.Reads
		if err := c.GetMulti(ctx, &b, keys); err != nil {
			t.Fatal(err)
		}
		traced := 0
		for _, span := range s.ended {
			var n int
			if _, err := fmt.Sscanf(span, "read of %d below caller: <nil>", &n); err != nil {
				t.Errorf("%s: %v", span, err)
			}
			traced += n
		}
		if reads := int(c.Stats().SSD.Reads - before); traced != reads || len(s.ended) >= reads {
			t.Errorf("%d spans of %d reads together, want fewer, of %d", len(s.ended), traced, reads)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// That nothing was modified is an answer.
func TestTracerOfNotModified(t *testing.T) {
	t.Parallel()
	var s spans
	c := harness.Open(t, firn.Options{RAMBytes: 1 << 20, Tracer: &s})
	harness.Set(t, c, []byte("k"), []byte("v"))
	v, err := c.Refresh(context.Background(), nil, []byte("k"), func(ctx context.Context, _ []byte) ([]byte, error) {
		_, _ = firn.CachedValue(ctx)
		return nil, firn.ErrNotModified
	})
	if string(v) != "v" || err != nil {
		t.Errorf("%q, %v", v, err)
	}
	s.want(t, "load of 1 below <nil>, background false: <nil>")
}
