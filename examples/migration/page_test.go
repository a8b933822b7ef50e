package migration

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/VictoriaMetrics/fastcache"
	"github.com/allegro/bigcache/v3"
	"github.com/dgraph-io/ristretto/v2"
	"github.com/patrickmn/go-cache"
)

// sections are those of the page, with the functions that they quote and the
// type whose methods they have to cover.
var sections = []struct {
	name     string
	from, to string // to may be several
	covers   reflect.Type
}{
	{"fastcache", "usingFastcache", "insteadOfFastcache insteadOfSaving", reflect.TypeFor[*fastcache.Cache]()},
	{"bigcache", "usingBigcache", "insteadOfBigcache", reflect.TypeFor[*bigcache.BigCache]()},
	{"ristretto", "usingRistretto", "insteadOfRistretto", reflect.TypeFor[*ristretto.Cache[string, Book]]()},
	{"go-cache", "usingGoCache", "insteadOfGoCache insteadOfSaving", reflect.TypeFor[*cache.Cache]()},
	{"FasterKvCache", "", "insteadOfFasterKvCache insteadOfSaving", nil},
}

// elsewhere are quotations that stand in other programs.
var elsewhere = map[string]string{`caches.Open("sessions")`: "../../config/doc.go"}

// families are methods that come in one variant for each type.
var families = regexp.MustCompile(`^(Increment|Decrement)`)

// The page quotes code that is here, and names every method that a program may
// come with.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/MIGRATION.md")
	if err != nil {
		t.Fatal(err)
	}
	code := functions(t)
	for _, s := range sections {
		from, to := columns(t, string(page), s.name)
		if s.from != "" {
			quoted(t, s.name, from, code[s.from])
		}
		var ours string
		for name := range strings.FieldsSeq(s.to) {
			ours += code[name]
		}
		quoted(t, s.name, to, ours)
		for name := range methods(s.covers) {
			if all := strings.Join(from, "\n"); !strings.Contains(all, "."+name) {
				t.Errorf("%s: no line for the method %s", s.name, name)
			}
		}
	}
}

// functions are the sources of this package's functions, by name.
func functions(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	code := map[string]string{}
	for _, path := range files {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, source, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				code[f.Name.Name] = string(source[set.Position(f.Pos()).Offset:set.Position(f.End()).Offset])
			}
		}
	}
	return code
}

// columns are the code of a section's table: of its first column, and of its
// second.
func columns(t *testing.T, page, section string) (from, to []string) {
	t.Helper()
	_, text, ok := strings.Cut(page, "\n## "+section+"\n")
	if !ok {
		t.Fatalf("no section %s", section)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	span := regexp.MustCompile("`([^`]+)`")
	rows := 0
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		rows++
		if len(cells) < 2 {
			t.Fatalf("%s: %s: want three cells", section, line)
		}
		for _, m := range span.FindAllStringSubmatch(cells[0], -1) {
			from = append(from, m[1])
		}
		spans := span.FindAllStringSubmatch(cells[1], -1)
		if len(spans) == 0 && cells[1] != "none" {
			t.Errorf("%s: %q: want code, or none", section, cells[1])
		}
		for _, m := range spans {
			to = append(to, m[1])
		}
	}
	if rows < 5 {
		t.Errorf("%s: %d rows", section, rows)
	}
	return from, to
}

// quoted checks that each span stands in the code.
func quoted(t *testing.T, section string, spans []string, code string) {
	t.Helper()
	if code == "" {
		t.Fatalf("%s: the function that it quotes is gone", section)
	}
	for _, span := range spans {
		if path, ok := elsewhere[span]; ok {
			other, err := os.ReadFile(path)
			if err != nil || !strings.Contains(string(other), span) {
				t.Errorf("%s: %s is not in %s: %v", section, span, path, err)
			}
		} else if !strings.Contains(spaced(code), spaced(span)) {
			t.Errorf("%s: `%s` is not in the code it quotes", section, span)
		}
	}
}

// spaced is code without gofmt's alignment.
func spaced(code string) string { return strings.Join(strings.Fields(code), " ") }

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
