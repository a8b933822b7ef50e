package typed

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/firncache/firn/internal/codec"
	"github.com/firncache/firn/internal/registry"
	"github.com/firncache/firn/internal/tiered"
)

// A value that has tags is stored behind them, and the version that each had when the
// value was made. What follows is what is stored for a value without tags.
//
//	+--------+-------+---------------+- - - - - -+- - - - - - - -+
//	| format | count | tag   version | next tag  | value          |
//	| 4      | 1     | 8     8       |           |                |
//	+--------+-------+---------------+- - - - - -+- - - - - - - -+
//
// The value holds as long as every tag of it has that version still. So to invalidate
// a tag is to give it another version, whatever number of values carry it. A tag that
// the registry has forgotten has none: what carries it is obsolete, and when it is used
// again it gets a version that it never had.
var tagFormat = codec.FingerprintOf("tags/1")

// Limits of tags.
const (
	MaxTags   = 4
	MaxTagLen = 255 // bytes of a tag
)

const (
	pairLen     = 16 // of tag and version
	countAt     = codec.FingerprintLen
	pairsAt     = countAt + 1
	noVersion   = 0 // no tag ever has it
	stripeCount = 1 << 10
)

// Unambiguous is the fingerprint itself, or another in place of the one with which tagged values
// begin.
func Unambiguous(f codec.Fingerprint) codec.Fingerprint {
	if f == tagFormat {
		return ^f
	}
	return f
}

// Tags are the tags of a cache's typed values. All methods are safe for concurrent use.
//
// # Values that are made while a tag is invalidated
//
// A value is only as new as the moment at which its source was asked, or before which
// it was made. If its tags get their versions before that, a tag that is invalidated
// later has another version, and the value is obsolete. A loader may name its tags when
// it knows them, which is often later; so every invalidation takes a number, and notes
// it in the stripe of its tag before the version changes:
//
//	Invalidate:  count++ ─── stripe = count ─── another version
//	a load:      begun = count ─── asks its source ─── versions ─── stripe > begun?
//
// If the version changes after a load has taken it, the two differ. If it changed before,
// the stripe was noted before; and then it is above begun, or the invalidation had begun
// before the load, and what it was called for had happened. Another tag of the stripe
// may make a value obsolete without need.
//
// With a shared tier the versions are numbers that all processes agree on: see shared_tags.go.
type Tags struct {
	versions Versions
	numbers  *tiered.Numbers // instead of versions, with a shared tier
	drawing  sync.Mutex      // held while a tag gets its first version

	count   atomic.Uint64           // invalidations
	stripes atomic.Pointer[stripes] // nil until one is needed
}

// Versions has the versions of tags: the registry of a tiered.Store.
type Versions interface {
	Number(id registry.ID) (version uint64, ok bool)
	BumpNumber(id registry.ID) (version uint64, err error)
}

// Open says where the versions are: in numbers, if that is not nil. It is called before all
// others.
func (t *Tags) Open(v Versions, numbers *tiered.Numbers) { t.versions, t.numbers = v, numbers }

// stripes are the numbers of the last invalidations, by tags.
type stripes [stripeCount]atomic.Uint64

// tag is a tag's hash. Two tags of one hash are invalidated together.
type tag uint64

// tagOf is the tag of a name, in a namespace.
func tagOf(space, name string) tag {
	id := registry.IDOf(registry.Tag, string([]byte{byte(len(space))})+space+name) // at most 255 bytes
	return tag(binary.LittleEndian.Uint64(id[8:]))
}

// id is where the version of a tag stands.
func (g tag) id() (id registry.ID) {
	id[0] = registry.Tag
	binary.LittleEndian.PutUint64(id[8:], uint64(g))
	return id
}

// TagList is the tags of a value with their versions. The zero TagList is empty.
type TagList struct {
	n     int
	pairs [MaxTags]struct {
		tag     tag
		version uint64
	}
}

// Len is how many tags there are.
func (l *TagList) Len() int { return l.n }

// Append appends what stands before a value with these tags: nothing without any.
func (l *TagList) Append(dst []byte) []byte {
	if l.n == 0 {
		return dst
	}
	dst = append(tagFormat.Append(dst), byte(l.n))
	for _, p := range l.pairs[:l.n] {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(p.tag))
		dst = binary.LittleEndian.AppendUint64(dst, p.version)
	}
	return dst
}

// CutTags takes the tags off a stored value. It reports false if it has none.
func CutTags(stored []byte) (l TagList, value []byte, ok bool) {
	n, end, ok := tagsEnd(stored)
	if !ok {
		return l, nil, false
	}
	l.n = n
	for i := range n {
		at := pairsAt + i*pairLen
		l.pairs[i].tag = tag(binary.LittleEndian.Uint64(stored[at:]))
		l.pairs[i].version = binary.LittleEndian.Uint64(stored[at+8:])
	}
	return l, stored[end:], true
}

// tagsEnd is how many tags a stored value has, and where they end.
func tagsEnd(stored []byte) (n, end int, ok bool) {
	if _, ok = tagFormat.Cut(stored); !ok || len(stored) < pairsAt {
		return 0, 0, false
	}
	n = int(stored[countAt])
	end = pairsAt + n*pairLen
	return n, end, n >= 1 && n <= MaxTags && end <= len(stored)
}

