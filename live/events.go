package live

import (
	"errors"
	"net/http"
	"time"
)

const (
	heartbeat    = 15 * time.Second // between comments, when there are no frames
	writeTimeout = 10 * time.Second // for one event, and for any other answer: see timeFor
)

// events sends a frame a second, the last one at once, as server-sent events. A viewer that does
// not take one within writeTimeout is dropped; of frames that come meanwhile it gets the latest.
func (p *page) events(w http.ResponseWriter, r *http.Request) {
	defer p.viewers.Add(-1)
	if p.viewers.Add(1) > int64(p.maxViewers) {
		w.Header().Set("Retry-After", "10")
		refuse(w, http.StatusServiceUnavailable, "as many viewers as may be are following these figures: see live.Options.MaxViewers")
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // proxies are to pass on each event
	if r.Method == http.MethodHead {
		return
	}
	s := stream{w: w, control: http.NewResponseController(w), shown: p.collector.shown(r.URL.Query().Get("cache"))}
	if err := s.flush(); errors.Is(err, http.ErrNotSupported) {
		refuse(w, http.StatusInternalServerError, "this server's ResponseWriter cannot flush, so that it cannot send events: a middleware hides http.Flusher")
		return
	}
	s.follow(p.collector, r.Context().Done(), p.shutdownOf(r))
}

// stream is a viewer's connection.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	shown   int // the cache that it looks at
}

// follow sends frames until the viewer has gone or the server ends.
func (s *stream) follow(c *collector, gone, shutdown <-chan struct{}) {
	if !s.send([]byte("retry: 2000\n\n")) {
		return
	}
	idle := time.NewTicker(heartbeat)
	defer idle.Stop()
	for {
		frame := c.last.Load()
		if !s.send(frame.events[s.shown]()) {
			return
		}
		idle.Reset(heartbeat)
	waiting:
		for {
			select {
			case <-frame.next:
				break waiting
			case <-idle.C:
				if !s.send([]byte(": nothing new\n\n")) {
					return
				}
			case <-gone:
				return
			case <-shutdown:
				return
			}
		}
	}
}

// send sends some bytes at once, and reports whether the viewer took them in time. Between two of them
// there is no deadline: HTTP/2 ends a stream when one passes, though nothing is being written.
func (s *stream) send(b []byte) bool {
	_ = s.control.SetWriteDeadline(time.Now().Add(writeTimeout)) // where that is not supported, the server's own holds
	_, err := s.w.Write(b)
	if err != nil || s.flush() != nil {
		return false
	}
	_ = s.control.SetWriteDeadline(time.Time{})
	return true
}

func (s *stream) flush() error { return s.control.Flush() }
