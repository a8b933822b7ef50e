package ram

import "math/bits"

// keptScratch is the most bytes of scratch space that a shard keeps, and
// sharedScratch the most that a tier keeps for whichever shard needs it next.
const (
	keptScratch   = 16 << 10
	sharedScratch = 256 << 10
)

// takeScratch is scratch space of n bytes or more.
func (t *Tier) takeScratch(n int) []byte {
	if n <= keptScratch || n > sharedScratch {
		return make([]byte, 0, n)
	}
	if b := t.spareScratch.Swap(nil); b != nil && cap(*b) >= n {
		return *b
	}
	return make([]byte, 0, 1<<bits.Len(uint(n-1))) // for others, too, that are a little longer
}

// leaveScratch gives up scratch space.
func (t *Tier) leaveScratch(b []byte) {
	if cap(b) <= sharedScratch {
		t.spareScratch.Store(&b)
	}
}
