//go:build ignore

// Slowest reads what go test -json writes. It prints a line for each package, all
// that failed tests printed, and the ten tests that took longest.
//
//	go test -json ./... | go run .ci/slowest.go
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// event is one of test2json's.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

type test struct{ pkg, name string }

func main() {
	results, failed, err := read(json.NewDecoder(os.Stdin))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	printSlowest(results, 10)
	if failed || err != nil {
		os.Exit(1)
	}
}

// read prints the results of packages, and the output of what failed. It returns
// what the tests took, in seconds.
func read(events *json.Decoder) (took map[test]float64, failed bool, err error) {
	took = map[test]float64{}
	output := map[test][]string{}
	for {
		var e event
		if err := events.Decode(&e); errors.Is(err, io.EOF) {
			return took, failed, nil
		} else if err != nil {
			return took, failed, fmt.Errorf("no output of go test -json: %w", err)
		}
		id := test{e.Package, e.Test}
		switch e.Action {
		case "build-output":
			fmt.Print(e.Output)
		case "output":
			output[id] = append(output[id], e.Output)
		case "fail", "pass", "skip":
			if e.Test != "" {
				took[id] = e.Elapsed
			}
			failed = failed || e.Action == "fail"
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
