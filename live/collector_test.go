package live

import (
	"encoding/binary"
	"net/http"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/inside"
)

// Frames end with the last cache: nothing runs any more.
func TestEndsWithCaches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := open(t), open(t)
		h := Handler(one, two)
		defer runtime.KeepAlive(h) // or it ends when the page is collected
		c := h.(*page).collector
		seq := func() uint64 {
			synctest.Wait()
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.frame.Seq
		}
		time.Sleep(3 * time.Second)
		_ = one.Close()
		time.Sleep(3 * time.Second)
		if got := seq(); got != 7 {
			t.Errorf("%d frames in 6 s, one cache being open: want 7", got)
		}
		_ = two.Close()
		time.Sleep(time.Hour)
		if got := seq(); got != 8 || c.timer.Stop() {
			t.Errorf("%d frames with all caches closed: want 8, and no timer", got)
		}
		if c.refresh(0); seq() != 8 {
			t.Error("a frame of closed caches is taken anew")
		}
	})
}

// A frame that is late does not shift the others: they come at whole seconds after the first,
// and none within half a second of another.
func TestTimerKeepsItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := Handler(open(t))
		defer runtime.KeepAlive(h)
		c := h.(*page).collector
		begin := c.frame.Time
		c.timer.Reset(3700 * time.Millisecond)
		for _, test := range []struct {
			at, want time.Duration
			seq      uint64
		}{{3600, 0, 1}, {3800, 3700, 2}, {4100, 3700, 2}, {5100, 5000, 3}, {6100, 6000, 4}} {
			time.Sleep(time.Until(begin.Add(test.at * time.Millisecond)))
			c.mu.Lock()
			if at := c.frame.Time.Sub(begin); at != test.want*time.Millisecond || c.frame.Seq != test.seq {
				t.Errorf("%d ms after the first frame, %d came, the last after %v: want %d, after %d ms", test.at, c.frame.Seq, at, test.seq, test.want)
			}
			c.mu.Unlock()
		}
	})
}

// After a clock that was set back the curve goes on, and does not wait until it is as late again.
func TestCurveAfterClockIsSetBack(t *testing.T) {
	t.Parallel()
	cache, err := firn.Open(firn.Options{RAMBytes: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer cache.Close()
	h, now := Handler(cache), time.Now()
	inside.Collect(h, now)
	for i := range 10_000 {
		if err := cache.Set(binary.BigEndian.AppendUint64(nil, uint64(i)), make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
	}
	inside.Collect(h, now.Add(-time.Hour))
	if f := decode[told](t, text(t, get(h, "/stats.json"))); !f.Caches[0].Curve.RAM.Evicts {
		t.Error("the curve is that of before")
	}
}

// A page that nothing has any more takes no frames, though its cache is open.
func TestDroppedPage(t *testing.T) {
	cache := open(t)
	collector := Handler(cache).(*page).collector
	until(t, collector.dropped.Load)
	if seq := collector.frame.Seq; collector.refresh(0) || collector.frame.Seq != seq {
		t.Error("it takes another frame")
	}
	runtime.KeepAlive(cache)
}

// A cache that the program dropped is collected though its page is there, and shown as closed
// with its last figures.
func TestDroppedCache(t *testing.T) {
	h := func() http.Handler {
		c, err := firn.Open(firn.Options{RAMBytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		h := Handler(c)
		if err := c.Set([]byte("k"), []byte("v")); err != nil {
			t.Fatal(err)
		}
		inside.Collect(h, time.Now())
		return h
	}()
	collector := h.(*page).collector
	until(t, func() bool { return collector.caches[0].cache.Value() == nil })
	inside.Collect(h, time.Now())
	f := decode[told](t, text(t, get(h, "/stats.json")))
	if !f.Caches[0].Closed || f.Caches[0].Stats["entries"] != 1.0 || !collector.ended {
		t.Errorf("%+v", f.Caches[0])
	}
	if w := get(h, "/metrics"); w.Code != http.StatusOK {
		t.Errorf("metrics without the cache: %d", w.Code)
	}
}

// until collects garbage until something of it is gone.
func until(t *testing.T, gone func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !gone(); {
		if runtime.GC(); time.Now().After(deadline) {
			t.Fatal("it is not collected")
		}
	}
}
