package house

import (
	"fmt"
	"go/ast"
	"regexp"
	"strings"
	"testing"
)

// longestTest is the most lines of a test: what a screen shows.
const longestTest = 70

// No test function is longer than longestTest lines.
func TestLongTests(t *testing.T) {
	var long []string
	for _, f := range allFiles(t) {
		for _, d := range f.ast.Decls {
			d, ok := d.(*ast.FuncDecl)
			if !ok || !f.isTest() || d.Recv != nil || !strings.HasPrefix(d.Name.Name, "Test") {
				continue
			}
			if first, last := positions.Position(d.Pos()).Line, positions.Position(d.End()).Line; last-first+1 > longestTest {
				long = append(long, f.dir()+" "+d.Name.Name)
			}
		}
	}
	b := budget{name: "long_tests", advice: func(string) string {
		return fmt.Sprintf("it has more than %d lines: split it by what it shows", longestTest)
	}}
	b.hold(t, exceptions(long))
}

// puzzle is a name or a comment that only a reader with a table at hand understands.
var puzzle = regexp.MustCompile(`func TestFault\d+|\bRow \d+`)

// No test is named after a row of a table, and no comment names one.
func TestPuzzles(t *testing.T) {
	counts := map[string]int{}
	for _, f := range allFiles(t) {
		if f.isTest() && f.dir() != "internal/house" {
			counts[f.dir()] += len(puzzle.FindAllString(f.text, -1))
		}
	}
	today := table{}
	for dir, n := range counts {
		if n > 0 {
			today[dir] = []int{n}
		}
	}
	b := budget{name: "puzzles", columns: []column{{"names like TestFault12 and comments like Row 12", false}}, advice: func(string) string {
		return "say what happens and what holds, as in TestKilledWhileIndexIsSaved"
	}}
	b.hold(t, today)
}

// The root gets no new test files.
func TestRootTests(t *testing.T) {
	var files []string
	for _, f := range allFiles(t) {
		if f.isTest() && f.dir() == "." {
			files = append(files, f.path)
		}
	}
	b := budget{name: "root_tests", advice: func(string) string {
		return "a test of package firn from outside belongs to internal/tests/SUBJECT"
	}}
	b.hold(t, exceptions(files))
}
