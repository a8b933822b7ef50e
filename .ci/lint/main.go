// Lint runs the analyzers of linters.go over the packages of a workspace, with their
// tests, and prints what they find. They are golangci-lint's, which takes more
// than twice the time, compiled and run. A line that ends with //nolint:LINTER is
// right as it is.
//
//	go run . -dir ../..
package main

import (
	"cmp"
	"flag"
	"fmt"
	"go/token"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
)

func main() {
	dir := flag.String("dir", ".", "`DIR` of the workspace")
	flag.Parse()
	found, err := check(*dir)
	for _, f := range found {
		fmt.Println(f)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "lint:", err)
	}
	if err != nil || len(found) > 0 {
		os.Exit(1)
	}
}

// check returns what the linters find in the packages of a workspace, in the order of
// files and lines.
func check(dir string) ([]finding, error) {
	all, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax | packages.NeedForTest, Dir: dir, Tests: true}, "work")
	if err != nil {
		return nil, err
	}
	if packages.PrintErrors(all) > 0 {
		return nil, fmt.Errorf("it does not compile")
	}
	all = largest(all)
	linterOf := map[*analysis.Analyzer]string{}
	var analyzers []*analysis.Analyzer
	for linter, its := range linters() {
		for _, a := range its {
			linterOf[a] = linter
			analyzers = append(analyzers, a)
		}
	}
	graph, err := checker.Analyze(analyzers, all, nil)
	if err != nil {
		return nil, err
	}
	ignored := ignores(all)
	var found []finding
	for _, act := range graph.Roots {
		if act.Err != nil {
			return nil, act.Err
		}
		for _, d := range act.Diagnostics {
			f := finding{act.Package.Fset.Position(d.Pos), linterOf[act.Analyzer], act.Analyzer.Name, d.Message}
			if !ignored[place{f.at.Filename, f.at.Line, f.linter}] {
				found = append(found, f)
			}
		}
	}
	slices.SortFunc(found, finding.compare)
	return slices.Compact(found), nil
}

// largest leaves out a package whose files are all in its variant with tests, and the
// main package that go test writes.
func largest(all []*packages.Package) []*packages.Package {
	tested := map[string]bool{}
	for _, p := range all {
		if p.ForTest == p.PkgPath {
			tested[p.PkgPath] = true
		}
	}
	return slices.DeleteFunc(all, func(p *packages.Package) bool {
		return p.ForTest == "" && (tested[p.PkgPath] || strings.HasSuffix(p.ID, ".test"))
	})
}

type finding struct {
	at                        token.Position
	linter, analyzer, message string
}

func (f finding) String() string {
	return fmt.Sprintf("%s: %s (%s, %s)", f.at, f.message, f.linter, f.analyzer)
}

func (f finding) compare(g finding) int {
	return cmp.Or(cmp.Compare(f.at.Filename, g.at.Filename), cmp.Compare(f.at.Offset, g.at.Offset), cmp.Compare(f.message, g.message))
}

// place is a line, and a linter to which it says nothing.
type place struct {
	file   string
	line   int
	linter string
}

// ignores are the places with a comment //nolint:LINTER at the end of their line.
func ignores(all []*packages.Package) map[place]bool {
	places := map[place]bool{}
	for _, p := range all {
		for _, file := range p.Syntax {
			for _, group := range file.Comments {
				for _, c := range group.List {
					if rest, ok := strings.CutPrefix(c.Text, "//nolint:"); ok {
						linter, _, _ := strings.Cut(rest, " ")
						at := p.Fset.Position(c.Pos())
						places[place{at.Filename, at.Line, linter}] = true
					}
				}
			}
		}
	}
	return places
}
