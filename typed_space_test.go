package firn_test

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/firncache/firn"
)

// restart is a cache that holds what another held, as after a restart with a
// tier that persists, but for the entries that lose says to leave out.
func restart(t *testing.T, from *firn.Cache, lose func(key []byte) bool) *firn.Cache {
	t.Helper()
	to := openSmall(t)
	for k, v := range from.All() {
		if lose != nil && lose(k) {
			continue
		}
		if err := to.Set(k, v); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

func isRecord(key []byte) bool { return strings.HasPrefix(string(key), firn.RecordPrefix) }

func TestNamespaceSurvives(t *testing.T) {
	opts := firn.TypedOptions[string, string]{}
	first := openSmall(t)
	typed := newTyped(t, first, "n", opts)
	typed.Set("before", "value")
	second := restart(t, first, nil)
	typed = newTyped(t, second, "n", opts)
	if v, ok := typed.Get("before"); !ok || v != "value" {
		t.Errorf("after a restart: %q, %v", v, ok)
	}
	typed.Clear()
	typed.Set("after", "value")
	third := restart(t, second, nil)
	typed = newTyped(t, third, "n", opts)
	if typed.Has("before") || !typed.Has("after") {
		t.Errorf("after Clear and a restart: before %v, after %v", typed.Has("before"), typed.Has("after"))
	}
	if third.Len() != 3 { // both values and the record
		t.Errorf("%d entries, want the cleared one among 3: the test shows nothing", third.Len())
	}
}

// Whoever finds no record of the generation, or none that can be read, begins a new
// one: what was cleared does not come back.
func TestNamespaceLostRecord(t *testing.T) {
	opts := firn.TypedOptions[string, string]{}
	for name, damage := range map[string]func(c *firn.Cache){
		"lost":      func(c *firn.Cache) {},
		"too short": func(c *firn.Cache) { c.Set([]byte(firn.RecordPrefix+"typed n"), []byte("1234567")) },
		"too long":  func(c *firn.Cache) { c.Set([]byte(firn.RecordPrefix+"typed n"), []byte("123456789")) },
	} {
		first := openSmall(t)
		typed := newTyped(t, first, "n", opts)
		typed.Set("cleared", "value")
		typed.Clear()
		typed.Set("lost with the record", "value")
		second := restart(t, first, isRecord)
		damage(second)
		typed = newTyped(t, second, "n", opts)
		for _, key := range []string{"cleared", "lost with the record"} {
			if typed.Has(key) {
				t.Errorf("%s: %q is found after its generation was lost", name, key)
			}
		}
		typed.Set("new", "value")
		if again := newTyped(t, restart(t, second, nil), "n", opts); !again.Has("new") || again.Has("cleared") {
			t.Errorf("%s: after another restart: new %v, cleared %v", name, again.Has("new"), again.Has("cleared"))
		}
	}
}

// A record that was evicted is written again, with the generation in use.
func TestNamespaceRecordIsKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := openSmall(t)
		typed := newTyped(t, c, "n", firn.TypedOptions[int, int]{})
		typed.Set(1, 1)
		record := []byte(firn.RecordPrefix + "typed n")
		before, ok := c.Get(nil, record)
		if !ok {
			t.Fatal("no record")
		}
		c.Delete(record)
		for range 30_000 {
			typed.Get(1)
		}
		synctest.Wait() // a goroutine writes it
		if after, ok := c.Get(nil, record); !ok || !bytes.Equal(before, after) {
			t.Errorf("the record is %x, %v, want %x", after, ok, before)
		}
	})
}

// Clear of the whole cache takes the record too; the namespace goes on.
func TestNamespaceAfterCacheClear(t *testing.T) {
	c := openSmall(t)
	typed := newTyped(t, c, "n", firn.TypedOptions[int, int]{})
	typed.Set(1, 1)
	if err := c.Clear(); err != nil {
		t.Fatal(err)
	}
	if typed.Has(1) {
		t.Error("Cache.Clear left a typed value")
	}
	typed.Set(2, 2)
	if again := newTyped(t, c, "n", firn.TypedOptions[int, int]{}); !again.Has(2) {
		t.Error("another typed cache of the namespace does not find what was set after Cache.Clear")
	}
}
