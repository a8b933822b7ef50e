// Results reads what go test -json writes. It prints a line for each package, all that
// failed tests printed, each test that was skipped with its reason, and the ten tests that
// took longest. A skip fails unless the file that it is given lists package and reason.
//
//	go test -json ./... | go run ./.ci/results .ci/skips.txt
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

// event is one of test2json's.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

type test struct{ pkg, name string }

func (t test) compare(o test) int {
	return cmp.Or(cmp.Compare(t.pkg, o.pkg), cmp.Compare(t.name, o.name))
}

func main() {
	r := results{took: map[test]float64{}, skipped: map[test]string{}}
	err := r.read(json.NewDecoder(os.Stdin))
	if err == nil {
		err = r.printSkips(os.Args[1])
	}
	printSlowest(r.took, 10)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if r.failed || err != nil {
		os.Exit(1)
	}
}

// results are those of all tests.
type results struct {
	took    map[test]float64 // in seconds
	skipped map[test]string  // the reason
	failed  bool
}

// read prints the results of packages, and the output of what failed.
func (r *results) read(events *json.Decoder) error {
	output := map[test][]string{}
	for {
		var e event
		if err := events.Decode(&e); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("no output of go test -json: %w", err)
		}
		id := test{e.Package, e.Test}
		switch e.Action {
		case "build-output":
			fmt.Print(e.Output)
		case "output":
			output[id] = append(output[id], e.Output)
		case "fail", "pass", "skip":
			if e.Test != "" {
				r.took[id] = e.Elapsed
			}
			if e.Test != "" && e.Action == "skip" {
				r.skipped[id] = reason(output[id])
			}
			r.failed = r.failed || e.Action == "fail"
			printEnd(e, output[id])
			delete(output, id)
		}
	}
}

// printEnd prints the output of what failed, and of a package that passed its
// last line: ok, the time, or that it has no tests.
func printEnd(e event, output []string) {
	switch {
	case e.Action == "fail":
		fmt.Print(strings.Join(output, ""))
	case e.Test == "" && len(output) > 0:
		fmt.Print(output[len(output)-1])
	}
}

// logged is a line that a test has logged: the last one of a skipped test is the reason.
var logged = regexp.MustCompile(`^\s+[\w.-]+\.go:\d+: (.*)`)

func reason(output []string) (last string) {
	for _, line := range output {
		if m := logged.FindStringSubmatch(line); m != nil {
			last = m[1]
		}
	}
	return last
}

// printSkips prints the skipped tests, and fails if the file does not list one of them. Its
// lines are a package and the beginning of a reason, or begin with #.
func (r *results) printSkips(listed string) error {
	text, err := os.ReadFile(listed)
	if err != nil {
		return err
	}
	var allowed []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			allowed = append(allowed, line)
		}
	}
	fresh := 0
	for _, id := range slices.SortedFunc(maps.Keys(r.skipped), test.compare) {
		mark, pkg := "", cmp.Or(strings.TrimPrefix(strings.TrimPrefix(id.pkg, "github.com/firncache/firn"), "/"), ".")
		if line := pkg + " " + r.skipped[id]; !slices.ContainsFunc(allowed, func(a string) bool { return strings.HasPrefix(line, a) }) {
			mark, fresh = " (not allowed)", fresh+1
		}
		fmt.Printf("skipped%s: %s %s: %s\n", mark, pkg, id.name, r.skipped[id])
	}
	if fresh > 0 {
		return fmt.Errorf("%d tests were skipped for reasons that %s does not list: run them, or add package and reason", fresh, listed)
	}
	return nil
}

// printSlowest leaves out a subtest whose time its parent's contains.
func printSlowest(took map[test]float64, n int) {
	var ids []test
	for id, seconds := range took {
		at := strings.LastIndexByte(id.name, '/')
		if at < 0 || took[test{id.pkg, id.name[:at]}] < seconds {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b test) int { return cmp.Compare(took[b], took[a]) })
	fmt.Println("the slowest tests, in seconds:")
	for _, id := range ids[:min(n, len(ids))] {
		fmt.Printf("%8.2f  %s %s\n", took[id], id.pkg, id.name)
	}
}
