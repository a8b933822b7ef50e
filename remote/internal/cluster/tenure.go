package cluster

import (
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/slots"
	"github.com/firncache/firn/remote/internal/wire"
)

// tenure is the time in which one server owns slots, and its feed is not interrupted. All slots
// that it has got at once have the same. Another tenure has another epoch, always, also if it is
// the same server's again: slots may have been elsewhere meanwhile, and servers do not announce
// all that happens to keys when a slot moves.
type tenure struct {
	w     *wire.Wire
	epoch uint64 // the server's configuration epoch: another one is another tenure
	feed  *shared.Feed
	over  bool // the server has said that the slot is not its own
}

// isOf reports whether the slot is a wire's. A slot that is not claimed yet has no tenure.
func (t *tenure) isOf(w *wire.Wire) bool { return t != nil && t.w == w && !t.over }

// claim is that a server says of itself that it owns slots.
type claim struct {
	w     *wire.Wire
	epoch uint64
	slots []slots.Range
}

// strongest is the claim to each slot that counts: that of the highest epoch, as among the
// servers themselves; of equal ones the present owner's.
func strongest(claims []claim, count int, present func(slot int) *wire.Wire) []*claim {
	best := make([]*claim, count)
	for i := range claims {
		c := &claims[i]
		for _, r := range c.slots {
			for slot := r.From; slot <= r.To && slot < count; slot++ {
				b := best[slot]
				if b == nil || c.epoch > b.epoch || c.epoch == b.epoch && present(slot) == c.w {
					best[slot] = c
				}
			}
		}
	}
	return best
}

// changes are the slots whose tenure is not what the claims say, by the claim that counts. Those
// that have no claim any more are under nil: their tenure is over, and requests for them go where
// they went, as their owner may come back.
func changes(best []*claim, present func(slot int) *tenure) map[*claim][]int {
	var found map[*claim][]int
	for slot, c := range best {
		p := present(slot)
		over := p == nil || p.over
		if c == nil && over || c != nil && !over && p.w == c.w && p.epoch == c.epoch {
			continue
		}
		if found == nil {
			found = map[*claim][]int{}
		}
		found[c] = append(found[c], slot)
	}
	return found
}
