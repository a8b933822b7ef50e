package typed

import (
	"context"
	"errors"
	"sync"

	"github.com/firncache/firn/internal/coherence"
	"github.com/firncache/firn/internal/fleet"
	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/registry"
	"github.com/firncache/firn/internal/shared"
)

// link is what a namespace has of the shared tier.
type link struct {
	numbers   *fleet.Numbers
	id, place registry.ID // place: whose number all processes agree on
	apart     apart
	mu        sync.Mutex // held while a number from the shared tier becomes the current one; a leaf
}

// ToRead is the generation for a call that reads. With a shared tier it gets its number there,
// unless the copy of that is trusted, as Numbers.GetToRead does: an error says that nothing may
// be found.
func (s *Namespace) ToRead(ctx context.Context) (*coherence.Generation, error) {
	g, l := s.current.Load(), s.link()
	if l == nil {
		return g, nil
	}
	c, err := l.numbers.GetToRead(ctx, l.place, g.Agreed)
	if err != nil {
		return nil, err
	}
	l.apart.leave(s.Quota())
	return s.generationOf(l, g, c), nil
}

// ToLoad is the generation for a call that loads. While the number is not known, that is one
// of this process alone, in which loads meet; nothing of it may be stored on the server.
func (s *Namespace) ToLoad(ctx context.Context) (g *coherence.Generation, known bool, err error) {
	g, err = s.ToRead(ctx)
	if err != nil && ctx.Err() == nil && (errors.Is(err, shared.ErrUnavailable) || errors.Is(err, local.ErrNotFound)) {
		return s.link().apart.enter(s.Quota()), false, nil
	}
	return g, true, err
}

// Apart is the generation that loads have while the number is not known, nil if there was none since it
// was known last.
func (s *Namespace) Apart() *coherence.Generation {
	if l := s.link(); l != nil {
		return l.apart.is.Load()
	}
	return nil
}

// ToWrite is the generation for a call that writes, which has to call Latest when it is over.
// With an error there is one all the same, of the last number that is known: who removes something
// of that has not removed too much.
func (s *Namespace) ToWrite(ctx context.Context) (*coherence.Generation, error) {
	g, l := s.current.Load(), s.link()
	if l == nil {
		return g, nil
	}
	if l.numbers.Holds(g.Agreed) {
		l.apart.leave(s.Quota())
		return g, nil
	}
	c, err := l.numbers.Get(ctx, l.place)
	if err != nil {
		return g, err
	}
	l.apart.leave(s.Quota())
	return s.generationOf(l, g, c), nil
}

// Latest is the generation g that a write was made in, if that was the current one when the
// write began, or became it later. Otherwise the write has to be made again in the one that it
// returns: others have found nothing of it, or still find what it was to remove.
func (s *Namespace) Latest(ctx context.Context, g *coherence.Generation) (*coherence.Generation, error) {
	l := s.link()
	if l == nil {
		return g, nil
	}
	c, err := l.numbers.Latest(ctx, g.Agreed)
	if err != nil || c.Value == g.Agreed.Value {
		return g, err
	}
	return s.generationOf(l, g, c), nil
}

// Trusted reports whether a generation is known to be the current one without asking.
func (s *Namespace) Trusted(g *coherence.Generation) bool {
	l := s.link()
	return l == nil || l.numbers.Holds(g.Agreed)
}

// generationOf is the generation of a number, which may be g: for the call that got the number,
// and for later ones, unless that has changed since.
func (s *Namespace) generationOf(l *link, g *coherence.Generation, c *shared.Number) *coherence.Generation {
	if g.Agreed == c {
		return g
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if g = s.current.Load(); g.Agreed == c {
		return g
	}
	g = &coherence.Generation{Number: registry.GenerationOf(l.id, c.Value, 0), Agreed: c}
	if !c.Voided() { // under mu: a copy from before a renewal is void when that becomes current
		s.setCurrent(g)
	}
	return g
}

// clearShared is Clear with a shared tier. What was loaded while that is away goes, whether or not it fails.
func (s *Namespace) clearShared(ctx context.Context) error {
	l := s.link()
	defer l.apart.leave(s.Quota())
	c, err := l.numbers.Renew(ctx, l.place)
	if err == nil {
		s.generationOf(l, s.current.Load(), c)
	}
	return err
}
