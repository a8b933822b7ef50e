package house

import (
	"go/ast"
	"go/build"
	"go/token"
	"go/types"
	"io"
	"path"
	"slices"
	"strings"
	"testing"
)

// matches reports whether the go command builds the file for a system, without tags.
func (f *file) matches(goos, goarch string) bool {
	c := build.Context{
		GOOS: goos, GOARCH: goarch, Compiler: "gc", ReleaseTags: build.Default.ReleaseTags,
		OpenFile: func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(f.text)), nil },
	}
	ok, err := c.MatchFile(f.dir(), f.name())
	return ok && err == nil
}

// uses maps each of the files that are built on Linux to the others that declare what it
// uses: types, functions, methods, fields, variables and constants.
//
// The package is checked alone: what it imports is empty, and the errors that this makes
// are ignored. Names of the package itself are resolved all the same.
func uses(files []*file) map[*file][]*file {
	var parsed []*ast.File
	byPath := map[string]*file{}
	for _, f := range files {
		if f.matches("linux", "amd64") {
			parsed = append(parsed, f.ast)
			byPath[f.path] = f
		}
	}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: emptyPackages{}, Error: func(error) {}, FakeImportC: true}
	pkg, _ := config.Check("p", positions, parsed, &info)
	graph := map[*file][]*file{}
	for _, f := range byPath {
		graph[f] = nil
	}
	for name, object := range info.Uses {
		user, owner := byPath[pathOf(name.Pos())], byPath[pathOf(object.Pos())]
		if object.Pkg() == pkg && owner != nil && owner != user && !slices.Contains(graph[user], owner) {
			graph[user] = append(graph[user], owner)
		}
	}
	return graph
}

func pathOf(pos token.Pos) string {
	if !pos.IsValid() {
		return ""
	}
	return positions.File(pos).Name()
}

// emptyPackages imports every package as one that declares nothing.
type emptyPackages struct{}

func (emptyPackages) Import(name string) (*types.Package, error) {
	p := types.NewPackage(name, path.Base(name))
	p.MarkComplete()
	return p, nil
}

// knot is the largest group of files that all use each other, directly or through others,
// sorted by name. A file alone is no knot.
func knot(graph map[*file][]*file) []*file {
	reaches := map[*file]map[*file]bool{}
	for f := range graph {
		reaches[f] = reachable(graph, f)
	}
	var largest []*file
	for f := range graph {
		var group []*file
		for other := range reaches[f] {
			if reaches[other][f] {
				group = append(group, other)
			}
		}
		if len(group) > len(largest) {
			largest = group
		}
	}
	slices.SortFunc(largest, func(a, b *file) int { return strings.Compare(a.path, b.path) })
	return largest
}

// reachable is all that a file uses, directly or through others.
func reachable(graph map[*file][]*file, from *file) map[*file]bool {
	seen := map[*file]bool{}
	for next := slices.Clone(graph[from]); len(next) > 0; {
		f := next[len(next)-1]
		next = next[:len(next)-1]
		if !seen[f] {
			seen[f] = true
			next = append(next, graph[f]...)
		}
	}
	return seen
}

func TestKnot(t *testing.T) {
	var files []*file
	for name, text := range map[string]string{
		"a.go":         "type A struct{ n int }\nfunc (a *A) M() { b() }",
		"b.go":         "func b() { c.N = 1 }",
		"c.go":         "import \"x\"\nvar c = struct{ N int }{x.Y}\nvar a A\nfunc d() { a.M() }",
		"d.go":         "func e() { d(); b() }",
		"a_windows.go": "func f() { e() }",
		"b_linux.go":   "func f() {}",
	} {
		f, err := parseText("p/"+name, "package p\n"+text)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	if got := strings.Join(names(knot(uses(files))), " "); got != "a.go b.go c.go" {
		t.Errorf("knot: %s, want a.go b.go c.go", got)
	}
}

// names are those of files, without their directories.
func names(files []*file) (all []string) {
	for _, f := range files {
		all = append(all, f.name())
	}
	return all
}
