package coherence

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/firncache/firn/internal/shared"
)

// Generation is one generation of a namespace. An entry of a front refers to the
// generation that it was read in. Two may have the same number: then the bytes
// of the older one hold still, and entries of fronts do not.
type Generation struct {
	Number uint64
	Agreed *shared.Number // the number as all processes know it; nil if it is of this one alone
}

// GenerationLen is how many bytes of a key are the number of its generation.
const GenerationLen = 8

// Append appends the bytes with which the generation's keys begin to dst.
func (g *Generation) Append(dst []byte) []byte {
	return binary.LittleEndian.AppendUint64(dst, g.Number)
}

// Current is the current generation of a namespace.
type Current struct{ atomic.Pointer[Generation] }

// bump makes a new generation of the same number the current one: the fronts'
// entries of the one before are worth nothing, the bytes are.
func (c *Current) bump() {
	for {
		old := c.Load()
		if c.CompareAndSwap(old, &Generation{old.Number, old.Agreed}) {
			return
		}
	}
}
