//go:build race

package bufpool

import (
	"runtime"
	"sync"
	"weak"
)

// stash holds idle buffers. A sync.Pool loses a quarter of the buffers it is given
// under the race detector; this one does not, so that a race test sees the
// reuse that a program sees. As there, the collector takes what lies in it for
// two cycles.
type stash struct {
	mu          sync.Mutex
	fresh, aged []*Buffer
	watching    bool
}

func (s *stash) put(b *Buffer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fresh = append(s.fresh, b)
	if !s.watching {
		s.watching = true
		watch(weak.Make(s))
	}
}

func (s *stash) take() *Buffer {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, list := range []*[]*Buffer{&s.fresh, &s.aged} {
		if n := len(*list); n > 0 {
			b := (*list)[n-1]
			(*list)[n-1] = nil
			*list = (*list)[:n-1]
			return b
		}
	}
	return nil
}

// watch ages the stash at the next cycle of the collector.
func watch(w weak.Pointer[stash]) {
	type cycle struct{ _ *byte }
	runtime.AddCleanup(new(cycle), func(w weak.Pointer[stash]) {
		s := w.Value()
		if s == nil {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.fresh, s.aged = nil, s.fresh
		if s.watching = len(s.aged) > 0; s.watching {
			watch(w)
		}
	}, w)
}
