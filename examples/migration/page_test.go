package migration

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/VictoriaMetrics/fastcache"
	"github.com/Yiling-J/theine-go"
	"github.com/allegro/bigcache/v3"
	"github.com/coocood/freecache"
	"github.com/dgraph-io/ristretto/v2"
	ekocache "github.com/eko/gocache/lib/v4/cache"
	"github.com/golang/groupcache"
	"github.com/hashicorp/golang-lru/v2"
	"github.com/maypok86/otter/v2"
	"github.com/patrickmn/go-cache"
)

// sections are those of the page, with the file that they link, the functions that
// it has and the type whose methods the first has to use.
var sections = []struct {
	name, file string
	from, to   string
	covers     reflect.Type
}{
	{"fastcache", "fastcache.go", "usingFastcache", "insteadOfFastcache", reflect.TypeFor[*fastcache.Cache]()},
	{"bigcache", "bigcache.go", "usingBigcache", "insteadOfBigcache", reflect.TypeFor[*bigcache.BigCache]()},
	{"ristretto", "ristretto.go", "usingRistretto", "insteadOfRistretto", reflect.TypeFor[*ristretto.Cache[string, Book]]()},
	{"otter", "otter.go", "usingOtter", "insteadOfOtter", reflect.TypeFor[*otter.Cache[string, Book]]()},
	{"golang-lru", "golanglru.go", "usingGolangLRU", "insteadOfGolangLRU", reflect.TypeFor[*lru.Cache[string, Book]]()},
	{"freecache", "freecache.go", "usingFreecache", "insteadOfFreecache", reflect.TypeFor[*freecache.Cache]()},
	{"theine", "theine.go", "usingTheine", "insteadOfTheine", reflect.TypeFor[*theine.Cache[string, Book]]()},
	{"groupcache", "groupcache.go", "usingGroupcache", "insteadOfGroupcache", reflect.TypeFor[*groupcache.Group]()},
	{"go-cache", "gocache.go", "usingGoCache", "insteadOfGoCache", reflect.TypeFor[*cache.Cache]()},
	{"gocache", "ekogocache.go", "usingEkoGocache", "insteadOfEkoGocache", reflect.TypeFor[*ekocache.Cache[Book]]()},
	{"FasterKvCache", "fasterkv.go", "", "insteadOfFasterKvCache", nil},
}

// families are methods that come in one variant for each type.
var families = regexp.MustCompile(`^(Increment|Decrement)`)

// The page has a section for each file, and each file uses every method that a
// program may come with.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/MIGRATION.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sections {
		code := functions(t, s.file)
		if !strings.Contains(string(page), "\n## "+s.name+"\n\n["+s.file+"](../examples/migration/"+s.file+")") {
			t.Errorf("docs/MIGRATION.md: no section %s that begins with a link to %s", s.name, s.file)
		}
		if code[s.to] == "" {
			t.Errorf("%s: no function %s", s.file, s.to)
		}
		for name := range methods(s.covers) {
			if !strings.Contains(code[s.from], "."+name) {
				t.Errorf("%s: no call of the method %s", s.file, name)
			}
		}
	}
}

// The page links every adapter, and no other file.
func TestAdaptersAreOnThePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/MIGRATION.md")
	if err != nil {
		t.Fatal(err)
	}
	var linked, files []string
	for _, m := range regexp.MustCompile(`\(\.\./examples/migration/adapters/(\w+\.go)\)`).FindAllStringSubmatch(string(page), -1) {
		linked = append(linked, m[1])
	}
	entries, err := os.ReadDir("adapters")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := e.Name(); name != "doc.go" && !strings.HasSuffix(name, "_test.go") {
			files = append(files, name)
		}
	}
	slices.Sort(linked)
	if !slices.Equal(linked, files) {
		t.Errorf("docs/MIGRATION.md links the adapters %q, want %q", linked, files)
	}
}

// functions are the sources of a file's functions, by name.
func functions(t *testing.T, path string) map[string]string {
	t.Helper()
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, source, 0)
	if err != nil {
		t.Fatal(err)
	}
	code := map[string]string{}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			code[f.Name.Name] = string(source[set.Position(f.Pos()).Offset:set.Position(f.End()).Offset])
		}
	}
	return code
}

// methods are the names that a type has for its callers, one for each family.
func methods(t reflect.Type) map[string]bool {
	names := map[string]bool{}
	if t == nil {
		return names
	}
	for i := range t.NumMethod() {
		name := t.Method(i).Name
		if family := families.FindString(name); family != "" {
			name = family
		}
		names[name] = true
	}
	return names
}
