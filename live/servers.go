package live

import (
	"net/http"
	"sync"
	"weak"
)

// servers are those that have streams of events, each with a channel that is closed when it is
// shut down: http.Server.Shutdown waits for requests, and a stream is one without end.
type servers struct {
	mu   sync.Mutex
	ends map[weak.Pointer[http.Server]]chan struct{}
}

// shutdownOf is closed when the server of a request is shut down; nil, which never is, for one
// that is no *http.Server.
func (p *page) shutdownOf(r *http.Request) <-chan struct{} {
	server, _ := r.Context().Value(http.ServerContextKey).(*http.Server)
	if server == nil {
		return nil
	}
	s, key := &p.servers, weak.Make(server)
	s.mu.Lock()
	defer s.mu.Unlock()
	if ends, known := s.ends[key]; known {
		return ends
	}
	for old := range s.ends {
		if old.Value() == nil {
			delete(s.ends, old)
		}
	}
	if s.ends == nil {
		s.ends = map[weak.Pointer[http.Server]]chan struct{}{}
	}
	ends := make(chan struct{})
	s.ends[key] = ends
	server.RegisterOnShutdown(sync.OnceFunc(func() { close(ends) }))
	return ends
}
