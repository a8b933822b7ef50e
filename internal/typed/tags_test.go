package typed

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/firncache/firn/internal/codec"
	"github.com/firncache/firn/internal/registry"
)

func newTags(t *testing.T) *Tags {
	store := openStore(t)
	store.OpenRegistry()
	tags := new(Tags)
	tags.Open(store)
	return tags
}

// now is the head of a value with some tags.
func (t *Tags) now(space string, names ...string) Head {
	return t.at(t.Begun(), space, names...)
}

// at is that of one that began to be made at a moment.
func (t *Tags) at(begun Begun, space string, names ...string) Head {
	h, err := t.Append(context.Background(), nil, begun, space, names)
	if err != nil {
		panic(err)
	}
	return h
}

// What is stored before a tagged value stays as it is: later versions of the package read
// it.
func TestTagFormat(t *testing.T) {
	h := newTags(t).now("pages", "product:42", "category:7")
	if got, want := hex.EncodeToString(h[:5]), hex.EncodeToString(tagFormat.Append(nil))+"02"; got != want || len(h) != 29 || !bytes.Equal(h[13:21], make([]byte, 8)) {
		t.Errorf("%x: want %s, a seal, a clock of 0 and two hashes", h, want)
	}
	id := registry.TagOf("pages", "product:42")
	if got := id.Hash(); got != 0x77f8e88061287ae1 {
		t.Errorf("the tag's hash is %x", got)
	}
}

func TestCutTags(t *testing.T) {
	tags := newTags(t)
	names := strings.Split("a b c d e f g h i j k l m n o p", " ")
	for n := 1; n <= MaxTags; n++ {
		h := tags.now("space", names[:n]...)
		stored := append(bytes.Clone(h), "value"...)
		got, value, ok := CutTags(stored)
		if !ok || !bytes.Equal(got, h) || string(value) != "value" || !tags.Hold(got) {
			t.Errorf("%d tags: %x, %q, %v, want %x", n, got, value, ok, h)
		}
		for short := range len(h) {
			if _, _, ok := CutTags(stored[:short]); ok {
				t.Errorf("%d tags were cut off %d bytes of %d", n, short, len(h))
			}
		}
		for _, count := range []byte{0, MaxTags + 1, 255} {
			stored[noteAt-1] = count
			if _, _, ok := CutTags(append(stored, make([]byte, 5000)...)); ok {
				t.Errorf("%d tags were cut off", count)
			}
		}
	}
	if most := noteAt + max(registry.NoteLen(MaxTags), sharedNoteLen(MaxTags)); most > 256 {
		t.Errorf("the head has up to %d bytes: want at most 256, which the tiers show", most)
	}
}

// No fingerprint is that of tags.
func TestUnambiguous(t *testing.T) {
	for _, tagged := range []codec.Fingerprint{tagFormat, sharedTagFormat} {
		if f := Unambiguous(tagged); f == tagFormat || f == sharedTagFormat {
			t.Error("a value without tags begins as one with tags")
		}
	}
	if f := codec.FingerprintOf("other"); Unambiguous(f) != f {
		t.Error("another fingerprint is not itself any more")
	}
}

// A tag is of its namespace.
func TestTagOf(t *testing.T) {
	seen := map[registry.ID][2]string{}
	for _, of := range [][2]string{{"n", "a"}, {"n", "b"}, {"m", "a"}, {"", "na"}, {"na", ""}, {"n\x00", "a"}, {"n", "\x00a"}, {strings.Repeat("n", 255), "a"}} {
		id := registry.TagOf(of[0], of[1])
		if other, ok := seen[id]; ok {
			t.Errorf("%q and %q are one tag", of, other)
		}
		seen[id] = of
	}
}

// What was invalidated since a load began is obsolete, whenever the load names its tags, and
// what was before is not.
func TestLate(t *testing.T) {
	tags := newTags(t)
	late := func(begun Begun, want bool, names ...string) {
		t.Helper()
		if got := tags.Hold(tags.at(begun, "n", names...)); got != want {
			t.Errorf("%s, for a load that began at %d: %v, want %v", names, begun, got, want)
		}
	}
	invalidate := func(name string) {
		if err := tags.Invalidate(context.Background(), "n", name); err != nil {
			t.Fatal(err)
		}
	}
	invalidate("a")
	begun := tags.Begun()
	late(begun, true, "a")
	invalidate("b") // nobody has used it
	late(begun, true, "a")
	late(begun, false, "b")
	late(tags.Begun(), true, "b")
	late(begun, false, "a", "b")
}

// A raw value that begins like a tagged one is not obsolete, and a tagged one is as long as its
// table is there.
func TestForgedHead(t *testing.T) {
	tags := newTags(t)
	tags.Use()
	head := tags.now("n", "a")
	obsolete := func(head []byte) bool { return tags.store.IsObsolete([]byte("key"), head) }
	forged := append(tagFormat.Append(nil), 1)
	forged = append(forged, make([]byte, registry.NoteLen(1))...)
	if obsolete(head) || obsolete(forged) {
		t.Error("something is obsolete before anything was invalidated")
	}
	for _, name := range []string{"a", "b", "c"} {
		_ = tags.Invalidate(context.Background(), "n", name)
	}
	other := newTags(t).now("n", "a")
	if !obsolete(head) || tags.Hold(head) {
		t.Error("a value holds of which the tag was invalidated")
	}
	if obsolete(forged) || obsolete(other) || obsolete(forged[:8]) || obsolete(nil) {
		t.Error("what no value of the cache begins with is obsolete")
	}
	if tags.Hold(other) {
		t.Error("the tag of a table that was lost holds")
	}
}

func TestCheckTags(t *testing.T) {
	for want, names := range map[string][]string{
		"too many tags: 17, want at most 16":          strings.Split(strings.Repeat("x ", 16)+"x", " "),
		`tag 1: "" has 0 bytes: want 1 to 255`:        {"a", ""},
		`tag 0: "nnnnnnnnnnnnnnnnnnnn" has 256 bytes`: {strings.Repeat("n", 256)},
	} {
		err := CheckTags(names)
		if err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, ErrTooManyTags) != (len(names) > MaxTags) {
			t.Errorf("%q: %v, want %s", names, err, want)
		}
	}
	if err := CheckTags([]string{"a", "b", "c", strings.Repeat("n", 255)}); err != nil {
		t.Error(err)
	}
}
