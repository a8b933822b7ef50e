package typed

import (
	"context"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/internal/tiered"
)

// The versions of tags that all processes agree on. A version that the shared tier has lost is
// another when it is asked for again, and so all values that have the tag are obsolete.

// nowShared is Now with a shared tier.
func (t *Tags) nowShared(ctx context.Context, space string, names []string) (l TagList, err error) {
	l.n = len(names)
	for i, name := range names {
		p := &l.pairs[i]
		p.tag = tagOf(space, name)
		c, err := t.numbers.Get(ctx, p.tag.id())
		if err != nil {
			return TagList{}, err
		}
		p.version = c.Value
	}
	return l, nil
}

// lateShared is Late with a shared tier.
func (t *Tags) lateShared(ctx context.Context, begun Begun, space string, names []string) (l TagList) {
	l.n = len(names)
	for i, name := range names {
		p := &l.pairs[i]
		p.tag = tagOf(space, name)
		p.version = t.numbers.NumberAt(ctx, begun.moment, p.tag.id()) // 0, as noVersion, if it is not known
	}
	return l
}

// checkShared is Check with a shared tier.
func (t *Tags) checkShared(ctx context.Context, l *TagList) error {
	for i := range l.n {
		p := &l.pairs[i]
		if p.version == noVersion {
			return ErrObsolete
		}
		if err := t.checkVersion(ctx, p.tag, p.version); err != nil {
			return err
		}
	}
	return nil
}

// checkVersion compares a version with the latest. One that differs from a copy may be newer
// than that, if a push is under way: so the tier is asked before anybody deletes the value.
func (t *Tags) checkVersion(ctx context.Context, g tag, version uint64) error {
	known := t.numbers.Find(g.id())
	c, err := t.numbers.GetToRead(ctx, g.id(), known)
	if err == nil && c == known && c.Value != version {
		if shared.CallOf(ctx).SkipShared || !t.numbers.Holds(known) {
			return tiered.ErrNotFound
		}
		c, err = t.numbers.Ask(ctx, g.id())
	}
	switch {
	case err != nil:
		return err
	case c.Value != version:
		return ErrObsolete
	}
	return nil
}
