//go:build !race

package bufpool

import "sync"

// stash holds idle buffers, some per processor. Whoever takes one out owns
// it. The collector takes buffers that lie in it for two cycles.
type stash struct{ pool sync.Pool }

func (s *stash) put(b *Buffer) { s.pool.Put(b) }

func (s *stash) take() *Buffer {
	b, _ := s.pool.Get().(*Buffer)
	return b
}
