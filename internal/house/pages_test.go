package house

import (
	"os"
	"path/filepath"
	"testing"
)

// The bytes of each document, of each table of measured results, and of each file of the
// live page.
func TestPages(t *testing.T) {
	today := table{}
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md", "docs/bench/*", "live/web/*"} {
		found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil || len(found) == 0 && pattern != "docs/*/*.md" {
			t.Fatalf("no files %s: %v", pattern, err)
		}
		for _, p := range found {
			info, err := os.Stat(p)
			if err != nil {
				t.Fatal(err)
			}
			p, err = filepath.Rel(root, p)
			if err != nil {
				t.Fatal(err)
			}
			today[filepath.ToSlash(p)] = []int{int(info.Size())}
		}
	}
	b := budget{name: "pages", columns: []column{{"bytes", true}}, enters: true}
	b.hold(t, today)
}
