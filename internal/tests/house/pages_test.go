package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// optionTypes are the structs that docs/DEFAULTS.md has, with their directories.
var optionTypes = map[string]string{
	"firn.Options": ".", "firn.LoadingOptions": ".", "firn.SSDOptions": ".", "firn.TypedOptions": ".", "firn.SetOptions": ".",
	"remote.Options": "remote", "live.Options": "live", "httpcache.Options": "httpcache",
}

// docs/DEFAULTS.md has the fields of these structs, and no others.
func TestDefaultsAreAllFields(t *testing.T) {
	page := read(t, "docs/DEFAULTS.md")
	word := regexp.MustCompile("`(\\w+)`")
	for name, dir := range optionTypes {
		_, section, ok := strings.Cut(page, "\n## "+name+"\n")
		if !ok {
			t.Errorf("no section %s", name)
		}
		section, _, _ = strings.Cut(section, "\n## ")
		listed := map[string]bool{}
		for line := range strings.Lines(section) {
			if cell, _, ok := strings.Cut(strings.TrimPrefix(line, "| "), " |"); ok && strings.HasPrefix(line, "| ") {
				for _, m := range word.FindAllStringSubmatch(cell, -1) {
					listed[m[1]] = true
				}
			}
		}
		_, typ, _ := strings.Cut(name, ".")
		for _, field := range fieldsOf(t, dir, typ) {
			if !listed[field] {
				t.Errorf("%s.%s is not in docs/DEFAULTS.md", name, field)
			}
			delete(listed, field)
		}
		for field := range listed {
			t.Errorf("docs/DEFAULTS.md has %s.%s: there is no such field", name, field)
		}
	}
}

// fieldsOf are the exported fields of a struct.
func fieldsOf(t *testing.T, dir, typ string) (fields []string) {
	t.Helper()
	for _, file := range sources(t, dir) {
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || spec.Name.Name != typ {
				return true
			}
			for _, f := range spec.Type.(*ast.StructType).Fields.List {
				for _, id := range f.Names {
					fields = append(fields, id.Name)
				}
			}
			return false
		})
	}
	if len(fields) == 0 {
		t.Errorf("there is no %s in %s", typ, dir)
	}
	return fields
}

// packagesWithErrors are those whose exported errors are on the page.
var packagesWithErrors = []string{".", "remote", "config", "bufpool", "httpcache", "live", "codec", "firntest"}

// docs/ERRORS.md has every exported error.
func TestErrorsAreOnTheirPage(t *testing.T) {
	page := read(t, "docs/ERRORS.md")
	exported := regexp.MustCompile(`^(Err[A-Z]\w*|\w*Error)$`)
	for _, dir := range packagesWithErrors {
		for _, file := range sources(t, dir) {
			for name, object := range file.Scope.Objects {
				if full := file.Name.Name + "." + name; object.Kind != ast.Con && ast.IsExported(name) && exported.MatchString(name) && !strings.Contains(page, "`"+full+"`") {
					t.Errorf("%s is not in docs/ERRORS.md", full)
				}
			}
		}
	}
}

// Each message of docs/ERRORS.md is in the source, but for what "…" stands for.
func TestMessagesAreInTheSource(t *testing.T) {
	var source strings.Builder
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			source.WriteString(read(t, path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	message := regexp.MustCompile("`([^`]+)`")
	found := 0
	for line := range strings.Lines(read(t, "docs/ERRORS.md")) {
		cell, _, ok := strings.Cut(strings.TrimPrefix(line, "| "), " |")
		if !ok || !strings.HasPrefix(line, "| ") {
			continue
		}
		for _, m := range message.FindAllStringSubmatch(cell, -1) {
			if name := regexp.MustCompile(`^\w+\.\w+$`); name.MatchString(m[1]) {
				continue // an error's name, which the test of names in documents checks
			}
			for part := range strings.SplitSeq(m[1], "…") {
				found++
				if part = strings.TrimSpace(part); !strings.Contains(source.String(), part) {
					t.Errorf("no source has the message %q: %q", m[1], part)
				}
			}
		}
	}
	if found < 50 {
		t.Errorf("only %d messages were found", found)
	}
}

// sources are the files of a package, without tests.
func sources(t *testing.T, dir string) (files []*ast.File) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no sources in %s: %v", dir, err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
