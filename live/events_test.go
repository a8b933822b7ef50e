package live

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// overWire runs a test for each protocol, in a bubble.
func overWire(t *testing.T, test func(t *testing.T, change func(*http.Server, *http.Transport))) {
	for name, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				test(t, func(s *http.Server, c *http.Transport) {
					var p http.Protocols
					p.SetHTTP1(!http2)
					p.SetUnencryptedHTTP2(http2)
					s.Protocols, c.Protocols = &p, &p
				})
			})
		})
	}
}

// A viewer gets a frame at once and then one each second, also from a server that limits the time
// of a request.
func TestFrames(t *testing.T) {
	overWire(t, func(t *testing.T, change func(*http.Server, *http.Transport)) {
		c := open(t)
		_, client := serve(t, Handler(c), func(s *http.Server, tr *http.Transport) {
			change(s, tr)
			s.ReadTimeout, s.WriteTimeout = 3*time.Second, 3*time.Second
		})
		v, begin := follow(t, client), time.Now()
		first := v.frame()
		if first.Seq != 1 || first.Run == "" || len(first.Caches) != 1 || first.Caches[0].Name != "cache 1" {
			t.Fatalf("the first frame is %+v", first)
		}
		for n := range uint64(10) {
			for range n {
				if _, err := c.GetOrLoad(t.Context(), nil, []byte{byte(n)}, load); err != nil {
					t.Fatal(err)
				}
			}
			f := v.frame()
			if at := time.Since(begin); f.Seq != n+2 || f.Run != first.Run || at != time.Duration(n+1)*time.Second {
				t.Errorf("frame %d of run %s after %v: want %d of %s after %d s", f.Seq, f.Run, at, n+2, first.Run, n+1)
			}
			now, stats, reads, loads, seconds := f.Caches[0].Now, f.Caches[0].Stats, 0.0, 0.0, float64(min(n+1, 5))
			for k := n + 1 - uint64(seconds); k <= n; k++ {
				reads, loads = reads+float64(k)/seconds, loads+float64(min(k, 1))/seconds
			}
			if want := float64(n * (n + 1) / 2); math.Abs(now["reads"]-reads) > 1e-6 || math.Abs(now["loads"]-loads) > 1e-6 || stats["hits"].(float64)+stats["misses"].(float64) != want {
				t.Errorf("%v reads and %v loads a second over 5 s, want %v and %v; %v hits and %v misses, want %v together", now["reads"], now["loads"], reads, loads, stats["hits"], stats["misses"], want)
			}
		}
	})
}

func load(context.Context, []byte) ([]byte, error) { return []byte("loaded"), nil }

// A viewer that is slow gets the latest frame when it is ready, one that reads nothing is
// dropped, and others get every frame meanwhile.
func TestSlowViewers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := Handler(open(t))
		_, client := serve(t, h, nil)
		quick, slow, stuck := follow(t, client), follow(t, client), follow(t, client)
		begin, all := time.Now(), make(chan struct{})
		go func() {
			defer close(all)
			for n := range uint64(16) {
				if f := quick.frame(); f.Seq != n+1 || time.Since(begin) != time.Duration(n)*time.Second {
					t.Errorf("frame %d after %v, want %d after %d s", f.Seq, time.Since(begin), n+1, n)
				}
			}
		}()
		time.Sleep(9500 * time.Millisecond)
		for n, waited := 0, time.Duration(0); waited == 0; n++ {
			begin := time.Now()
			f := slow.frame()
			waited = time.Since(begin)
			if n > 5 || waited > 0 && (f.Seq != 11 || waited != time.Second/2) {
				t.Errorf("the slow viewer waits %v for frame %d, having got %d before: want half a second for frame 11, and few before", waited, f.Seq, n)
			}
		}
		<-all
		if n := h.(*page).viewers.Load(); n != 2 {
			t.Errorf("%d viewers, want the quick and the slow one", n)
		}
		if _, err := io.Copy(io.Discard, stuck.body); err == nil {
			t.Error("the stuck viewer's stream ends well")
		}
	})
}

