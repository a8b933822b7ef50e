package examples

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pagesWithPrograms are the pages whose Go a user copies.
var pagesWithPrograms = []string{"README.md", "docs/GETTING-STARTED.md", "docs/MIGRATION.md", "docs/OPERATIONS.md", "docs/SHARED.md"}

// Every block of Go in these pages compiles, as it stands there. This module requires all
// that they use.
func TestProgramsInPages(t *testing.T) {
	t.Parallel()
	for _, page := range pagesWithPrograms {
		text, err := os.ReadFile("../" + page)
		if err != nil {
			t.Fatal(err)
		}
		for i, block := range blocksOfGo(string(text)) {
			t.Run(fmt.Sprint(filepath.Base(page), i), func(t *testing.T) {
				t.Parallel()
				file := filepath.Join(t.TempDir(), "main.go")
				if err := os.WriteFile(file, []byte(program(t, block)), 0o600); err != nil {
					t.Fatal(err)
				}
				if out, err := exec.Command("go", "vet", file).CombinedOutput(); err != nil {
					t.Errorf("%v: %s\nof\n%s", err, out, block)
				}
			})
		}
	}
}

func blocksOfGo(page string) (blocks []string) {
	for _, m := range regexp.MustCompile("(?ms)^```go\n(.*?)^```").FindAllStringSubmatch(page, -1) {
		blocks = append(blocks, m[1])
	}
	return blocks
}

// program completes a block: with a function around statements, imports, and the
// variables that a page takes for known.
func program(t *testing.T, block string) string {
	t.Helper()
	if strings.HasPrefix(block, "package ") {
		return block
	}
	set := token.NewFileSet()
	body := block
	file, err := parser.ParseFile(set, "", "package main\n"+body, 0)
	if err != nil {
		body = "func example() error {\n" + block + "\n" + uses(t, block) + "\nreturn nil\n}\n"
		if file, err = parser.ParseFile(set, "", "package main\n"+body, 0); err != nil {
			t.Fatalf("%v in\n%s", err, block)
		}
	}
	var imports, known []string
	for _, name := range unresolved(file) {
		if path, ok := importPaths[name]; ok {
			imports = append(imports, fmt.Sprintf("import %s %q", name, path))
		} else if typ, ok := knownVariables[name]; ok {
			known = append(known, "var "+name+" "+typ)
			for _, pkg := range regexp.MustCompile(`(\w+)\.`).FindAllStringSubmatch(typ, -1) {
				imports = append(imports, fmt.Sprintf("import %s %q", pkg[1], importPaths[pkg[1]]))
			}
		}
	}
	slices.Sort(imports)
	head := append(slices.Compact(imports), known...)
	return "package main\n" + strings.Join(head, "\n") + "\nfunc main() {}\n" + body
}

// uses assigns each variable that the statements declare, as a program would use it.
func uses(t *testing.T, statements string) (text string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "", "package main\nfunc f() {\n"+statements+"\n}", 0)
	if err != nil {
		t.Fatalf("%v in\n%s", err, statements)
	}
	names := map[string]bool{}
	for _, s := range file.Decls[0].(*ast.FuncDecl).Body.List {
		if a, ok := s.(*ast.AssignStmt); ok && a.Tok == token.DEFINE {
			for _, v := range a.Lhs {
				names[v.(*ast.Ident).Name] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		text += "_ = " + name + "\n"
	}
	return text
}

func unresolved(file *ast.File) []string {
	names := map[string]bool{}
	for _, id := range file.Unresolved {
		names[id.Name] = true
	}
	return slices.Sorted(maps.Keys(names))
}

var importPaths = map[string]string{
	"config": "github.com/firncache/firn/config", "context": "context", "errors": "errors", "expvar": "expvar", "firn": "github.com/firncache/firn",
	"firnexpvar": "github.com/firncache/firn/metrics/firnexpvar", "firnprometheus": "github.com/firncache/firn/metrics/firnprometheus", "fmt": "fmt",
	"http": "net/http", "httpcache": "github.com/firncache/firn/httpcache", "live": "github.com/firncache/firn/live",
	"bigcache": "github.com/allegro/bigcache/v3", "ekocache": "github.com/eko/gocache/lib/v4/cache", "fastcache": "github.com/VictoriaMetrics/fastcache",
	"freecache": "github.com/coocood/freecache", "go_cache": "github.com/eko/gocache/store/go_cache/v4", "gocache": "github.com/patrickmn/go-cache",
	"groupcache": "github.com/golang/groupcache", "otter": "github.com/maypok86/otter/v2", "ristretto": "github.com/dgraph-io/ristretto/v2",
	"store":      "github.com/eko/gocache/lib/v4/store",
	"prometheus": "github.com/prometheus/client_golang/prometheus", "remote": "github.com/firncache/firn/remote", "sql": "database/sql", "time": "time",
}

// knownVariables are those that a page uses without declaring them.
var knownVariables = map[string]string{
	"cache": "*firn.Cache", "users": "*firn.Cache", "ctx": "context.Context", "mux": "*http.ServeMux",
	"names": "*firn.Typed[string, string]", "loadName": "func(context.Context, string) (string, error)",
}
