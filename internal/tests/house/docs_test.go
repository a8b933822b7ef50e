// Package house tests the tree: imports, modules, documents. It runs in the root.
package house

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	root, err := filepath.Abs("../../..") // with a relative path go test would not see that files changed
	if err == nil {
		err = os.Chdir(root)
	}
	if err != nil {
		panic(err)
	}
	m.Run()
}

// Every test that docs/internals/TESTING.md names exists, in the package that its row names.
func TestFaultsAreTested(t *testing.T) {
	doc, err := os.ReadFile("docs/internals/TESTING.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := testsByName(t)
	word := regexp.MustCompile("(?:([a-z/]+): )?`((?:Test|Fuzz|Benchmark)\\w*)`")
	named := 0
	for line := range strings.Lines(string(doc)) {
		pkg := "" // any
		for _, m := range word.FindAllStringSubmatch(line, -1) {
			if m[1] != "" {
				pkg = m[1]
			}
			named++
			if dirs := tests[m[2]]; len(dirs) == 0 || pkg != "" && !slices.Contains(dirs, directoryOf(pkg)) {
				t.Errorf("there is no %s in %s; it is in %q", m[2], pkg, dirs)
			}
		}
	}
	if named == 0 {
		t.Error("no test is named")
	}
}

// directoryOf is where a package lies that docs/internals/TESTING.md names.
func directoryOf(pkg string) string {
	for _, dir := range []string{pkg, filepath.Join("stress", pkg)} {
		if _, err := os.Stat(dir); err == nil {
			return dir
		}
	}
	return filepath.Join("internal", pkg)
}

// testsByName are the directories of the functions for tests, in all modules.
func testsByName(t *testing.T) map[string][]string {
	t.Helper()
	dirs := map[string][]string{}
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w*)\(`)
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, f := range function.FindAllSubmatch(source, -1) {
			name := string(f[1])
			dirs[name] = append(dirs[name], filepath.Dir(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}

// Every link of a document leads to a file of the tree, and to a heading of it.
func TestLinksInDocuments(t *testing.T) {
	documents := pages(t)
	link := regexp.MustCompile(`\]\(([^)#\s]*)(#[^)\s]*)?\)`)
	fenced := regexp.MustCompile("(?ms)^```.*?^```") // f[T](x) is a call there
	for _, path := range append(documents, "README.md", "CHANGELOG.md", "CONTRIBUTING.md") {
		doc, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(fenced.ReplaceAllString(string(doc), ""), -1) {
			to := path
			if strings.Contains(m[1], "://") {
				continue
			}
			if m[1] != "" {
				to = filepath.Join(filepath.Dir(path), m[1])
			}
			if target, err := os.ReadFile(to); err != nil {
				if _, err := os.Stat(to); err != nil {
					t.Errorf("%s links %s: %v", path, m[1], err)
				}
			} else if m[2] != "" && !slices.Contains(anchors(string(target)), m[2]) {
				t.Errorf("%s links %s%s: there is no such heading", path, m[1], m[2])
			}
		}
	}
}

// pages are the documents, those for users and those for who changes the tree.
func pages(t *testing.T) []string {
	t.Helper()
	users, err := filepath.Glob("docs/*.md")
	internals, err2 := filepath.Glob("docs/internals/*.md")
	if err != nil || err2 != nil || len(users) == 0 || len(internals) == 0 {
		t.Fatalf("no documents: %v, %v", err, err2)
	}
	return append(users, internals...)
}

// anchors are what the headings of a page are linked by.
func anchors(page string) (all []string) {
	punctuation := regexp.MustCompile(`[^\w\- ]`)
	for line := range strings.Lines(page) {
		if title := strings.TrimLeft(line, "#"); title != line {
			title = punctuation.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
			all = append(all, "#"+strings.ReplaceAll(title, " ", "-"))
		}
	}
	return all
}

// The house that docs/internals/DESIGN.md draws has the rooms that there are: all directories
// with Go files, as entries or, below one, at least by their first directories.
func TestHouseInDesign(t *testing.T) {
	doc, err := os.ReadFile("docs/internals/DESIGN.md")
	if err != nil {
		t.Fatal(err)
	}
	drawn := house(string(doc))
	for dir := range drawn {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			t.Errorf("docs/internals/DESIGN.md draws %s: there is no such directory", dir)
		}
	}
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		dir := filepath.Dir(path)
		if err != nil || filepath.Ext(path) != ".go" || strings.HasPrefix(dir, ".") || strings.Contains(dir, "testdata") {
			return err
		}
		parent, text := filepath.Dir(dir), drawn[filepath.Dir(dir)]
		if _, ok := drawn[dir]; !ok && !strings.Contains(text, filepath.Base(dir)+"/") && !inModule(dir, drawn) {
			t.Errorf("docs/internals/DESIGN.md draws %s without %s", parent, filepath.Base(dir))
			drawn[dir] = ""
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// house are the directories of the drawing, with what is said of them.
func house(doc string) map[string]string {
	_, drawing, _ := strings.Cut(doc, "```\nfirn/")
	drawing, _, _ = strings.Cut(drawing, "```")
	rooms := map[string]string{}
	var path []string
	entry := regexp.MustCompile(`^( +)([\w/]+)/(?:\s+(.*))?$`)
	for line := range strings.Lines(drawing) {
		if m := entry.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			path = append(path[:len(m[1])/2-1], m[2])
			rooms[filepath.Join(path...)] = m[3]
		}
	}
	return rooms
}

// inModule reports whether a directory is below a drawn one that has, or is full
// of, modules of their own.
func inModule(dir string, drawn map[string]string) bool {
	for ; dir != "."; dir = filepath.Dir(dir) {
		if text, ok := drawn[dir]; ok {
			return strings.Contains(text, "own module")
		}
	}
	return false
}
