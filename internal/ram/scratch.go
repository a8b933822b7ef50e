package ram

import (
	"math/bits"
	"sync/atomic"
)

// keptScratch is the most bytes of scratch space that a shard keeps, and
// sharedScratch the most that a tier keeps for whichever shard needs it next.
const (
	keptScratch   = 16 << 10
	sharedScratch = 256 << 10
)

// scratchPool keeps one piece of scratch space for all shards of a tier. It needs
// no lock.
type scratchPool struct{ spare atomic.Pointer[[]byte] }

// take returns empty scratch space with room for n bytes or more.
func (p *scratchPool) take(n int) []byte {
	if n <= keptScratch || n > sharedScratch {
		return make([]byte, 0, n)
	}
	if b := p.spare.Swap(nil); b != nil && cap(*b) >= n {
		return *b
	}
	return make([]byte, 0, 1<<bits.Len(uint(n-1))) // for others, too, that are a little longer
}

// give takes scratch space that a shard needs no more.
func (p *scratchPool) give(b []byte) {
	if cap(b) <= sharedScratch {
		p.spare.Store(&b)
	}
}
