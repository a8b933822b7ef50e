package firn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/firncache/firn/internal/load"
	"github.com/firncache/firn/internal/typed"
)

// MaxTags is how many tags a value may have.
const MaxTags = 16

// InvalidateTag makes every value of the namespace worthless that was stored with the tag, in the
// same short time however many there are. When it returns nil, no read finds one of them, in any
// tier, nor after a restart; their memory is used again as room is needed, and until then Len
// counts them. A value whose load began before goes to those who wait for it since before alone.
//
// Any number of tags may be in use: they share places, one for each 4 to 8 KiB of
// Options.RAMBytes, and two of one place are invalidated together. With a shared tier another
// process may find a value within the bound, and what that tier has forgotten of a tag makes its
// values worthless, too.
func (t *Typed[K, V]) InvalidateTag(ctx context.Context, tag string) error {
	if err := t.checkTag("InvalidateTag", tag); err != nil {
		return err
	}
	return t.cfg.c.typed.tags.Invalidate(ctx, t.space.Label, tag)
}

// ExpireTag makes every value of the namespace stale that was stored with the tag, as if its time
// to live were over, or obsolete without StaleWhileRevalidate and StaleIfError. When it returns
// nil, no read finds one of them, as after InvalidateTag; but until a load has replaced it,
// GetOrLoad and GetOrLoadMulti may answer with it, for as long as these two options say: counted
// from the call, and anew from a later one that comes before it is over. InvalidateTag ends that
// at once. What a load under way returns is stored as stale, what is stored with the tag
// afterwards is fresh. Typed caches of the namespace, and tags of one place, share a moment: those
// that expire tags are to have the same options.
//
// With a shared tier it does so for every process, in others within the tier's bound, and fails as
// InvalidateTag does. There each call counts by itself, of a place the last eight: values that
// were made stale before these are obsolete. So they are, too, once the server has lost the tag's
// number, and for processes of a version without this.
func (t *Typed[K, V]) ExpireTag(ctx context.Context, tag string) error {
	if err := t.checkTag("ExpireTag", tag); err != nil {
		return err
	}
	return t.cfg.c.typed.tags.Expire(ctx, t.space.Label, tag, t.cfg.loads.Config().Grace())
}

// checkTag is why a call cannot change a tag.
func (t *Typed[K, V]) checkTag(call, tag string) error {
	if err := typed.CheckTag(tag); err != nil {
		return fmt.Errorf("firn: %s: %w", call, err)
	}
	switch {
	case t.closed.Load():
		return errTypedClosed
	case t.cfg.c.store.Closed():
		return ErrClosed
	}
	return nil
}

// useTags has the tiers ask whether a value's tags were invalidated, from before it returns on: of
// two first calls at once both tell them.
func (c *Cache) useTags() {
	if !c.typed.tagged.Load() {
		c.typed.tags.Use()
		c.typed.tagged.Store(true)
	}
}

// cutTags takes tags and fingerprint off a stored value that has tags.
func (t *Typed[K, V]) cutTags(stored []byte) (tags typed.Head, payload []byte, ok bool) {
	tags, value, ok := typed.CutTags(stored)
	if ok {
		payload, ok = t.cut(value)
	}
	return tags, payload, ok
}

// payload is the payload of a stored value, if it is of this type.
func (t *Typed[K, V]) payload(stored []byte) (payload []byte, ok bool) {
	if payload, ok = t.cut(stored); !ok {
		_, payload, ok = t.cutTags(stored)
	}
	return payload, ok
}

// valid is the payload of a stored value, if it is of this type and its tags hold.
func (t *Typed[K, V]) valid(ctx context.Context, stored []byte) (payload []byte, ok bool) {
	if payload, ok = t.cut(stored); ok {
		return payload, true
	}
	tags, payload, ok := t.cutTags(stored)
	return payload, ok && t.cfg.c.typed.tags.Check(ctx, tags) == nil
}

// tagsOf are the tags of a stored value, in memory of their own; nil without any.
func tagsOf(stored []byte) typed.Head {
	tags, _, _ := typed.CutTags(stored)
	return slices.Clone(tags)
}

// withHeadOf is value, as it is stored without tags, with tags and end of a stored value.
func withHeadOf(stored, value []byte) []byte {
	_, own := typed.CutEnd(value)
	if n := typed.HeadLen(stored); n > 0 || len(own) < len(value) {
		return slices.Concat(stored[:n], own)
	}
	return value
}

// checkTags is the error of a stored value if its tags do not hold. One of which a tag was
// invalidated, or has expired, it counts, and the former it deletes.
func (c *Cache) checkTags(ctx context.Context, tags typed.Head, key, stored []byte) error {
	switch err := c.typed.tags.Check(ctx, tags); err {
	case typed.ErrObsolete:
		c.typed.tagMisses.Add(1)
		return errors.Join(errInvalidated, c.store.DeleteIfEqual(ctx, key, stored))
	case typed.ErrExpired:
		c.typed.tagMisses.Add(1)
		return errTagExpired
	default:
		return err
	}
}

