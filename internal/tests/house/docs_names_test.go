package house

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What the documents quote as code is in the tree: files and directories
// (internal/ram, set.go), names of packages and types (aio.Reader, shard.mu), and
// words in mixed capitals.
func TestNamesInDocuments(t *testing.T) {
	tree := readTree(t)
	documents := pages(t)
	checked := 0
	for _, path := range append(documents, "README.md", "CONTRIBUTING.md") {
		doc, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line, span := range codeSpans(string(doc)) {
			known, err := tree.check(span)
			if known {
				checked++
			}
			if err != nil {
				t.Errorf("%s:%d: `%s`: %v", path, line, span, err)
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d names were looked at", checked)
	}
}

// Names that do not exist are found.
func TestInventedNamesAreFound(t *testing.T) {
	tree := readTree(t)
	for _, span := range []string{
		"internal/ram/nothing.go", "nothing.go", "internal/nowhere", "ram.Nothing", "Tier.nothing", "nothing.mu", "NothingLikeThis", "Tier.Nothing()",
	} {
		if _, err := tree.check(span); err == nil {
			t.Errorf("%s passes", span)
		}
	}
	for _, span := range []string{
		"internal/ram", "internal/ram/get*.go", "docs_test.go", "firn.Cache", "Cache.Get", "*Cache", "shard.mu", "time.Now", "GetOrLoad", "Cache.Close()", "go test ./...", "-long",
	} {
		if _, err := tree.check(span); err != nil {
			t.Errorf("%s: %v", span, err)
		}
	}
}

// codeSpans yields what stands between backticks, outside of blocks of code, with
// the number of its line.
func codeSpans(doc string) func(yield func(line int, span string) bool) {
	span := regexp.MustCompile("`([^`]+)`")
	return func(yield func(int, string) bool) {
		line, block := 0, false
		for text := range strings.Lines(doc) {
			line++
			if strings.HasPrefix(strings.TrimSpace(text), "```") {
				block = !block
			}
			if block {
				continue
			}
			for _, m := range span.FindAllStringSubmatch(text, -1) {
				if !yield(line, m[1]) {
					return
				}
			}
		}
	}
}

// outside are packages and types of others that the documents name, and foreign
// words and files.
var (
	outside = []string{"bytes", "runtime", "slices", "sync", "testing", "time", "atomic", "tls"}
	foreign = []string{"FasterKvCache", "GetOrAdd", "RemoveIPC", "kern.bootsessionuuid", "snapshot.new"}
)

// declared is what the sources of all modules declare.
type declared struct {
	top     []string                   // the directories where paths begin
	files   map[string]bool            // base names of files
	decls   map[string]map[string]bool // of a package, by its name
	members map[string]map[string]bool // fields and methods of a type, by its name
	embeds  map[string][]string        // types whose members are also those of a type
	words   map[string]bool            // all identifiers
}

var (
	pathLike   = regexp.MustCompile(`^[\w.*-]+(/[\w.*-]+)+/?$`)
	fileLike   = regexp.MustCompile(`^[\w*]+\.(go|s)$`)
	dotted     = regexp.MustCompile(`^([A-Za-z_]\w*)\.([A-Za-z_]\w*)$`)
	mixedCaps  = regexp.MustCompile(`^[A-Za-z]*([a-z][A-Z]|[A-Z][a-z])[A-Za-z0-9]*$`)
	ornamental = strings.NewReplacer("()", "", "*", "")
)

// check reports whether the span is a name, and what is wrong with it.
func (s *declared) check(span string) (isName bool, err error) {
	switch {
	case slices.Contains(foreign, span):
		return false, nil
	case pathLike.MatchString(span):
		if first, _, _ := strings.Cut(span, "/"); !slices.Contains(s.top, first) {
			return false, nil
		}
		if found, _ := filepath.Glob(span); len(found) == 0 {
			return true, errors.New("there is no such file or directory")
		}
		return true, nil
	case fileLike.MatchString(span):
		if !s.files[span] {
			return true, errors.New("there is no such file")
		}
		return true, nil
	}
	name := ornamental.Replace(span)
	if m := dotted.FindStringSubmatch(name); m != nil {
		return true, s.checkMember(m[1], m[2])
	}
	if mixedCaps.MatchString(name) && !s.words[name] {
		return true, errors.New("no source has this word")
	}
	return mixedCaps.MatchString(name), nil
}

// checkMember looks for a declaration of a package, or a member of a type.
func (s *declared) checkMember(of, name string) error {
	decls, isPackage := s.decls[of]
	_, isType := s.members[of]
	switch {
	case slices.Contains(outside, of), decls[name], s.has(of, name, nil):
		return nil
	case isPackage && !isType:
		return fmt.Errorf("package %s declares no %s", of, name)
	case isType:
		return fmt.Errorf("%s has no field or method %s", of, name)
	default:
		return fmt.Errorf("there is no package or type %s", of)
	}
}

// has reports whether a type has a member, of its own or of what it embeds.
func (s *declared) has(typ, name string, seen []string) bool {
	if s.members[typ][name] {
		return true
	}
	if slices.Contains(seen, typ) {
		return false
	}
	return slices.ContainsFunc(s.embeds[typ], func(e string) bool { return s.has(e, name, append(seen, typ)) })
}

func readTree(t *testing.T) *declared {
	t.Helper()
	s := &declared{
		files: map[string]bool{}, decls: map[string]map[string]bool{}, members: map[string]map[string]bool{},
		embeds: map[string][]string{}, words: map[string]bool{},
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && e.Name() != ".git" {
			s.top = append(s.top, e.Name())
		}
	}
	set := token.NewFileSet()
	err = filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		s.files[filepath.Base(path)] = true
		if filepath.Ext(path) != ".go" || strings.Contains(path, "testdata") {
			return nil
		}
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err == nil {
			s.add(file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// add notes what a file declares.
func (s *declared) add(file *ast.File) {
	pkg := strings.TrimSuffix(file.Name.Name, "_test")
	ast.Inspect(file, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			s.words[id.Name] = true
		}
		return true
	})
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				put(s.decls, pkg, d.Name.Name)
			} else {
				put(s.members, baseName(d.Recv.List[0].Type), d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				s.addSpec(pkg, spec)
			}
		}
	}
}

func (s *declared) addSpec(pkg string, spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		for _, id := range spec.Names {
			put(s.decls, pkg, id.Name)
		}
	case *ast.TypeSpec:
		name := spec.Name.Name
		put(s.decls, pkg, name)
		put(s.members, name, "")
		if base := baseName(spec.Type); base != "" {
			s.embeds[name] = append(s.embeds[name], base)
		}
		ast.Inspect(spec.Type, func(n ast.Node) bool {
			if f, ok := n.(*ast.Field); ok {
				for _, id := range f.Names {
					put(s.members, name, id.Name)
				}
				if base := baseName(f.Type); f.Names == nil && base != "" {
					put(s.members, name, base)
					s.embeds[name] = append(s.embeds[name], base)
				}
			}
			return true
		})
	}
}

func put(sets map[string]map[string]bool, key, name string) {
	if sets[key] == nil {
		sets[key] = map[string]bool{}
	}
	sets[key][name] = true
}

// baseName is the name of a type, without its package, pointer and parameters.
func baseName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.StarExpr:
		return baseName(e.X)
	case *ast.IndexExpr:
		return baseName(e.X)
	case *ast.IndexListExpr:
		return baseName(e.X)
	}
	return ""
}
