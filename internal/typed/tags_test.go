package typed

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/firncache/firn/internal/codec"
	"github.com/firncache/firn/internal/registry"
)

// table is a registry alone.
type table struct{ *registry.Table }

func (t table) Number(id registry.ID) (uint64, bool)      { return t.Get(id) }
func (t table) BumpNumber(id registry.ID) (uint64, error) { return t.Bump(id), nil }

func newTags() *Tags {
	t := new(Tags)
	t.Open(newTable(), nil)
	return t
}

func newTable() table { return table{registry.New(nil, 1)} }

// What is stored before a tagged value stays as it is: later versions of the package read
// it.
func TestTagFormat(t *testing.T) {
	l := TagList{n: 2}
	l.pairs[0].tag, l.pairs[0].version = tagOf("pages", "product:42"), 1
	l.pairs[1].tag, l.pairs[1].version = tagOf("pages", "category:7"), 2
	got := hex.EncodeToString(l.Append([]byte("before ")))
	want := "6265666f726520" + "6a1c2ba7" + "02" + "e17a286180e8f877" + "0100000000000000" + "c52c4142363df86d" + "0200000000000000"
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if none := (&TagList{}).Append(nil); none != nil {
		t.Errorf("no tags are stored as %x, want nothing", none)
	}
}

func TestCutTags(t *testing.T) {
	tags := newTags()
	for n := 1; n <= MaxTags; n++ {
		l := nowOf(tags, "space", []string{"a", "b", "c", "d"}[:n])
		stored := append(l.Append(nil), "value"...)
		got, value, ok := CutTags(stored)
		if !ok || got != l || string(value) != "value" {
			t.Errorf("%d tags: %v, %q, %v, want %v", n, got, value, ok, l)
		}
		head := len(stored) - len(value)
		for short := range head {
			if _, _, ok := CutTags(stored[:short]); ok {
				t.Errorf("%d tags were cut off %d bytes of %d", n, short, head)
			}
		}
		for _, count := range []byte{0, MaxTags + 1, 255} {
			stored[countAt] = count
			if _, _, ok := CutTags(append(stored, make([]byte, 5000)...)); ok {
				t.Errorf("%d tags were cut off", count)
			}
		}
	}
}

// No fingerprint is that of tags.
func TestUnambiguous(t *testing.T) {
	if f := Unambiguous(tagFormat); f == tagFormat {
		t.Error("a value without tags begins as one with tags")
	}
	if f := codec.FingerprintOf("other"); Unambiguous(f) != f {
		t.Error("another fingerprint is not itself any more")
	}
}

// A tag is of its namespace.
func TestTagOf(t *testing.T) {
	seen := map[tag][2]string{}
	for _, of := range [][2]string{{"n", "a"}, {"n", "b"}, {"m", "a"}, {"", "na"}, {"na", ""}, {"n\x00", "a"}, {"n", "\x00a"}, {strings.Repeat("n", 255), "a"}} {
		g := tagOf(of[0], of[1])
		if other, ok := seen[g]; ok {
			t.Errorf("%q and %q are one tag", of, other)
		}
		seen[g] = of
	}
}

func TestInvalidate(t *testing.T) {
	tags := newTags()
	a, ab, b := nowOf(tags, "n", []string{"a"}), nowOf(tags, "n", []string{"a", "b"}), nowOf(tags, "n", []string{"b"})
	elsewhere := nowOf(tags, "m", []string{"a"})
	check := func(when string, want ...bool) {
		t.Helper()
		for i, l := range []TagList{a, ab, b, elsewhere} {
			if tags.Hold(&l) != want[i] || tags.Obsolete(nil, l.Append(nil)) == want[i] {
				t.Errorf("%s, tags %d hold: %v, want %v", when, i, tags.Hold(&l), want[i])
			}
		}
	}
	check("at first", true, true, true, true)
	_ = tags.Invalidate(context.Background(), "n", "a")
	check("without a", false, false, true, true)
	a = nowOf(tags, "n", []string{"a"})
	check("with another a", true, false, true, true)
	for _, untagged := range []string{"", "text", string(tagFormat.Append(nil))} {
		if tags.Obsolete(nil, []byte(untagged)) {
			t.Errorf("%q is obsolete", untagged)
		}
	}
}

