package typed

import (
	"math/rand/v2"
	"sync/atomic"

	"github.com/firncache/firn/internal/coherence"
	"github.com/firncache/firn/internal/local"
)

// apart is the generation of this process alone, another one after each time that the number was
// known: what was kept in it before is older than what calls have seen or written meanwhile.
type apart struct {
	entered atomic.Bool
	is      atomic.Pointer[coherence.Generation] // nil before the first load
}

func (a *apart) enter(q *local.Quota) *coherence.Generation {
	a.entered.Store(true) // first: a call that clears it takes the generation away afterwards
	if a.is.Load() == nil {
		g := newApart()
		if q.Begin(g.Number); !a.is.CompareAndSwap(nil, g) {
			q.End(g.Number)
		}
	}
	if g := a.is.Load(); g != nil {
		return g
	}
	return newApart()
}

func (a *apart) leave(q *local.Quota) {
	if a.entered.Load() && a.entered.Swap(false) {
		if g := a.is.Swap(nil); g != nil {
			q.End(g.Number)
		}
	}
}

func newApart() *coherence.Generation { return &coherence.Generation{Number: max(rand.Uint64(), 1)} }
