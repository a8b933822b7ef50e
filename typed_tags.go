package firn

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/firncache/firn/internal/load"
	"github.com/firncache/firn/internal/typed"
)

// MaxTags is how many tags a value may have.
const MaxTags = typed.MaxTags

// SetOptions are those of one SetWith. The zero SetOptions make it a Set.
type SetOptions struct {
	// TTL is the value's time to live, to the millisecond, or Forever. Default
	// 0: TypedOptions.TTL.
	TTL time.Duration

	// Tags name what the value was made of, so that InvalidateTag finds it: at most
	// MaxTags, each of 1 to 255 bytes. They belong to the namespace, whatever the type of its
	// keys is. Each makes the entry 16 bytes longer, the first one 21. Default: none.
	Tags []string
}

// SetWith is Set with options. Tags that make no sense are an error. A value that was
// made of something that InvalidateTag is called for before SetWith is stored as a valid
// one: where that may be, load the value with GetOrLoad, or set it again.
func (t *Typed[K, V]) SetWith(key K, v V, o SetOptions) error {
	return t.SetWithContext(context.Background(), key, v, o)
}

// InvalidateTag makes every value of the namespace worthless that was stored with the
// tag, in the same short time however many there are. When it returns nil, no read finds
// one of them, in RAM, on the SSD or in a front, nor after a restart; their memory is
// used again as room is needed, or when they are read, and until then Len counts them.
//
// A value whose load began before goes to those who wait for it since before, and to
// nobody else. One that is stored with the tag afterwards is valid.
//
// The cache, without a shared tier, remembers a bounded number of tags, about one for each 5 to 10 KiB of
// Options.RAMBytes, up to 24,576. One that was not used for long is forgotten when there is
// no room for others, and all values that have it are worthless, as after InvalidateTag.
//
// With a shared tier the values of all processes are worthless: another may find one of them
// within the bound. What that tier has forgotten of a tag makes its values worthless, too.
func (t *Typed[K, V]) InvalidateTag(tag string) error {
	return t.InvalidateTagContext(context.Background(), tag)
}

// useTags has the tiers ask whether a value's tags were invalidated.
func (c *Cache) useTags() {
	if !c.typed.tagged.Load() && !c.typed.tagged.Swap(true) {
		c.store.SetObsolete(c.typed.tags.Obsolete)
	}
}

// cutTags takes tags and fingerprint off a stored value that has tags.
func (t *Typed[K, V]) cutTags(stored []byte) (tags typed.TagList, payload []byte, ok bool) {
	tags, value, ok := typed.CutTags(stored)
	if ok {
		payload, ok = t.fingerprint.Cut(value)
	}
	return tags, payload, ok
}

// payload is the payload of a stored value, if it is of this type.
func (t *Typed[K, V]) payload(stored []byte) (payload []byte, ok bool) {
	if payload, ok = t.fingerprint.Cut(stored); !ok {
		_, payload, ok = t.cutTags(stored)
	}
	return payload, ok
}

// valid is the payload of a stored value, if it is of this type and its tags hold.
func (t *Typed[K, V]) valid(ctx context.Context, stored []byte) (payload []byte, ok bool) {
	if payload, ok = t.fingerprint.Cut(stored); ok {
		return payload, true
	}
	tags, payload, ok := t.cutTags(stored)
	return payload, ok && t.c.typed.tags.Check(ctx, &tags) == nil
}

// tagsOf are the tags of a stored value, nil without any.
func tagsOf(stored []byte) *typed.TagList {
	if tags, _, ok := typed.CutTags(stored); ok {
		return &tags
	}
	return nil
}

// withTagsOf is value, as it is stored without tags, with those of a stored value.
func withTagsOf(stored, value []byte) []byte {
	if tags, _, ok := typed.CutTags(stored); ok {
		return append(tags.Append(nil), value...)
	}
	return value
}

// checkTags is the error of a stored value if its tags do not hold. One of which a tag was
// invalidated it counts, and deletes.
func (c *Cache) checkTags(ctx context.Context, tags *typed.TagList, key, stored []byte) error {
	err := c.typed.tags.Check(ctx, tags)
	if err != typed.ErrObsolete {
		return err
	}
	c.typed.tagMisses.Add(1)
	return errors.Join(errInvalidated, c.store.DeleteIfEqual(ctx, key, stored))
}

var errInvalidated = fmt.Errorf("%w: a tag of the value was invalidated", ErrNotFound)

// inspect is the deadline of s.key, if there is a value and its tags hold.
func (t *Typed[K, V]) inspect(s *scratch[K]) (deadline int64, ok bool) {
	if !t.c.typed.tagged.Load() {
		return t.c.store.Deadline(s.key)
	}
	if s.value, deadline, ok = t.c.store.Inspect(s.value[:0], s.key); !ok {
		return 0, false
	}
	if tags, _, tagged := typed.CutTags(s.value); tagged {
		ok = t.c.typed.tags.Check(context.Background(), &tags) == nil
	}
	return deadline, ok
}

// SetLoadTags gives the value that a loader of a typed cache is about to return tags, as
// SetOptions.Tags has them; those of a TypedMultiLoadFunc are of all its values. A loader
// calls it with its own context, or one made from it; the last call counts.
//
// Call it before asking the source, if the tags are known by then. It is as safe later:
// a value with a tag that was invalidated since its load began is not kept. But then
// another tag's invalidation may, now and then, be taken for one of its own. A value that
// was not modified (ErrNotModified) keeps the tags that it had.
func SetLoadTags(ctx context.Context, tags ...string) error {
	l, ok := load.Note(ctx).(*loadTags)
	if !ok {
		return errors.New("firn: SetLoadTags: the context is not that of a typed cache's loader")
	}
	if err := typed.CheckTags(tags); err != nil {
		return fmt.Errorf("firn: SetLoadTags: %w", err)
	}
	l.set(ctx, tags)
	return nil
}

// loadTags are the tags of what a loader is about to return.
type loadTags struct {
	c     *Cache
	space string
	begun typed.Begun

	mu   sync.Mutex
	tags typed.TagList
}

// beginLoadTags is called before a loader is, with its context.
func (t *Typed[K, V]) beginLoadTags(ctx context.Context) *loadTags {
	l := &loadTags{c: t.c, space: t.tagSpace, begun: t.c.typed.tags.Begun()}
	load.SetNote(ctx, l)
	return l
}

func (l *loadTags) set(ctx context.Context, names []string) {
	l.c.useTags()
	tags := l.c.typed.tags.Late(ctx, l.begun, l.space, names)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tags = tags
}

// head is what stands before a value with the tags that were set last.
func (l *loadTags) head() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tags.Append(nil)
}