// What was invalidated since a load began is obsolete, whenever the load names its tags, and
// what was before is not.
func TestLate(t *testing.T) {
	tags := newTags()
	late := func(begun Begun, name string, want bool) {
		t.Helper()
		if l := tags.Late(context.Background(), begun, "n", []string{name}); tags.Hold(&l) != want {
			t.Errorf("%s, for a load that began at %d: %v, want %v", name, begun, !want, want)
		}
	}
	_ = tags.Invalidate(context.Background(), "n", "a")
	begun := tags.Begun()
	late(begun, "a", true)
	_ = tags.Invalidate(context.Background(), "n", "b") // nobody has used it
	late(begun, "a", true)
	late(begun, "b", false)
	late(tags.Begun(), "b", true)
	l := tags.Late(context.Background(), begun, "n", []string{"a", "b"})
	if tags.Hold(&l) {
		t.Error("a value holds of which one tag was invalidated")
	}
}

// An invalidation that is overtaken by a later one does not make its stripe older.
func TestStripeGrows(t *testing.T) {
	tags := newTags()
	begun := tags.Begun()
	_ = tags.Invalidate(context.Background(), "n", "a")
	tags.stripe(tagOf("n", "a")).Store(5) // by one that began later
	_ = tags.Invalidate(context.Background(), "n", "a")
	if l := tags.Late(context.Background(), Begun{count: begun.count + 4}, "n", []string{"a"}); tags.Hold(&l) {
		t.Error("an invalidation was forgotten")
	}
}

// A tag that the table has forgotten is a new one, also if the same number could be drawn
// again.
func TestForgotten(t *testing.T) {
	tags := newTags()
	l := nowOf(tags, "n", []string{"a"})
	tags.Open(newTable(), nil) // as one that was lost
	if tags.Hold(&l) {
		t.Error("the tag of a table that was lost holds")
	}
	if again := nowOf(tags, "n", []string{"a"}); again == l || tags.Hold(&l) {
		t.Error("a tag has the version that it had in a table that was lost")
	}
	l = nowOf(tags, "n", []string{"a"})
	for i := range 10_000 {
		nowOf(tags, "n", []string{fmt.Sprint(i)})
	}
	if tags.Hold(&l) {
		t.Error("the table has forgotten nothing")
	}
	nowOf(tags, "n", []string{"a"})
	if tags.Hold(&l) {
		t.Error("a tag that was forgotten has its old version again")
	}
}

// Invalidating tags that nobody uses drives none out of the table.
func TestInvalidateUnknown(t *testing.T) {
	tags := newTags()
	l := nowOf(tags, "n", []string{"a"})
	for i := range 10_000 {
		_ = tags.Invalidate(context.Background(), "n", fmt.Sprint("unknown ", i))
	}
	if !tags.Hold(&l) {
		t.Error("a tag was forgotten for others that no value has")
	}
}

// Those who use a new tag at the same time get one version.
func TestFirstUseAtOnce(t *testing.T) {
	tags := newTags()
	for i := range 200 {
		name := []string{fmt.Sprint(i)}
		var lists [4]TagList
		var all sync.WaitGroup
		for k := range lists {
			all.Go(func() { lists[k] = nowOf(tags, "n", name) })
		}
		all.Wait()
		for k := range lists {
			if lists[k] != lists[0] {
				t.Fatalf("versions %v", lists)
			}
		}
	}
}

func TestCheckTags(t *testing.T) {
	for want, names := range map[string][]string{
		"5 tags: want at most 4":                      make([]string, 5),
		`tag 1: "" has 0 bytes: want 1 to 255`:        {"a", ""},
		`tag 0: "nnnnnnnnnnnnnnnnnnnn" has 256 bytes`: {strings.Repeat("n", 256)},
	} {
		if err := CheckTags(names); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", names, err, want)
		}
	}
	if err := CheckTags([]string{"a", "b", "c", strings.Repeat("n", 255)}); err != nil {
		t.Error(err)
	}
}

// nowOf is Now, which does not fail without a shared tier.
func nowOf(tags *Tags, space string, names []string) TagList {
	l, err := tags.Now(context.Background(), space, names)
	if err != nil {
		panic(err)
	}
	return l
}