var (
	errInvalidated = fmt.Errorf("%w: %w", ErrNotFound, typed.ErrObsolete)
	errTagExpired  = fmt.Errorf("%w: %w", ErrNotFound, typed.ErrExpired)
)

// inspect is the deadline of s.key, if there is a value and its tags hold.
func (t *Typed[K, V]) inspect(s *scratch[K]) (deadline int64, ok bool) {
	if !t.cfg.c.typed.tagged.Load() {
		return t.cfg.c.store.Deadline(s.key)
	}
	if s.value, deadline, ok = t.cfg.c.store.Inspect(s.value[:0], s.key); !ok {
		return 0, false
	}
	if tags, _, tagged := typed.CutTags(s.value); tagged {
		ok = t.cfg.c.typed.tags.Check(context.Background(), tags) == nil
	}
	return deadline, ok
}

// SetLoadTags gives the value that a loader of a typed cache is about to return tags, as
// SetOptions.Tags has them; those of a TypedMultiLoadFunc are of all its values, or with the
// context of ForKey of one. A remembered ErrNotFound has them, too. A loader calls it with its own
// context, or one made from it; the last call counts.
//
// A value with a tag that was invalidated since its load began is not kept. Nor is one with more
// than MaxTags tags, which is no error: Stats.TagOverflows counts it.
func SetLoadTags(ctx context.Context, tags ...string) error {
	l, ok := load.Note(ctx).(*loadTags)
	if !ok {
		return errors.New("firn: SetLoadTags: the context is not that of a typed cache's loader")
	}
	key, err := load.KeyOf(ctx)
	if err == nil {
		err = l.set(ctx, key, tags)
	}
	if err != nil {
		return fmt.Errorf("firn: SetLoadTags: %w", err)
	}
	return nil
}

// loadTags are the tags of what a loader is about to return.
type loadTags struct {
	c     *Cache
	space string
	begun typed.Begun

	mu    sync.Mutex
	all   valueTags
	each  map[int]valueTags // of single values of a bulk load
	ended bool              // nothing changes any more
}

// valueTags are those of all values, or of one.
type valueTags struct {
	head     typed.Head
	bad      bool // nothing is to be kept
	overflow bool // because there were too many tags
	unknown  bool // whether one was invalidated since the load began: they can be had no more
}

// renewed is a stored value, if a tag of it has expired as one that was made since the load began whose
// loader's context ctx is.
func (t *Typed[K, V]) renewed(ctx context.Context, stored []byte) []byte {
	l, ok := load.Note(ctx).(*loadTags)
	tags, value, tagged := typed.CutTags(stored)
	if !ok || !tagged || l.c != t.cfg.c || t.cfg.c.typed.tags.Check(ctx, tags) != typed.ErrExpired {
		return stored
	}
	head, err := t.cfg.c.typed.tags.Renew(ctx, make([]byte, 0, len(stored)), l.begun, tags)
	if err != nil { // it is not known whether it expired again
		return stored
	}
	return append(head, value...)
}

// beginLoadTags is called before a loader is, with its context.
func (t *Typed[K, V]) beginLoadTags(ctx context.Context) *loadTags {
	l := &loadTags{c: t.cfg.c, space: t.space.Label, begun: t.cfg.c.typed.tags.Begun()}
	load.SetNote(ctx, l)
	return l
}

// set replaces the tags of all values, or those of the one for a key that load.KeyOf returned.
func (l *loadTags) set(ctx context.Context, key int, names []string) error {
	err := typed.CheckTags(names)
	v := valueTags{bad: err != nil, overflow: errors.Is(err, typed.ErrTooManyTags)}
	if err == nil && len(names) > 0 {
		l.c.useTags()
		var unknown error
		v.head, unknown = l.c.typed.tags.Append(ctx, nil, l.begun, l.space, names)
		v.unknown = unknown != nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.ended: // it is too late
	case key < 0:
		l.all = v
	default:
		if l.each == nil {
			l.each = map[int]valueTags{}
		}
		l.each[key] = v
	}
	if v.overflow {
		return nil
	}
	return err
}

// returned is called when the loader has returned, with its context, how many keys it had, and
// whether what it returned may be kept: else no Clear of another process would remove that.
func (l *loadTags) returned(ctx context.Context, keys int, keep bool) {
	if !keep {
		load.KeepNone(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	if len(l.each) == 0 {
		l.settle(ctx, &l.all)
		return
	}
	for i := range keys {
		v := l.of(i)
		l.settle(ForKey(ctx, i), &v)
	}
}

// of are the tags of a value that were set last, once the loader has returned.
func (l *loadTags) of(key int) valueTags {
	if v, ok := l.each[key]; ok {
		return v
	}
	return l.all
}

// settle says what is to be kept, with a context for the values that have these tags.
func (l *loadTags) settle(ctx context.Context, v *valueTags) {
	if v.overflow {
		l.c.typed.tagOverflows.Add(1)
	}
	switch {
	case v.bad:
		load.KeepNone(ctx)
		return
	case v.unknown:
		load.KeepAlone(ctx)
	}
	load.SetNegative(ctx, v.head)
}
