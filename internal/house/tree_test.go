package house

import (
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// root is the directory of the repository.
const root = "../.."

// tools are the directories of what is around the product. Of all budgets only those of
// tests hold there.
var tools = []string{".ci", "bench", "examples", "live/browsertest", "remote/stress", "stress"}

// file is a parsed source.
type file struct {
	path string // below the root, with slashes
	text string
	ast  *ast.File
}

func (f *file) dir() string  { return path.Dir(f.path) }
func (f *file) name() string { return path.Base(f.path) }
func (f *file) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }
func (f *file) lines() int   { return strings.Count(f.text, "\n") }

// inTool reports whether the file belongs to a tool.
func (f *file) inTool() bool {
	return slices.ContainsFunc(tools, func(tool string) bool { return strings.HasPrefix(f.path, tool+"/") })
}

// isProduct reports whether the file is part of a room, and no test.
func (f *file) isProduct() bool { return !f.isTest() && !f.inTool() }

// isConstrained reports whether the file is built for some systems or tags alone.
func (f *file) isConstrained() bool {
	return !f.matches("any", "any") || slices.ContainsFunc(strings.Split(f.text, "\n"), constraint.IsGoBuild)
}

// positions are those of all files.
var positions = token.NewFileSet()

// sources parses all Go files of the repository, sorted by their paths. All tests share
// the result.
var sources = sync.OnceValues(func() ([]*file, error) {
	paths, err := goFiles()
	if err != nil {
		return nil, err
	}
	files, errs := make([]*file, len(paths)), make([]error, len(paths))
	const workers = 4
	var wait sync.WaitGroup
	for first := range workers {
		wait.Go(func() {
			for i := first; i < len(paths); i += workers {
				files[i], errs[i] = parse(paths[i])
			}
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return files, nil
})

// goFiles lists the Go files below the root, sorted.
func goFiles() (paths []string, err error) {
	err = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(p) != ".go":
			return nil
		}
		p, err = filepath.Rel(root, p)
		paths = append(paths, filepath.ToSlash(p))
		return err
	})
	return paths, err
}

func parse(p string) (*file, error) {
	text, err := os.ReadFile(filepath.Join(root, p))
	if err != nil {
		return nil, err
	}
	return parseText(p, string(text))
}

func parseText(p, text string) (*file, error) {
	parsed, err := parser.ParseFile(positions, p, text, parser.ParseComments|parser.SkipObjectResolution)
	return &file{path: p, text: text, ast: parsed}, err
}

// allFiles are the files of all modules, tests and tools included.
func allFiles(t *testing.T) []*file {
	t.Helper()
	files, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// room is the product files of one package.
type room struct {
	dir   string
	files []*file
}

// allRooms are the rooms, sorted by their directories.
func allRooms(t *testing.T) []room {
	t.Helper()
	byDir := map[string][]*file{}
	for _, f := range allFiles(t) {
		if f.isProduct() {
			byDir[f.dir()] = append(byDir[f.dir()], f)
		}
	}
	var rooms []room
	for _, dir := range slices.Sorted(maps.Keys(byDir)) {
		rooms = append(rooms, room{dir, byDir[dir]})
	}
	return rooms
}
