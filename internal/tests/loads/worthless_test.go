package loads

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/firntest"
	"github.com/firncache/firn/internal/shared/sharedtest"
	"github.com/firncache/firn/internal/tests/harness"
)

// spoils are the ways to make a value that is stored worthless.
var spoils = map[string]func(t *testing.T, c *firn.Cache, values *firn.Typed[int, int]){
	"an invalidated tag": func(t *testing.T, c *firn.Cache, values *firn.Typed[int, int]) {
		harness.Must(t, values.InvalidateTag(t.Context(), "tag"))
	},
	"another type": func(t *testing.T, c *firn.Cache, _ *firn.Typed[int, int]) {
		for key := range c.All() {
			harness.Must(t, c.Set(key, []byte("of another type")))
		}
	},
	"bytes that cannot be decoded": func(t *testing.T, c *firn.Cache, _ *firn.Typed[int, int]) {
		others, err := firn.NewTyped(c, "values", firn.TypedOptions[int, int]{Codec: broken{}})
		harness.Must(t, err)
		harness.Must(t, others.Set(1, 1))
	},
}

// numbers is a codec of decimal numbers, broken one of the same name that writes others. Who
// cannot decode one finds out the later, the more have before.
type numbers struct{ late *atomic.Int64 }

func (numbers) Name() string { return "numbers" }
func (numbers) Append(dst []byte, n int) ([]byte, error) {
	return strconv.AppendInt(dst, int64(n), 10), nil
}
func (c numbers) Decode(b []byte) (int, error) {
	n, err := strconv.Atoi(string(b))
	if err != nil {
		time.Sleep(time.Duration(c.late.Add(1)) * 50 * time.Microsecond)
	}
	return n, err
}

type broken struct{ numbers }

func (broken) Append(dst []byte, _ int) ([]byte, error) { return append(dst, "text"...), nil }

// However many readers find a value that is worthless, it is loaded once: those that come late
// to its removal do not void the load that has begun.
func TestWorthlessValueIsLoadedOnce(t *testing.T) {
	for name, spoil := range spoils {
		for where, options := range map[string]func() []firntest.Option{
			"RAM": func() []firntest.Option { return nil },
			"SSD": func() []firntest.Option { return []firntest.Option{firntest.SSD()} },
			"shared": func() []firntest.Option {
				return []firntest.Option{firntest.Options(func(o *firn.Options) { o.Shared = sharedtest.NewServer().Tier() })}
			},
		} {
			t.Run(name+", "+where, func(t *testing.T) {
				for range 5 {
					synctest.Test(t, func(t *testing.T) { loadedOnce(t, spoil, options()...) })
				}
			})
		}
	}
}

// loadedOnce has many readers ask for a worthless value at once.
func loadedOnce(t *testing.T, spoil func(t *testing.T, c *firn.Cache, values *firn.Typed[int, int]), options ...firntest.Option) {
	c := firntest.New(t, append(options, firntest.Options(func(o *firn.Options) { o.Clock = time.Now }))...)
	values, err := firn.NewTyped(c.Cache, "values", firn.TypedOptions[int, int]{Codec: numbers{new(atomic.Int64)}})
	harness.Must(t, err)
	harness.Must(t, values.SetWith(t.Context(), 1, 1, firn.SetOptions{Tags: []string{"tag"}}))
	demote(c)
	spoil(t, c.Cache, values)
	demote(c)
	var loads atomic.Int32
	var readers sync.WaitGroup
	for range 200 {
		readers.Go(func() {
			v, err := values.GetOrLoad(context.Background(), 1, func(ctx context.Context, key int) (int, error) {
				loads.Add(1)
				time.Sleep(10 * time.Millisecond)
				return 2, nil
			})
			if v != 2 || err != nil {
				t.Errorf("%d, %v", v, err)
			}
		})
	}
	readers.Wait()
	if n := loads.Load(); n != 1 {
		t.Errorf("%d loads, want 1", n)
	}
}

// demote takes all out of RAM, if there is an SSD for it.
func demote(c *firntest.Cache) {
	if c.Disk != nil {
		c.DemoteAll()
	}
}
