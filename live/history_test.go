package live

import (
	"math"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/inside"
)

// The history has what the frames told, and the last of them with its curve.
func TestHistoryIsWhatFramesTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := open(t), open(t)
		h := Handler(one, two)
		_, client := serve(t, h, nil)
		v := follow(t, client)
		var frames []told
		for n := range 13 {
			if err := one.Set([]byte{byte(n)}, []byte("value")); err != nil {
				t.Fatal(err)
			}
			_, _ = two.Get(nil, []byte("none"))
			frames = append(frames, v.frame())
		}
		p := decode[past](t, text(t, get(h, "/history.json")))
		if len(p.Seq) != len(frames) || len(p.Time) != len(frames) || len(p.Caches) != 2 || p.Run != frames[0].Run || p.Last.Seq != 13 {
			t.Fatalf("%d frames of %d, of %d caches, the last is %d", len(p.Seq), len(frames), len(p.Caches), p.Last.Seq)
		}
		for n, f := range frames {
			if p.Seq[n] != f.Seq || p.Time[n] != p.Time[0]+int64(n)*1000 {
				t.Errorf("frame %d at %d, want %d a second after the one before", p.Seq[n], p.Time[n], f.Seq)
			}
			for i, c := range f.Caches {
				if want := []int{len(series), headlines}[i]; len(c.Now) != want || len(p.Caches[i]) != want {
					t.Fatalf("cache %d has %d series, and %d in the history, want %d", i, len(c.Now), len(p.Caches[i]), want)
				}
				for name, want := range c.Now {
					if got := p.Caches[i][name][n]; math.Abs(got-want) > 1e-6*want {
						t.Errorf("%s of cache %d in frame %d: %v, was told as %v", name, i, n, got, want)
					}
				}
				if withCurve := i == 0 && n%5 == 0; (c.Curve != nil) != withCurve {
					t.Errorf("frame %d has a curve: %v, want one each 5 s", n, c.Curve != nil)
				}
			}
			if want := f.Process["goroutines"]; p.Process["goroutines"][n] != want {
				t.Errorf("%v goroutines, told were %v", p.Process["goroutines"][n], want)
			}
		}
		if p.Last.Caches[0].Curve == nil || p.Last.Caches[1].Curve != nil {
			t.Error("the last frame has a curve of another cache than the one that is shown")
		}
	})
}

// The history keeps 15 minutes, and its size is what the docs say.
func TestHistoryIsBounded(t *testing.T) {
	c := open(t)
	h := Handler(c)
	begin := time.UnixMilli(h.(*page).collector.frame.Time.UnixMilli())
	for n := range 1000 {
		inside.Collect(h, begin.Add(time.Duration(n+1)*time.Second))
	}
	p := decode[past](t, text(t, get(h, "/history.json")))
	if len(p.Seq) != 900 || p.Seq[0] != 102 || p.Seq[899] != 1001 || p.Time[0] != begin.Add(101*time.Second).UnixMilli() || len(p.Caches[0]["reads"]) != 900 {
		t.Errorf("%d frames from %d to %d", len(p.Seq), p.Seq[0], p.Seq[len(p.Seq)-1])
	}
	if !slices.IsSorted(p.Time) || !slices.IsSorted(p.Seq) {
		t.Error("not in order")
	}
	if r := &h.(*page).collector.ring; cap(r.rows)*4 > 220<<10 || cap(r.times)*8 > 8<<10 {
		t.Errorf("the history of a cache takes %d bytes", cap(r.rows)*4)
	}
}

// It is made once for each frame, compressed, and sent to clients that do not take gzip
// uncompressed.
func TestHistoryIsMadeOnce(t *testing.T) {
	h := Handler(open(t))
	c := h.(*page).collector
	first := c.history(0)
	if again := c.history(0); &again[0] != &first[0] {
		t.Error("made twice for one frame")
	}
	c.refresh(0)
	if next := c.history(0); &next[0] == &first[0] {
		t.Error("a new frame is not in it")
	}
	for accept, packed := range map[string]bool{
		"": false, "gzip": true, "br, GZIP;q=0.5": true, "*": true, "gzip;q=0": false, "gzip; q=0.0, *": false, "*;q=0": false, "deflate": false, "identity, gzip": true, "gzip;q=x": false,
	} {
		w := get(h, "/history.json", "Accept-Encoding", accept)
		if got := w.Header().Get("Content-Encoding") == "gzip"; got != packed || w.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("%q: compressed %v, want %v", accept, got, packed)
		}
		if p := decode[past](t, text(t, w)); len(p.Seq) != 2 {
			t.Errorf("%q: %d frames", accept, len(p.Seq))
		}
	}
}

// A page that was made anew, as after a restart, is another run and begins anew.
func TestRunChanges(t *testing.T) {
	c := open(t)
	one, two := decode[past](t, text(t, get(Handler(c), "/history.json"))), decode[past](t, text(t, get(Handler(c), "/history.json")))
	if one.Run == two.Run || one.Seq[0] != 1 || two.Seq[0] != 1 {
		t.Errorf("runs %s and %s begin with %d and %d", one.Run, two.Run, one.Seq[0], two.Seq[0])
	}
}

// stats.json is fresh: what is older than a second and a half is taken anew.
func TestStatsAreFresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t)
		h := Handler(c)
		h.(*page).collector.timer.Stop() // as if the process had no processor
		for _, test := range []struct {
			after time.Duration
			want  float64
		}{{0, 0}, {1400 * time.Millisecond, 0}, {200 * time.Millisecond, 1}, {2 * time.Second, 2}} {
			if err := c.Set([]byte("k"), nil); err != nil {
				t.Fatal(err)
			}
			time.Sleep(test.after)
			w := get(h, "/stats.json")
			if f := decode[told](t, text(t, w)); w.Code != http.StatusOK || f.Seq != uint64(test.want)+1 || f.Caches[0].Curve == nil {
				t.Errorf("%v later: frame %d, want %v, with a curve", test.after, f.Seq, test.want+1)
			}
		}
	})
}
