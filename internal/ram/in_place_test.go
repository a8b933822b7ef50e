package ram

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/watch"
)

// inPlaceCase is a key in a tier, before a change in place.
type inPlaceCase struct {
	name     string
	begin    func(t *Tier, key []byte)
	add      bool // whether Add and Swap find the number 7
	ifAbsent bool // whether SetIfAbsent finds nothing
}

func number(n int64) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(n)) }

// What a key has decides whether it is changed at once. Nothing else is done.
func TestInPlace(t *testing.T) {
	t.Parallel()
	set := func(value []byte, deadline int64) func(*Tier, []byte) {
		return func(t *Tier, key []byte) { t.setKey(key, value, deadline) }
	}
	for _, x := range []inPlaceCase{
		{"absent", func(*Tier, []byte) {}, false, true},
		{"a number", set(number(7), 0), true, false},
		{"one with a deadline", set(number(7), 2000), true, false},
		{"an expired one", set(number(7), 900), false, false},
		{"a negative entry", set(number(7), -2000), false, false},
		{"a longer value", set(make([]byte, 9), 0), false, false},
		{"a long value", set(make([]byte, 3000), 0), false, false},
		{"a deleted one", func(t *Tier, key []byte) { t.setKey(key, number(7), 0); t.deleteKey(key) }, false, true},
		{"one that is below", func(t *Tier, key []byte) { t.setKey(key, number(7), 0); evictAll(t) }, false, false},
		{"one that is here and below", func(t *Tier, key []byte) { t.setKey(key, number(7), 0); t.DemoteCopy(t.Hash(key), key) }, true, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			for name, change := range map[string]func(t *Tier, key []byte) (done, want bool, value []byte){
				"Add": func(t *Tier, key []byte) (bool, bool, []byte) {
					a := Addition{Size: 8, Signed: true, Delta: 5}
					return t.Add(t.Hash(key), key, &a), x.add, number(12)
				},
				"Swap": func(t *Tier, key []byte) (bool, bool, []byte) {
					return t.Swap(t.Hash(key), key, number(7), number(9)), x.add, number(9)
				},
				"SetIfAbsent": func(t *Tier, key []byte) (bool, bool, []byte) {
					return t.SetIfAbsent(t.Hash(key), key, number(1), 0), x.ifAbsent, number(1)
				},
			} {
				testInPlace(t, name, x.begin, change)
			}
		})
	}
}

func testInPlace(t *testing.T, name string, begin func(*Tier, []byte), change func(t *Tier, key []byte) (done, want bool, value []byte)) {
	below, replaced := newLower(), 0
	tier, err := New(Config{Bytes: MinBytes, Seed: 1, Now: func() int64 { return 1000 }, Lower: below, OnEvict: func(_, value []byte, cause evicted.Cause) {
		if cause == evicted.Replaced {
			replaced++
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer tier.Free()
	key := []byte("key")
	if err := tier.setKey([]byte("other"), nil, 0); err != nil { // there is a segment to write to
		t.Fatal(err)
	}
	begin(tier, key)
	replaced = 0
	before, beforeDeadline, was := tier.peekStaleKey(nil, key)
	var w watch.Watch
	tier.watchKey(&w, key)
	defer func() {
		if !w.Voided() {
			tier.Unwatch(&w)
		}
	}()
	done, want, value := change(tier, key)
	if done != want || w.Voided() != done {
		t.Errorf("%s: done %v, want %v; the watch is void: %v", name, done, want, w.Voided())
	}
	got, deadline, ok := tier.peekStaleKey(nil, key)
	switch {
	case done && (string(got) != string(value) || deadline != beforeDeadline):
		t.Errorf("%s: %q until %d, want %q until %d", name, got, deadline, value, beforeDeadline)
	case !done && (string(got) != string(before) || deadline != beforeDeadline || ok != was):
		t.Errorf("%s: %q until %d, %v: want it as it was", name, got, deadline, ok)
	case done && below.held[tier.Hash(key)] != nil:
		t.Errorf("%s: the lower tier has a copy still", name)
	case done && replaced != map[bool]int{true: 1}[was]:
		t.Errorf("%s: OnEvict was called %d times", name, replaced)
	}
	if err := tier.Check(); err != nil {
		t.Error(err)
	}
}

// A deadline that a read is to move is left to the slow way, which reads.
func TestInPlaceBesideSliding(t *testing.T) {
	t.Parallel()
	tier, err := New(Config{Bytes: MinBytes, Seed: 1, Now: func() int64 { return 1000 }, Slide: 1000})
	if err != nil {
		t.Fatal(err)
	}
	defer tier.Free()
	key := []byte("key")
	if err := tier.setKey(key, number(7), 2000); err != nil {
		t.Fatal(err)
	}
	if tier.Add(tier.Hash(key), key, &Addition{Size: 8}) || tier.Swap(tier.Hash(key), key, number(7), number(8)) {
		t.Error("it was changed, and its deadline not moved")
	}
}

// A sum that its number cannot hold is none.
func TestAddition(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		size         int
		signed       bool
		n, delta, to int64
		ok           bool
	}{
		{8, true, 1, -3, -2, true}, {8, true, math.MaxInt64, 1, 0, false}, {8, true, math.MinInt64, -1, 0, false}, {8, true, math.MinInt64, math.MaxInt64, -1, true},
		{1, true, 127, 1, 0, false}, {1, true, 126, 1, 127, true}, {1, true, -128, -1, 0, false}, {1, true, -1, 1, 0, true},
		{1, false, 255, 1, 0, false}, {1, false, 200, 55, 255, true}, {2, false, 65535, 1, 0, false}, {4, false, 1, 2, 3, true},
		{8, false, -1, 1, 0, false}, {8, false, -2, 1, -1, true}, {8, false, 5, -1, 0, false}, {4, true, math.MaxInt32, 0, math.MaxInt32, true},
	} {
		value := append([]byte("head"), number(x.n)[:x.size]...)
		a := Addition{Head: []byte("head"), Size: x.size, Signed: x.signed, Delta: uint64(x.delta)}
		ok := a.apply(value)
		if ok != x.ok || ok && (int64(a.Sum) != x.to || string(value) != fmt.Sprintf("head%s", number(x.to)[:x.size])) {
			t.Errorf("%+v: %v, sum %d, %q", x, ok, int64(a.Sum), value)
		}
	}
	if a := (Addition{Head: []byte("daeh"), Size: 8}); a.apply([]byte("head12345678")) {
		t.Error("another head is one's own")
	}
}
