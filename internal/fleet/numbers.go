package fleet

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/firncache/firn/internal/flight"
	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/registry"
	"github.com/firncache/firn/internal/shared"
)

// Numbers are the local copies of the numbers that all processes agree on, as many as there
// is room for; others are fetched. All methods are safe for concurrent use.
//
// The rule is that of other copies. Every change of a number, by a push or by a call of this
// process, voids the copy and every request under way that may be answered with the number
// from before:
//
//	fetch:       before = set.changed ─── the tier's answer ─── set.changed == before? keep
//	Invalidate:  set.changed = another moment ─── void the copy
//
// A renewal does so when it begins, and again when its answer is here: so it wins over all
// requests that were sent before the answer came. Of two that were under way at a time neither
// is kept: the tier may have done either last.
type Numbers struct {
	tier   shared.Tier
	trust  *shared.Trust
	closed func() bool
	Sets   []numberSet
	moment atomic.Uint64 // counts changes, and copies that are kept

	questions flight.Group[registry.ID, *shared.Number]
}

// numberSet has the copies of some ids.
type numberSet struct {
	mu      sync.Mutex    // held while copies change; a leaf
	changed atomic.Uint64 // the moment of the last change of one of its ids
	copies  [NumberWays]atomic.Pointer[shared.Number]
}

const (
	NumberWays    = 4
	MinNumberSets = 16
	maxNumberSets = 1 << 15 // what more copies cost the collector is more than what they save
	numberBytes   = 64      // of a copy, and its part of a set
	numbersShare  = 128     // of RAM
)

// NewNumbers makes room for copies in so many bytes.
func NewNumbers(tier shared.Tier, trust *shared.Trust, bytes int64, closed func() bool) *Numbers {
	sets := int64(MinNumberSets)
	for sets < maxNumberSets && 2*sets*NumberWays*numberBytes <= bytes {
		sets *= 2
	}
	return &Numbers{tier: tier, trust: trust, closed: closed, Sets: make([]numberSet, sets)}
}

// bytes is the most memory that the copies take.
func (n *Numbers) bytes() int64 {
	return numberBytes * NumberWays * int64(len(n.Sets))
}

func (n *Numbers) set(id registry.ID) *numberSet {
	hi, lo := bits.Mul64(wordOf(id)^0x9e3779b97f4a7c15, 0xd1b54a32d192ed03)
	return &n.Sets[(hi^lo)&uint64(len(n.Sets)-1)]
}

// wordOf is a word of an id, which is a hash behind its first bytes.
func wordOf(id registry.ID) (w uint64) {
	for _, b := range id[8:] {
		w = w<<8 | uint64(b)
	}
	return w
}

// Find is what is known of a number, trusted or suspect; nil if nothing is.
func (n *Numbers) Find(id registry.ID) *shared.Number {
	set := n.set(id)
	for i := range set.copies {
		if c := set.copies[i].Load(); c != nil && c.ID == shared.ID(id) {
			return c
		}
	}
	return nil
}

// Holds reports whether a copy is the number without asking.
func (n *Numbers) Holds(c *shared.Number) bool { return n.trust.HoldsNumber(c) }

// Get is the number of an id. It waits if there is no trusted copy.
func (n *Numbers) Get(ctx context.Context, id registry.ID) (*shared.Number, error) {
	if c := n.Find(id); n.Holds(c) {
		return c, nil
	}
	return n.Ask(ctx, id)
}

// Ask fetches the number of an id from the tier, whatever copy there is.
func (n *Numbers) Ask(ctx context.Context, id registry.ID) (*shared.Number, error) {
	return n.request(ctx, id, false, func() (shared.NumberState, shared.Stamp, error) {
		return n.tier.Number(ctx, shared.ID(id), false)
	})
}

// AskShared is Ask that shares a request with other callers if that began at since or later.
func (n *Numbers) AskShared(ctx context.Context, id registry.ID, since int64) (*shared.Number, error) {
	return n.questions.Do(ctx, id, since, func(ctx context.Context) (*shared.Number, error) { return n.Ask(ctx, id) })
}

// EndAlone is shared.Trust.EndAlone.
func (n *Numbers) EndAlone() { n.trust.EndAlone() }

