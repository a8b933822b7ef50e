package main

import (
	"os"
	"path/filepath"
	"testing"
)

// planted has something for each linter, and some that is excused.
const planted = `package planted

import "os"

func unusedFunction() {}

// Planted leaves teh error out.
func Planted(s []string) int {
	os.Mkdir("x", 0)
	os.Remove("x")
	n := 1
	n = 2
	n = int(len(s))
	n = int(n) //nolint:unconvert // on purpose
	if n != n {
		n++
	}
	var p *int
	if p == nil {
		n = *p
	}
	return n
}
`

// tests of planted: their errors may go unheard.
const plantedTest = `package planted

import (
	"os"
	"testing"
)

func TestPlanted(t *testing.T) { os.Mkdir("x", 0) }

func unusedInTests() {}
`

func TestEachLinterFinds(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":          "module planted\n\ngo 1.26.0\n",
		"go.work":         "go 1.26.0\n\nuse .\n",
		"planted.go":      planted,
		"planted_test.go": plantedTest,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, err := check(dir)
	if err != nil {
		t.Fatal(err)
	}
	type line struct {
		file   string
		line   int
		linter string
	}
	want := map[line]bool{
		{"planted.go", 5, "unused"}:       true,
		{"planted.go", 7, "misspell"}:     true,
		{"planted.go", 9, "errcheck"}:     true,
		{"planted.go", 11, "ineffassign"}: true,
		{"planted.go", 12, "ineffassign"}: true,
		{"planted.go", 13, "unconvert"}:   true,
		{"planted.go", 15, "staticcheck"}: true,
		{"planted.go", 19, "govet"}:       true,
		{"planted.go", 20, "govet"}:       true,
		{"planted_test.go", 10, "unused"}: true,
	}
	got := map[line]bool{}
	for _, f := range found {
		l := line{filepath.Base(f.at.Filename), f.at.Line, f.linter}
		got[l] = true
		if !want[l] {
			t.Errorf("found too much: %s", f)
		}
	}
	for l := range want {
		if !got[l] {
			t.Errorf("not found: %v", l)
		}
	}
}
