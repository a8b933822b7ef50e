package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// write makes files below a directory.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// sourceTree makes a source of all published modules, in which every other one
// requires that at the root and replaces it by its directory.
func sourceTree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{".git/HEAD": "", "bench/go.mod": "module x\n", "cache.go": "package firn\n"}
	for _, name := range published {
		text := "module " + modulePath(name) + "\n\ngo 1.26.0\n"
		if name != "." {
			text += "\nrequire (\n\tgithub.com/firncache/firn v0.0.0\n\texample.com/other v1.2.3\n)\n\nreplace github.com/firncache/firn => ../\n"
		}
		files[filepath.Join(name, "go.mod")] = text
	}
	write(t, dir, files)
	return dir
}

func TestCopyTree(t *testing.T) {
	t.Parallel()
	to := filepath.Join(t.TempDir(), "copy")
	releases, err := copyTree(sourceTree(t), to, "v1.2.4")
	if err != nil || len(releases) != len(published) {
		t.Fatal(releases, err)
	}
	for _, name := range []string{".git", "bench"} {
		if _, err := os.Stat(filepath.Join(to, name)); err == nil {
			t.Errorf("%s was copied", name)
		}
	}
	mod, err := os.ReadFile(filepath.Join(to, "config", "go.mod"))
	const want = "module github.com/firncache/firn/config\n\ngo 1.26.0\n\nrequire (\n\tgithub.com/firncache/firn v1.2.4\n\texample.com/other v1.2.3\n)\n"
	if err != nil || string(mod) != want {
		t.Errorf("%v, got\n%s\nwant\n%s", err, mod, want)
	}
	if _, err := os.Stat(filepath.Join(to, "cache.go")); err != nil {
		t.Error(err)
	}
}

func TestCopyTreeRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ file, text, want string }{
		"a module that no list names":   {"more/go.mod", "module more\n", "module more: tree.go lists it neither"},
		"a replace in the main module":  {"go.mod", "module github.com/firncache/firn\nreplace github.com/firncache/firn/codec => ./codec\n", "go install refuses"},
		"a replace of a foreign module": {"codec/go.mod", "module github.com/firncache/firn/codec\nreplace example.com/other => ../other\n", "replaces example.com/other"},
		"another path":                  {"codec/go.mod", "module github.com/firncache/codec\n", "want github.com/firncache/firn/codec"},
	} {
		from := sourceTree(t)
		write(t, from, map[string]string{test.file: test.text})
		if _, err := copyTree(from, t.TempDir(), "v1.2.4"); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestImports(t *testing.T) {
	t.Parallel()
	libraries, commands := imports("firn a.b/firn\nmain a.b/firn/cmd/firn\nram a.b/firn/internal/ram\nmain a.b/firn/internal/tool\n")
	if !slices.Equal(libraries, []string{"a.b/firn"}) || !slices.Equal(commands, []string{"a.b/firn/cmd/firn"}) {
		t.Error(libraries, commands)
	}
}

// Only the hashes of the source's own modules may come to go.sum.
func TestTidiness(t *testing.T) {
	t.Parallel()
	const other, ours = "example.com/other v1.2.3 h1:x=\n", "github.com/firncache/firn v1.2.4 h1:y=\n"
	if got := withoutOurs(ours + other + ours); got != other {
		t.Errorf("%q", got)
	}
	if got := differences([2]string{"a\nb\n", other}, [2]string{"a\nc\n", other + ours}); got != "- b\n+ c\n" {
		t.Errorf("%q", got)
	}
}
