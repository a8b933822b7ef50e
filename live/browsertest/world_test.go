package browsertest

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/inside"
	"github.com/firncache/firn/live"
)

// world is a page about caches with work. Its clock moves by tick alone, and each second has
// one frame.
type world struct {
	caches []*firn.Cache
	works  []*work
	page   http.Handler
	now    atomic.Int64 // Unix nanoseconds
}

// spec says what a world is made of.
type spec struct {
	names    []string // of the caches, "shop" if there are none
	ram, ssd int64    // bytes of each cache; without ssd there is RAM alone
	direct   firn.DirectIO
	work     workload
}

// begin is when the clock of every world starts: before any frame that a page takes by itself, so that
// the figures of a world are over its own frames alone.
var begin = time.Now().Add(-time.Hour)

// newWorld opens the caches of a spec, with files in dir.
func newWorld(s spec, dir string) (*world, error) {
	w := &world{}
	w.now.Store(begin.UnixNano())
	if len(s.names) == 0 {
		s.names = []string{"shop"}
	}
	var shown []live.Named
	for i, name := range s.names {
		options := firn.Options{RAMBytes: s.ram, Clock: w.clock, Log: slog.New(slog.DiscardHandler), TTL: 20 * time.Minute}
		if s.ssd > 0 {
			options.SSD = firn.SSDOptions{Dir: dir + "/" + string(rune('a'+i)), Bytes: s.ssd, DirectIO: s.direct}
		}
		cache, err := firn.Open(options)
		if err != nil {
			w.close()
			return nil, err
		}
		w.caches = append(w.caches, cache)
		w.works = append(w.works, newWork(cache, s.work, uint64(i)))
		shown = append(shown, live.Named{Name: name, Cache: cache})
	}
	w.page = live.New(live.Options{Caches: shown})
	return w, w.idle() // from now on each frame is asked for
}

func (w *world) clock() time.Time { return time.Unix(0, w.now.Load()) }

// tick is n seconds of work, with a frame at the end of each.
func (w *world) tick(n int) error {
	for range n {
		for _, work := range w.works {
			if err := work.second(w.clock().Sub(begin)); err != nil {
				return err
			}
		}
		if err := w.idle(); err != nil {
			return err
		}
	}
	return nil
}

// idle is a second without work, and its frame.
func (w *world) idle() error {
	w.now.Add(int64(time.Second))
	inside.Collect(w.page, w.clock())
	return nil
}

// seq is the number of the last frame.
func (w *world) seq() (seq uint64) {
	answer := httptest.NewRecorder()
	w.page.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/stats.json", nil))
	var last struct{ Seq uint64 }
	if err := json.Unmarshal(answer.Body.Bytes(), &last); err != nil {
		panic(err) // of the page's own JSON
	}
	return last.Seq
}

func (w *world) close() {
	for _, c := range w.caches {
		_ = c.Close()
	}
}

// serve makes a world and serves its page at /debug/firn/ of the URL that it returns.
func serve(t *testing.T, s spec) (*world, string) {
	t.Helper()
	needBrowser(t)
	w, err := newWorld(s, t.TempDir())
	must(t, err)
	t.Cleanup(w.close)
	mux := http.NewServeMux()
	mux.Handle("/debug/firn/", w.page)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections) // streams of events never end by themselves
	return w, server.URL + "/debug/firn/"
}

// small is a cache that a test fills at once: every tier works after a few seconds of its clock.
var small = spec{ram: 4 << 20, ssd: 16 << 20, direct: firn.DirectOff, work: workload{keys: 30_000, requests: 1000, bytes: 600}}
