package migration

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
)

// seen runs one side, and returns what it noted.
func seen(t *testing.T, run func(noter) error) []string {
	t.Helper()
	var notes []string
	err := run(func(what string, seen ...any) { notes = append(notes, what+": "+fmt.Sprintln(seen...)) })
	if err != nil {
		t.Fatal(err)
	}
	return notes
}

// Both sides see the same. What firn has no call for is only seen by the other.
func TestBothSides(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name      string
		from, to  func(noter) error
		onlyTheir []string
	}{
		{"fastcache", func(n noter) error { return usingFastcache(n, filepath.Join(dir, "fastcache")) }, func(n noter) error { return insteadOfFastcache(n, filepath.Join(dir, "firn")) }, nil},
		{"bigcache", usingBigcache, insteadOfBigcache, nil},
		{"ristretto", usingRistretto, insteadOfRistretto, nil},
		{"otter", usingOtter, insteadOfOtter, []string{"order of use: 4 4\n", "weight: false 0\n", "less room: 50000\n"}},
		{"golang-lru", usingGolangLRU, insteadOfGolangLRU, []string{"oldest: b1 true\n", "oldest deleted: b2 true\n", "smaller: 0\n"}},
		{"freecache", usingFreecache, insteadOfFreecache, []string{"counters: true 0 0 true 1 true\n"}},
		{"theine", usingTheine, insteadOfTheine, []string{"cost: 2\n"}},
		{"groupcache", usingGroupcache, insteadOfGroupcache, []string{"known: true\n"}},
		{"go-cache", func(n noter) error { return usingGoCache(n, filepath.Join(dir, "gocache")) }, insteadOfGoCache,
			[]string{"items: 3\n", "count: 3\n"}},
		{"gocache", usingEkoGocache, insteadOfEkoGocache, []string{"type: cache\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			from, to := seen(t, c.from), seen(t, c.to)
			for _, note := range c.onlyTheir {
				i := slices.Index(from, note)
				if i < 0 {
					t.Fatalf("%q was not seen", note)
				}
				from = slices.Delete(from, i, i+1)
			}
			slices.Sort(from) // iterations have no order
			slices.Sort(to)
			if !slices.Equal(from, to) {
				t.Errorf("with %s:\n%q\nwith firn:\n%q", c.name, from, to)
			}
		})
	}
}

func TestInsteadOfFasterKvCache(t *testing.T) {
	want := []string{
		"get: {Firn 64} true\n", "get async: {Firn 64} <nil>\n", "miss: true\n", "deleted: false\n",
		"get of any type: 64 true\n", "get of any type, async: Firn <nil>\n", "get or add: {Snow 8} <nil>\n",
	}
	if got := seen(t, insteadOfFasterKvCache); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
