package house

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// borrowed lists, for each other module of the source, which packages below
// internal its programs and libraries may import, tests apart. What stands for a
// user of the cache has none.
var borrowed = map[string][]string{
	".ci/install":            nil,
	".ci/systems":            nil,
	"bench":                  {"aio", "policy/sim", "vfs", "workload"},
	"cmd/firn":               {"advice", "inside", "policy", "ram", "record", "ssd", "ssd/check", "vfs", "workload"},
	"codec":                  nil,
	"config":                 nil,
	"examples":               nil,
	"httpcache":              nil,
	"live/browsertest":       nil,
	"metrics/firnotel":       nil,
	"metrics/firnprometheus": nil,
	"metrics/grafana":        nil,
	"remote":                 {"clock", "enumtext", "flight", "loglines", "shared"},
	"stress":                 nil,
}

// workspace are the modules that a command sees which runs at the root.
var workspace = []string{".", "cmd/firn"}

func TestModules(t *testing.T) {
	found := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == "." || d.Name() != "go.mod" || filepath.Dir(path) == "." {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(path))
		found[dir] = true
		list, known := borrowed[dir]
		if !known {
			t.Errorf("module %s: name it in the table", dir)
		}
		if _, err := os.Stat(filepath.Join(dir, "go.work")); (err == nil) == slices.Contains(workspace, dir) {
			t.Errorf("module %s: expected its own go.work, or to be in the root's: %v", dir, err)
		}
		checkBorrowed(t, dir, list)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir := range borrowed {
		if !found[dir] {
			t.Errorf("module %s is in the table and not in the tree: take it out of the table", dir)
		}
	}
}

// checkBorrowed fails for imports of packages below internal that list has
// not and, in the command, of unsafe.
func checkBorrowed(t *testing.T, dir string, list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if local, ours := strings.CutPrefix(name, module+"/internal/"); ours && !slices.Contains(list, local) {
				t.Errorf("%s imports %s: module %s may import of those below internal %v", path, name, dir, list)
			}
			if name == "unsafe" && slices.Contains(workspace, dir) {
				t.Errorf("%s imports unsafe: the command needs none", path)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