// One viewer too many is told to come back, and finds room when another has gone.
func TestMaxViewers(t *testing.T) {
	overWire(t, func(t *testing.T, change func(*http.Server, *http.Transport)) {
		_, client := serve(t, New(Options{Caches: unnamed1(t), MaxViewers: 2}), change)
		one := follow(t, client)
		one.frame()
		follow(t, client).frame()
		resp, err := client.Get("http://page/debug/firn/events")
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" {
			t.Errorf("the third viewer gets %s, to be tried again after %q", resp.Status, resp.Header.Get("Retry-After"))
		}
		_ = one.body.Close()
		synctest.Wait()
		follow(t, client).frame()
	})
}

func unnamed1(t *testing.T) []Named { return []Named{{Cache: open(t)}} }

// Caches that are closed while a viewer follows them keep their last figures. When no cache is
// left, no frame comes, and a comment now and then.
func TestClosedWhileStreaming(t *testing.T) {
	overWire(t, func(t *testing.T, change func(*http.Server, *http.Transport)) {
		one, two := open(t), open(t)
		_, client := serve(t, Handler(one, two), change)
		v := follow(t, client)
		if err := one.Set([]byte("k"), []byte("v")); err != nil {
			t.Fatal(err)
		}
		v.frame()
		open := v.frame().Caches
		_ = one.Close()
		f := v.frame()
		if !f.Caches[0].Closed || f.Caches[1].Closed {
			t.Errorf("closed: %v and %v, want the first alone", f.Caches[0].Closed, f.Caches[1].Closed)
		}
		before, after := open[0], f.Caches[0]
		if before.Stats["entries"] != 1.0 || after.Stats["entries"] != 1.0 || before.Now["sets"] != 1 || after.Now["sets"] != 0 || after.Now["entries"] != 1 {
			t.Errorf("before: %v, %v; closed: %v, %v", before.Now, before.Stats, after.Now, after.Stats)
		}
		_ = two.Close()
		if f = v.frame(); !f.Caches[1].Closed {
			t.Error("the second is open still")
		}
		for range 3 {
			begin := time.Now()
			if block, err := v.block(); err != nil || !strings.HasPrefix(block, ":") || time.Since(begin) != heartbeat {
				t.Errorf("%q, %v after %v: want a comment after %v", block, err, time.Since(begin), heartbeat)
			}
		}
	})
}

// Shutdown of the server does not wait for streams.
func TestShutdownEndsStreams(t *testing.T) {
	overWire(t, func(t *testing.T, change func(*http.Server, *http.Transport)) {
		server, client := serve(t, Handler(open(t)), change)
		one, two := follow(t, client), follow(t, client)
		one.frame()
		two.frame()
		var ends sync.WaitGroup
		for _, v := range []*viewer{one, two} {
			ends.Go(func() {
				if _, err := io.Copy(io.Discard, v.in); err != nil {
					t.Errorf("the stream ends with %v", err)
				}
			})
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		ends.Wait()
	})
}

// A stream ends with its request's context.
func TestContextEndsStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		w := ask(Handler(open(t)), httptest.NewRequestWithContext(ctx, http.MethodGet, "/events", nil))
		if frames := strings.Count(w.Body.String(), "event: frame\n"); frames != 3 || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			t.Errorf("%d frames in 2.5 s, want 3", frames)
		}
	})
}

// cannotFlush hides what a ResponseWriter has beside its methods.
type cannotFlush struct{ http.ResponseWriter }

func TestCannotFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := httptest.NewRecorder()
		Handler(open(t)).ServeHTTP(cannotFlush{w}, httptest.NewRequest(http.MethodGet, "/events", nil))
		if w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "cannot flush") {
			t.Errorf("%d %s: want 500 and why", w.Code, w.Body)
		}
	})
}

// HEAD tells the type of a stream, and does not begin it.
func TestHeadOfEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := ask(Handler(open(t)), httptest.NewRequest(http.MethodHead, "/events", nil))
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "text/event-stream" || w.Body.Len() != 0 {
			t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
		}
	})
}
