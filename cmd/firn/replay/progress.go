package replay

import (
	"sync"
	"sync/atomic"
)

// Progress is how far a run has come. A run updates it; others may read it at
// any time. The zero value is ready.
type Progress struct {
	requests atomic.Int64

	mu       sync.Mutex
	first    int64   // requests before the current window
	length   int64   // requests in it
	from, to float64 // shares of the source before and behind it
}

// Requests returns the number of requests replayed so far.
func (p *Progress) Requests() int64 { return p.requests.Load() }

// Share returns the share of the source that was replayed so far, from 0 to 1.
func (p *Progress) Share() float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.length == 0 {
		return p.to
	}
	inWindow := float64(p.requests.Load()-p.first) / float64(p.length)
	return p.from + (p.to-p.from)*min(inWindow, 1)
}

// window notes that n requests follow, up to share done of the source.
func (p *Progress) window(n int, done float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.first, p.length = p.requests.Load(), int64(n)
	p.from, p.to = p.to, max(p.to, done)
}
