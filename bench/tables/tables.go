// Package tables makes the tables of docs/BENCHMARKS.md that are no suite's: each by one command,
// go run . table NAME.
package tables

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// All are the tables by name.
var All = map[string]func(w io.Writer) error{
	"gctrace":  GCTrace,
	"readall":  ReadAll,
	"slices":   Slices,
	"thousand": Thousand,
}

// Run writes a table.
func Run(name string, w io.Writer) error {
	f, ok := All[name]
	if !ok {
		return fmt.Errorf("table %q: want %s", name, strings.Join(slices.Sorted(maps.Keys(All)), ", "))
	}
	return f(w)
}