// CheckTags refuses tags that a value cannot have.
func CheckTags(names []string) error {
	if len(names) > MaxTags {
		return fmt.Errorf("%d tags: want at most %d", len(names), MaxTags)
	}
	for i, name := range names {
		if err := CheckTag(name); err != nil {
			return fmt.Errorf("tag %d: %w", i, err)
		}
	}
	return nil
}

// CheckTag refuses what is no tag.
func CheckTag(name string) error {
	if len(name) == 0 || len(name) > MaxTagLen {
		return fmt.Errorf("%.20q has %d bytes: want 1 to %d", name, len(name), MaxTagLen)
	}
	return nil
}

// Begun is the moment before a value is made.
type Begun struct {
	count  uint64
	moment tiered.Moment // with a shared tier
}

// Begun is the present moment, for Late.
func (t *Tags) Begun() Begun {
	if t.numbers != nil {
		return Begun{moment: t.numbers.Now()}
	}
	return Begun{count: t.count.Load()}
}

// Now are tags in a namespace, with their versions, for a value that is made after it.
// The names are valid. With a shared tier it may wait, and fail.
func (t *Tags) Now(ctx context.Context, space string, names []string) (l TagList, err error) {
	if t.numbers != nil {
		return t.nowShared(ctx, space, names)
	}
	return t.now(space, names), nil
}

func (t *Tags) now(space string, names []string) (l TagList) {
	l.n = len(names)
	for i, name := range names {
		p := &l.pairs[i]
		p.tag = tagOf(space, name)
		p.version = t.version(p.tag)
	}
	return l
}

// Late is Now for a value that may have been made after a moment: it is obsolete if any of
// its tags was invalidated since, or if that cannot be told.
func (t *Tags) Late(ctx context.Context, begun Begun, space string, names []string) TagList {
	if t.numbers != nil {
		return t.lateShared(ctx, begun, space, names)
	}
	l := t.now(space, names)
	for i := range l.n {
		if p := &l.pairs[i]; t.stripe(p.tag).Load() > begun.count {
			p.version = noVersion
		}
	}
	return l
}

// version is the version of a tag. One that the registry does not know gets a new one.
func (t *Tags) version(g tag) uint64 {
	if v, ok := t.versions.Number(g.id()); ok {
		return v
	}
	t.drawing.Lock()
	defer t.drawing.Unlock()
	if v, ok := t.versions.Number(g.id()); ok {
		return v
	}
	v, err := t.versions.BumpNumber(g.id()) // at random: NumberOrDraw may give a number that the tag had in a registry that was lost
	if err != nil {
		return noVersion // nor will the value be stored
	}
	return v
}

// stripe is the stripe of a tag.
func (t *Tags) stripe(g tag) *atomic.Uint64 {
	if t.stripes.Load() == nil {
		t.stripes.CompareAndSwap(nil, new(stripes))
	}
	return &t.stripes.Load()[g%stripeCount]
}

// Invalidate makes every value obsolete that has the tag. It fails if the cache is closed,
// or as Numbers.Renew does, whether or not it does so then.
func (t *Tags) Invalidate(ctx context.Context, space, name string) (err error) {
	g := tagOf(space, name)
	if t.numbers != nil {
		_, err = t.numbers.Renew(ctx, g.id())
		return err
	}
	for n, last := t.count.Add(1), t.stripe(g); ; {
		old := last.Load()
		if old >= n || last.CompareAndSwap(old, n) {
			break
		}
	}
	if _, ok := t.versions.Number(g.id()); ok { // otherwise it has no version, and need not drive out another tag for one
		_, err = t.versions.BumpNumber(g.id())
	}
	return err
}

// Hold reports whether all the tags have their versions still. With a shared tier it asks
// nobody: then it also has to know it.
func (t *Tags) Hold(l *TagList) bool {
	for i := range l.n {
		p := &l.pairs[i]
		if v, ok := t.known(p.tag); !ok || v != p.version {
			return false
		}
	}
	return true
}

// known is the version of a tag, if it is known without asking.
func (t *Tags) known(g tag) (version uint64, ok bool) {
	if t.numbers == nil {
		return t.versions.Number(g.id())
	}
	c := t.numbers.Find(g.id())
	if !t.numbers.Holds(c) {
		return 0, false
	}
	return c.Value, true
}

// Check is Hold with an error, ErrObsolete if they have not. With a shared tier it asks for the
// versions that are not known, as Numbers.GetToRead does.
func (t *Tags) Check(ctx context.Context, l *TagList) error {
	if t.numbers != nil {
		return t.checkShared(ctx, l)
	}
	if !t.Hold(l) {
		return ErrObsolete
	}
	return nil
}

// ErrObsolete says that a tag of a value was invalidated.
var ErrObsolete = errors.New("a tag of the value was invalidated")

// Obsolete reports whether a stored value, of which head are the first bytes, has a tag
// that was invalidated. With a shared tier it asks nobody, and says so of what it knows.
func (t *Tags) Obsolete(_, head []byte) bool {
	l, _, ok := CutTags(head)
	if !ok {
		return false
	}
	if t.numbers == nil {
		return !t.Hold(&l)
	}
	for i := range l.n {
		p := &l.pairs[i]
		if v, ok := t.known(p.tag); p.version == noVersion || ok && v != p.version {
			return true
		}
	}
	return false
}
