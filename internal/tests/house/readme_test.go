package house

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The program of the README runs as it stands there, and README stays short.
func TestReadme(t *testing.T) {
	t.Parallel()
	const most = 9_000
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if len(readme) > most {
		t.Errorf("README.md has %d bytes: want at most %d", len(readme), most)
	}
	_, program, _ := strings.Cut(string(readme), "```go\npackage main\n")
	program, _, ok := strings.Cut(program, "```")
	if !ok {
		t.Fatal("README.md has no program")
	}
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte("package main\n"+program), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "run", file).CombinedOutput() // in this directory, and so with this tree
	if want := "hello true\n{Ann 41} <nil>\n"; err != nil || string(out) != want {
		t.Errorf("%v; it printed\n%s, want\n%s", err, out, want)
	}
}