// Renew gives an id another number. With an error it may have one, or get it yet.
func (n *Numbers) Renew(ctx context.Context, id registry.ID) (*shared.Number, error) {
	return n.change(ctx, id, func() (shared.NumberState, shared.Stamp, error) {
		return n.tier.Number(ctx, shared.ID(id), true)
	})
}

// Expire is Renew after which values that note the number before are stale since now.
func (n *Numbers) Expire(ctx context.Context, id registry.ID, now int64) (*shared.Number, error) {
	return n.change(ctx, id, func() (shared.NumberState, shared.Stamp, error) {
		return n.tier.ExpireNumber(ctx, shared.ID(id), now)
	})
}

// numberCall is a call of the tier.
type numberCall func() (shared.NumberState, shared.Stamp, error)

func (n *Numbers) change(ctx context.Context, id registry.ID, call numberCall) (*shared.Number, error) {
	n.Invalidate(id)
	c, err := n.request(ctx, id, true, call)
	if err != nil {
		n.Invalidate(id)
	}
	return c, err
}

func (n *Numbers) request(ctx context.Context, id registry.ID, renewed bool, call numberCall) (*shared.Number, error) {
	set := n.set(id)
	before := set.changed.Load()
	state, stamp, err := call()
	if err != nil {
		return nil, n.error(ctx, err)
	}
	c := &shared.Number{ID: shared.ID(id), NumberState: state, Stamp: stamp}
	n.keep(set, c, before, renewed)
	return c, nil
}

// error is the tier's error in the user's words.
func (n *Numbers) error(ctx context.Context, err error) error {
	switch {
	case n.closed():
		return local.ErrClosed
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, shared.ErrUnavailable):
		return err
	}
	return fmt.Errorf("%w: %w", shared.ErrUnavailable, err)
}

// keep keeps the copy that was requested at a moment, or voids it if the number may have
// changed since.
func (n *Numbers) keep(set *numberSet, c *shared.Number, before uint64, renewed bool) {
	set.mu.Lock()
	defer set.mu.Unlock()
	if set.changed.Load() != before {
		if c.Void(); renewed {
			n.invalidate(set, c.ID) // what was kept meanwhile may be from before
		}
		return
	}
	c.Kept = n.moment.Add(1)
	if renewed {
		set.changed.Store(c.Kept)
	}
	at := n.room(set, c.ID)
	if old := at.Swap(c); old != nil {
		old.Void() // no change would reach it any more
	}
}

// room is where to keep a copy of an id's number. The caller holds the set's mu.
func (n *Numbers) room(set *numberSet, id shared.ID) *atomic.Pointer[shared.Number] {
	var room *atomic.Pointer[shared.Number]
	for i := range set.copies {
		at := &set.copies[i]
		switch c := at.Load(); {
		case c != nil && c.ID == id:
			return at
		case room == nil && (c == nil || c.Voided() || !n.trust.Holds(c.Stamp)):
			room = at
		}
	}
	if room == nil {
		room = &set.copies[rand.IntN(NumberWays)]
	}
	return room
}

// InvalidateNumber is Invalidate for a push.
func (n *Numbers) InvalidateNumber(id shared.ID) { n.Invalidate(registry.ID(id)) }

// UsedNumbers are those of numbers that were used since the last call: of more than most, most
// from a random set on.
func (n *Numbers) UsedNumbers(most int) (ids []shared.ID) {
	from := rand.IntN(len(n.Sets))
	for i := range n.Sets {
		set := &n.Sets[(from+i)%len(n.Sets)]
		for w := range set.copies {
			if c := set.copies[w].Load(); c != nil && len(ids) < most && c.TakeUsed() {
				ids = append(ids, c.ID)
			}
		}
	}
	return ids
}

// Invalidate says that the number of an id has changed, or is about to.
func (n *Numbers) Invalidate(id registry.ID) {
	set := n.set(id)
	set.mu.Lock()
	defer set.mu.Unlock()
	n.invalidate(set, shared.ID(id))
}

// invalidate is Invalidate by a caller who holds the set's mu.
func (n *Numbers) invalidate(set *numberSet, id shared.ID) {
	set.changed.Store(n.moment.Add(1))
	for i := range set.copies {
		if c := set.copies[i].Load(); c != nil && c.ID == id {
			c.Void()
			set.copies[i].Store(nil)
		}
	}
}
