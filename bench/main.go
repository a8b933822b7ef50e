// Command bench measures firn beside the caches that Go programs use today.
//
//	go run . -suite ram|classic|memory|large|all -out DIR [-rivals a,b] [-n N] [-repeats K]
//	go run . report -in DIR -doc FILE
//	go run . pair -rival fastcache -n 10000000 -repeats 8
//
// The first form runs suites and leaves DIR/SUITE.json and, for benchstat,
// DIR/SUITE.txt. The second writes the tables of docs/BENCHMARKS.md from them.
// The third runs the child process of one suite by hand (pair, classic,
// memory, churn or values) and prints its results as JSON.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
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
	suite := f.String("suite", "", "`name` of the suite: "+strings.Join(suiteNames, ", ")+" or all")
	out := f.String("out", "results", "`directory` for the results")
	rivalList := f.String("rivals", "", "comma-separated `names` of the caches beside firn (default: all)")
	n := f.Int("n", 10_000_000, "number of entries")
	repeats := f.Int("repeats", 8, "turns of each cache in each cell")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("argument %q: expected only flags", f.Arg(0))
	}
	p, err := newPlan(*suite, *rivalList, *n, *repeats)
	if err != nil {
		return err
	}
	d := &driver{plan: p, out: *out, command: "go run . " + strings.Join(args, " "), progress: stdout}
	return d.run()
}

// runCommand runs what is not a suite: a child process, or the report.
func runCommand(name string, args []string, stdout, stderr io.Writer) error {
	if name == "report" {
		return runReport(args, stderr)
	}
	kind, ok := kinds[name]
	if !ok {
		return fmt.Errorf("command %q: expected report, pair, classic, memory, churn or values, or -suite", name)
	}
	j, err := parseJob(name, args, stderr)
	if err != nil {
		return err
	}
	out := &emitter{w: stdout}
	if err := kind(j, out); err != nil {
		return err
	}
	return out.err
}
