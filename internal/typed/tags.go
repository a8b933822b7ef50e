package typed

import (
	"context"
	"errors"

	"github.com/firncache/firn/internal/fleet"
	"github.com/firncache/firn/internal/registry"
	"github.com/firncache/firn/internal/store"
)

// Tags are the tags of a cache's typed values. All methods are safe for concurrent use.
//
// A value is only as new as the moment before its source was read, so what it notes is of
// that moment: for a loader, which may name its tags when it has read the source, of the
// moment before it was called. registry.Table says why no read finds a value with a tag that
// was invalidated since.
//
// With a shared tier, over which no clock is in common, a value notes the number that each of its
// tags' places has, on which all processes agree: see shared_tags.go.
type Tags struct {
	store   *store.Store
	numbers *fleet.Numbers // nil without a shared tier
}

// Open says whose tags they are. It is called before all others.
func (t *Tags) Open(store *store.Store) { t.store, t.numbers = store, store.Numbers() }

// Begun is the moment before a value is made.
type Begun struct {
	clock  uint64
	moment fleet.Moment // with a shared tier
}

// Begun is the present moment.
func (t *Tags) Begun() Begun {
	if t.numbers != nil {
		return Begun{moment: t.numbers.Now()}
	}
	return Begun{clock: t.store.Clock()}
}

// ids are those of some tags of a value.
type ids struct {
	n   int
	ids [MaxTags]registry.ID
}

// idsOf are the ids of tags in a namespace. The names are valid.
func idsOf(space string, names []string) (l ids) {
	l.n = len(names)
	for i, name := range names {
		l.ids[i] = registry.TagOf(space, name)
	}
	return l
}

// Append appends the head of a value that was made after a moment, with tags in a namespace. The
// names are valid, and there is at least one. With a shared tier it may wait, and fail: also if
// it cannot be known whether a tag was invalidated since.
func (t *Tags) Append(ctx context.Context, dst []byte, begun Begun, space string, names []string) ([]byte, error) {
	l := idsOf(space, names)
	if t.numbers != nil {
		return t.appendShared(ctx, dst, &begun.moment, &l)
	}
	dst = append(tagFormat.Append(dst), byte(l.n))
	return t.store.AppendNote(dst, begun.clock, l.ids[:l.n]), nil
}

// AppendNow is Append of a value that was made already.
func (t *Tags) AppendNow(ctx context.Context, dst []byte, space string, names []string) ([]byte, error) {
	if t.numbers == nil {
		return t.Append(ctx, dst, t.Begun(), space, names)
	}
	l := idsOf(space, names)
	return t.appendShared(ctx, dst, nil, &l)
}

// Invalidate makes every value obsolete that has the tag. It fails if the cache is closed,
// or as Numbers.Renew does, whether or not it does so then.
func (t *Tags) Invalidate(ctx context.Context, space, name string) error {
	id := registry.TagOf(space, name)
	if t.numbers != nil {
		t.numbers.EndAlone() // as values of which the tags are not known may have this one
		defer t.numbers.EndAlone()
		_, err := t.numbers.Renew(ctx, id.SharedPlace())
		return err
	}
	return t.store.InvalidateTag(id)
}

// Expire makes every value stale that has the tag; one that was made so grace ago, in milliseconds, or
// earlier, is obsolete. It fails as Invalidate does.
func (t *Tags) Expire(ctx context.Context, space, name string, grace int64) error {
	id := registry.TagOf(space, name)
	if t.numbers != nil {
		t.numbers.EndAlone()
		defer t.numbers.EndAlone()
		_, err := t.numbers.Expire(ctx, id.SharedPlace(), t.store.Now())
		return err
	}
	return t.store.ExpireTag(id, grace)
}

// Renew is the head of a value with the same tags that was made after a moment. It fails as Append
// does.
func (t *Tags) Renew(ctx context.Context, dst []byte, begun Begun, h Head) ([]byte, error) {
	if t.numbers == nil {
		return t.store.RenewNote(append(dst, h[:noteAt]...), begun.clock, h.note()), nil
	}
	places := placesOf(h)
	return t.appendPlaces(ctx, dst, &begun.moment, places.ids[:places.n])
}

// Hold reports whether no tag was invalidated, or expired, since the value was made. With a shared tier it
// sends no request: it reports false for what it does not know.
func (t *Tags) Hold(h Head) bool {
	if t.numbers != nil {
		return holdShared(t.numbers, h)
	}
	return t.store.JudgeNote(h.note()) == registry.Holds
}

// Check is Hold with an error, ErrObsolete or ErrExpired if they do not. With a shared tier it gets the
// numbers that are not known, as Numbers.GetToRead does.
func (t *Tags) Check(ctx context.Context, h Head) error {
	if t.numbers != nil {
		return t.checkShared(ctx, h)
	}
	switch t.store.JudgeNote(h.note()) {
	case registry.Holds:
		return nil
	case registry.Expired:
		return ErrExpired
	}
	return ErrObsolete
}

// The reasons why a value is none any more.
var (
	ErrObsolete = errors.New("a tag of the value was invalidated")
	ErrExpired  = errors.New("a tag of the value has expired") // it is stale, and may be an answer to a load
)

// Use gives the store the functions that say whether a record has a tag that was invalidated, or
// expired: for a value, by its first bytes; for a negative entry, whether it may have. What they are given keeps nothing of
// the cache, which refers to the tiers.
func (t *Tags) Use() {
	judge := t.store.NoteJudge()
	if n := t.numbers; n != nil {
		t.store.SetObsolete(func(_, head []byte) (obsolete bool, since int64) {
			if h, _, ok := CutTags(head); ok {
				return judgeShared(n, h)
			}
			return false, 0
		}, func(value []byte) bool {
			h, _, ok := CutTags(value)
			return ok && !holdShared(n, h)
		})
		return
	}
	t.store.SetObsolete(func(_, head []byte) (obsolete bool, since int64) {
		h, _, ok := CutTags(head)
		if !ok {
			return false, 0
		}
		v, since := judge(h.note())
		return v == registry.Obsolete, since
	}, func(value []byte) bool {
		h, _, ok := CutTags(value)
		if !ok {
			return false
		}
		v, _ := judge(h.note())
		return v != registry.Holds
	})
}
