// Command bench measures firn beside the caches that Go programs use today.
//
//	go run . -suite users|classic|ram|large|memory|gc|hitratio|curve|hybrid|shared|bufpool|casestudies|quick|all -out DIR [-rivals a,b] [-n N] [-repeats K]
//	go run . -compare OLD/SUITE.txt -out DIR
//	go run . report -in DIR -html FILE -svg DIR -doc FILE
//	go run . pair -rival fastcache -n 10000000 -repeats 8
//	go run . replay -against fastcache,otter [TRACE...]
//	go run . table gctrace|readall|slices|thousand
//
// The first form runs suites and leaves DIR/SUITE.json, for benchstat
// DIR/SUITE.txt, and the page with charts of all suites in DIR, report.html. The
// second lets benchstat compare two runs of a suite. The third writes the page
// again, the charts of the README and docs/BENCHMARKS.md. The fourth runs the
// child process of one suite by hand (pair, classic, memory, churn or values)
// and prints its results as JSON. The fifth replays requests through
// firn and others. The sixth writes a table that is no suite's.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/firncache/firn/bench/against"
	"github.com/firncache/firn/bench/hybrid"
	"github.com/firncache/firn/bench/tables"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == against.Name {
		os.Exit(against.Main(os.Args[2:], os.Stdout, os.Stderr))
	}
	err := run(os.Args[1:], os.Stdout, os.Stderr)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout, stderr io.Writer) error {
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		return runCommand(args[0], args[1:], stdout, stderr)
	}
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(stderr)
	suite := f.String("suite", "", "`name` of the suite: "+strings.Join(suiteNames, ", ")+" quick or all")
	out := f.String("out", "results", "`directory` for the results")
	rivalList := f.String("rivals", "", "comma-separated `names` of the caches beside firn (default: all)")
	n := f.Int("n", 10_000_000, "number of entries")
	repeats := f.Int("repeats", 8, "turns of each cache in each cell")
	old := f.String("compare", "", "earlier results of one suite, a `file`, for benchstat to set beside the new ones; without -suite, beside those in -out")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("argument %q: expected only flags", f.Arg(0))
	}
	if *old != "" && *suite == "" {
		return compare(*old, *out, stdout, stderr)
	}
	o, err := newOptions(*suite, *rivalList, *out, *n, *repeats)
	if err != nil {
		return err
	}
	d := &driver{options: o, command: "go run . " + strings.Join(args, " "), progress: stdout}
	if err := d.run(); err != nil {
		return err
	}
	if err := runReport([]string{"-in", *out}, stderr); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "report: %s\n", filepath.Join(*out, htmlFile))
	if *old == "" {
		return nil
	}
	return compare(*old, *out, stdout, stderr)
}

// runCommand runs a command other than a suite: a child process, or the report.
func runCommand(name string, args []string, stdout, stderr io.Writer) error {
	if name == "report" {
		return runReport(args, stderr)
	}
	if name == "table" && len(args) == 1 {
		return tables.Run(args[0], stdout)
	}
	if err := hybrid.Join(); err != nil {
		return fmt.Errorf("limit memory: %w", err)
	}
	k, ok := kinds[name]
	if !ok {
		return fmt.Errorf("command %q: expected report, %s, %s, or -suite", name, against.Name, strings.Join(slices.Sorted(maps.Keys(kinds)), ", "))
	}
	j, err := parseJob(name, args, stderr)
	if err != nil {
		return err
	}
	out := &emitter{w: stdout}
	if err := k.run(j, out); err != nil {
		return err
	}
	return out.err
}
